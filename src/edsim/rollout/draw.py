"""From probabilities and one uniform number a row to the event: the inverse CDF, in float64."""

from __future__ import annotations

import torch
from torch import Tensor


def draw(probabilities: Tensor, u_event: Tensor) -> Tensor:
    """The first event at which the running sum passes `u_event` of the whole, [rows] int64.

    Never one of probability 0, at which the running sum would not have moved. `u_event` is at
    most 1 - 2**-53, and that part of the sum always rounds to below the sum: there is always one.
    """
    sums = probabilities.cumsum(dim=1)
    passed = u_event[:, None] * sums[:, -1:]
    return torch.searchsorted(sums, passed, right=True)[:, 0]
