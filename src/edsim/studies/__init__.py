"""Studies: many runs asked for at once, and the tables made of their scores."""
