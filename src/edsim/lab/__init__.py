"""Where artifacts live: the lab builds them, finds them again and knows whether they are whole."""
