"""Neural simulators: networks, heads, clocks, the four calls, and the file they are kept in."""
