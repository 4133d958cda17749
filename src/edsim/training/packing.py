"""Which visit stands where: rows of one length, each filled with several visits and little padding.

Best fit, longest first, done for all visits of one length at a time: as many as there are rows with
just enough room are put there at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Packed:
    """The place of each visit's first event."""

    rows: Ints
    columns: Ints
    n_rows: int


def pack(lengths: Ints, room: int, order: Ints) -> Packed:
    """Put visits into rows of `room` events; those of one length are taken in the order given."""
    ranked = order[np.argsort(-lengths[order], kind="stable")]
    rows, columns = np.zeros_like(lengths), np.zeros_like(lengths)
    with_room: list[list[int]] = [[] for _ in range(room + 1)]
    values, begins = np.unique(-lengths[ranked], return_index=True)
    ends = np.append(begins, len(ranked))[1:].tolist()
    n_rows = 0
    for length, begin, end in zip((-values).tolist(), begins.tolist(), ends, strict=True):
        while begin < end:
            left = next((left for left in range(length, room + 1) if with_room[left]), None)
            if left is None:
                many = -(-(end - begin) // (room // length))
                with_room[room].extend(range(n_rows, n_rows + many))
                n_rows += many
                continue
            some = with_room[left][: end - begin]
            del with_room[left][: end - begin]
            visits = ranked[begin : begin + len(some)]
            rows[visits], columns[visits] = some, room - left
            with_room[left - length].extend(some)
            begin += len(some)
    return Packed(rows, columns, n_rows)
