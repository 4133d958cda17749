"""One uniform number a row, used up in parts: a class is drawn, and the rest of it is left over."""

from __future__ import annotations

import torch
from torch import Tensor

BELOW_ONE = 1 - 2.0**-53


def draw_class(logits: Tensor, uniform: Tensor) -> tuple[Tensor, Tensor]:
    """A class of each row by the inverse CDF, int64, and what is left: float64 in [0, 1).

    Given the class, what is left is uniform again and may decide a place within the class.
    """
    shares = logits.softmax(dim=1, dtype=torch.float64).cumsum(dim=1)
    target = uniform[:, None] * shares[:, -1:]
    kind = torch.searchsorted(shares, target, right=True).clamp(max=shares.shape[1] - 1)
    upto = shares.gather(1, kind)[:, 0]
    below = shares.gather(1, (kind - 1).clamp(min=0))[:, 0]
    below = torch.where(kind[:, 0] > 0, below, 0.0)
    left = (target[:, 0] - below) / (upto - below)
    return kind[:, 0], left.clamp(0, BELOW_ONE)


def place_in(width: Tensor | int, left: Tensor) -> tuple[Tensor, Tensor]:
    """One of `width` equally likely places, from 0, and what is left again."""
    many = left * width
    place = many.long()
    return place, (many - place).clamp(0, BELOW_ONE)
