"""What has been generated so far, kept as it comes and put in order once at the end."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from edsim.tables.visits import Suffixes


class RolloutLog:
    """Events of many rows, written step by step in any order of rows."""

    def __init__(self, n_rows: int) -> None:
        self._lengths = np.zeros(n_rows, dtype=np.int32)
        self._blocks: list[
            tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int16], NDArray[np.float32]]
        ] = []

    def append(self, rows: Tensor, tokens: Tensor, minutes: Tensor) -> None:
        """One more event of each of `rows`, which are all different."""
        where = rows.cpu().numpy()
        places = self._lengths[where]
        self._lengths[where] = places + 1
        self._blocks.append(
            (
                where,
                places,
                tokens.to(torch.int16).cpu().numpy(),
                minutes.to(torch.float32).cpu().numpy(),
            )
        )

    def suffixes(self) -> Suffixes:
        """The rows in order, each with its events in order."""
        offsets = np.concatenate([[0], np.cumsum(self._lengths, dtype=np.int64)])
        tokens = np.empty(offsets[-1], dtype=np.int16)
        minutes = np.empty(offsets[-1], dtype=np.float32)
        for rows, places, some_tokens, some_minutes in self._blocks:
            where = offsets[rows] + places
            tokens[where] = some_tokens
            minutes[where] = some_minutes
        return Suffixes(tokens, minutes, offsets)
