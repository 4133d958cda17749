"""Spearman's rank correlation of a few pairs, such as one pair a model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from edsim.metrics.timing import centred_ranks

FEWEST = 3


def spearman(a: Sequence[float], b: Sequence[float]) -> float | None:
    """Correlation of the ranks, mean ranks where values are equal; None under three pairs, and
    where all values of a side are equal.

    >>> spearman([1, 2, 3, 4], [10, 20, 40, 30])
    0.8
    """
    if len(a) != len(b):
        raise ValueError(f"{len(a)} values beside {len(b)}")
    if len(a) < FEWEST:
        return None
    x, y = (centred_ranks(np.asarray(side, dtype=np.float64)) for side in (a, b))
    size = float(np.sqrt((x @ x) * (y @ y)))
    return None if size == 0 else round(float(x @ y) / size, 12)
