"""Finished rollouts as they come, many at a time and in any order, put in order once at the end."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from edsim.tables.visits import Suffixes


class Pieces:
    """Stays on the device of what is added until all of it is there."""

    def __init__(self, n_rows: int) -> None:
        self._n_rows = n_rows
        self._added: list[tuple[Tensor, Tensor, Tensor, Tensor]] = []

    def add(self, rows: Tensor, lengths: Tensor, tokens: Tensor, minutes: Tensor) -> None:
        """Whole rows: their numbers, and their first `lengths` of [rows, at least that many]."""
        most = int(lengths.max())
        there = torch.arange(most, device=lengths.device) < lengths[:, None]
        self._added.append((rows, lengths, tokens[:, :most][there], minutes[:, :most][there]))

    def suffixes(self) -> Suffixes:
        """All rows in the order of their numbers; every number has been added once."""
        if not self._added:
            return Suffixes(
                np.zeros(0, np.int16), np.zeros(0, np.float32), np.zeros(1, dtype=np.int64)
            )
        rows, lengths, tokens, minutes = (
            torch.cat(parts).cpu().numpy() for parts in zip(*self._added, strict=True)
        )
        assert len(rows) == self._n_rows, "every row ends once"
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        return Suffixes(tokens, minutes, offsets).take(np.argsort(rows))
