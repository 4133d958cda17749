"""Loops over the events of rows, compiled. Import this module only inside a function."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from edsim.compiled import compiled


@compiled
def tokens_by_step(
    tokens: NDArray[np.int16], offsets: NDArray[np.int64], place: NDArray[np.int64], n_tokens: int
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Events whose step has a place, as place times tokens plus token; and the offsets of rows."""
    found = np.empty(len(tokens), dtype=np.int32)
    begins = np.zeros(len(offsets), dtype=np.int64)
    n = 0
    for row in range(len(offsets) - 1):
        for step in range(1, min(offsets[row + 1] - offsets[row], len(place) - 1) + 1):
            if place[step] >= 0:
                found[n] = place[step] * n_tokens + tokens[offsets[row] + step - 1]
                n += 1
        begins[row + 1] = n
    return found[:n].copy(), begins


@compiled
def repetition_of_rows(
    tokens: NDArray[np.int16], offsets: NDArray[np.int64], n_tokens: int, end: int, long_run: int
) -> NDArray[np.float32]:
    """[rows, 6]: one, longest run, whether it is long, share of different events, whether there are
    as many events as a long run has, and whether the last of them are so many of one kind.

    `end` is no part of a run; it is one of the different events.
    """
    lines = np.zeros((len(offsets) - 1, 6), dtype=np.float32)
    seen_in = np.full(n_tokens, -1, dtype=np.int64)
    for row in range(len(offsets) - 1):
        longest, run, n_kept, n_distinct, before = 0, 0, 0, 0, -1
        for at in range(offsets[row], offsets[row + 1]):
            token = tokens[at]
            if seen_in[token] != row:
                seen_in[token] = row
                n_distinct += 1
            if token == end:
                continue
            n_kept += 1
            run = run + 1 if token == before else 1
            before = token
            longest = max(longest, run)
        lines[row, 0] = 1
        lines[row, 1] = longest
        lines[row, 2] = longest >= long_run
        lines[row, 3] = n_distinct / max(offsets[row + 1] - offsets[row], 1)
        lines[row, 4] = n_kept >= long_run
        lines[row, 5] = run >= long_run
    return lines
