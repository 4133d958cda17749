"""Numbers from rollouts: plain functions of a table; no torch, no files, no knowledge of models."""
