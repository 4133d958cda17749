"""Visits drawn at random with some structure: an arrival, things that lead to others, an end."""

from __future__ import annotations

import numpy as np

from edsim.tables.visits import Visits


def random_visits(
    n_stays: int, n_tokens: int, seed: int = 0, *, unit: float = 60.0, longest: int = 14
) -> Visits:
    """Stays of 1 to `longest` events; the first event is token 1 or 2, and comes nowhere else."""
    chance = np.random.default_rng(seed)
    leads_to = chance.dirichlet(np.full(n_tokens - 3, 0.3), size=n_tokens)
    tokens: list[int] = []
    minutes: list[float] = []
    offsets = [0]
    for _ in range(n_stays):
        stay = [int(chance.integers(1, 3))]
        for _ in range(int(chance.integers(0, longest))):
            stay.append(3 + int(chance.choice(n_tokens - 3, p=leads_to[stay[-1]])))
        gaps = chance.integers(0, 4, len(stay)) * chance.integers(0, 5000, len(stay)) / unit
        gaps[0] = 0
        tokens += [*stay, 0]
        minutes += [*gaps, 0.0]
        offsets.append(len(tokens))
    return Visits(
        np.array(tokens, dtype=np.int16),
        np.array(minutes, dtype=np.float32),
        np.array(offsets, dtype=np.int64),
        np.zeros(n_stays),
        np.array([f"stay-{i}".encode() for i in range(n_stays)]),
        np.zeros(n_stays, dtype=np.int8),
    )


def all_launches(visits: Visits) -> np.ndarray:
    """A launch after every event of every stay."""
    n = visits.n_events()
    rows = np.repeat(np.arange(len(visits)), n)
    lengths = np.arange(n.sum()) - np.repeat(np.cumsum(n) - n, n) + 1
    return np.stack([rows, lengths], axis=1).astype(np.int32)
