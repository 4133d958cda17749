"""Rollouts with a row for each event, as text and MEDS have them, put together to one a draw."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from edsim.errors import BadTableError
from edsim.tables.rollouts import RolloutsHeader
from edsim.tables.rollouts_rows import Ids, Rows
from edsim.tables.visits import END, Minutes, Tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Long:
    """Generated events in the order of a file; `stay` has places in `ids`, which are sorted."""

    ids: Ids
    stay: NDArray[np.int32]
    prefix_length: NDArray[np.int32]
    draw: NDArray[np.int32]
    position: NDArray[np.int32]
    tokens: Tokens
    minutes: Minutes

    def at(self, order: NDArray[np.int64]) -> Long:
        """The same events in another order."""
        columns = [field.name for field in fields(self) if field.name != "ids"]
        return replace(self, **{name: getattr(self, name)[order] for name in columns})


def together(long: Long, header: RolloutsHeader, name: str) -> Rows:
    """One row a launch and draw. The events may stand in any order if their positions are right."""
    begins = _begins(long)
    order = None
    if not _counts_up(long.position, begins):
        order = np.lexsort((long.position, long.draw, long.prefix_length, long.stay))
        long = long.at(order)
        begins = _begins(long)
        _check_positions(long.position, begins, order, name)
    first = np.flatnonzero(begins)
    offsets = np.append(first, len(begins)).astype(np.int64)
    return Rows(
        header=header,
        ids=long.ids,
        stay=long.stay[first],
        prefix_length=long.prefix_length[first],
        draw=long.draw[first],
        tokens=long.tokens,
        offsets=offsets,
        minutes=long.minutes,
        minutes_offsets=offsets,
        ended=long.tokens[offsets[1:] - 1] == END,
        name=name,
        data_rows=first if order is None else order[first],
    )


def counted(name: str, bad: NDArray[np.bool_], what: str) -> str:
    """How many rows of how many, and the first of them: `what` says so at its `{first}`."""
    first = f"first data row {int(bad.argmax()) + 1:,}"
    return f"{np.count_nonzero(bad):,} of {len(bad):,} rows of {name} {what.format(first=first)}"


def _begins(long: Long) -> NDArray[np.bool_]:
    """Where an event belongs to another launch or draw than the event before it."""
    begins = np.zeros(len(long.stay), dtype=bool)
    begins[:1] = True
    for column in (long.stay, long.prefix_length, long.draw):
        begins[1:] |= column[1:] != column[:-1]
    return begins


def _counts_up(position: NDArray[np.int32], begins: NDArray[np.bool_]) -> bool:
    after = position[1:] == position[:-1] + 1
    return bool((position[begins] == 1).all() and (after | begins[1:]).all())


def _check_positions(
    position: NDArray[np.int32],
    begins: NDArray[np.bool_],
    order: NDArray[np.int64],
    name: str,
) -> None:
    """Raise unless the positions of each launch and draw, sorted, are 1, 2, ... ."""
    again = np.zeros(len(position), dtype=bool)
    again[1:] = ~begins[1:] & (position[1:] == position[:-1])
    off = np.zeros(len(position), dtype=bool)
    off[1:] = ~begins[1:] & (position[1:] > position[:-1] + 1)
    off |= begins & (position != 1)
    for bad, what in (
        (again, "repeat a position of their launch and draw"),
        (off, "leave a gap in the positions of their launch and draw"),
    ):
        if bad.any():
            in_file = np.zeros(len(bad), dtype=bool)
            in_file[order[bad]] = True
            advice = "Count 1, 2, 3, ... from the launch on (the prefix is not counted)."
            raise BadTableError(counted(name, in_file, f"{what}, {{first}}. {advice}"))
