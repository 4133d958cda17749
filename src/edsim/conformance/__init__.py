"""Certifies what can be evaluated: simulators, processes and rollouts tables, by named checks."""
