"""The page people look at. It lays out what score sheets say and computes nothing beyond that."""
