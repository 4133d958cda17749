"""How long a rollout may get, where the source does not say."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def cap_by_rule(n_events: NDArray[np.int64]) -> int:
    """The 99.9th percentile of length (END counted), rounded up to a power of two.

    `n_events` are the lengths of the training stays, END not counted.

    >>> cap_by_rule(np.full(1000, 127))
    128
    >>> cap_by_rule(np.full(1000, 128))
    256
    """
    length = float(np.quantile(n_events + 1, 0.999))
    return 1 << max(0, int(np.ceil(np.log2(length))))
