"""One thing that is wrong with a rollouts table, in a sentence without an identifier."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from edsim.tables.rollouts_rows import Rows
from edsim.tables.visits import Offsets

Found = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong with a table."""

    name: str
    sentence: str


def of_rows(rows: Rows, name: str, found: Found, what: str, advice: str) -> list[Fault]:
    """The fault of the rows that are `found`, if any are."""
    if not found.any():
        return []
    n = f"{np.count_nonzero(found):,} of {len(found):,} {rows.noun}"
    return [Fault(name, f"{n} {what}, first {rows.first(found)}. {advice}")]


def of_events(
    rows: Rows, offsets: Offsets, name: str, found: Found, what: str, advice: str
) -> list[Fault]:
    """The fault of the events that are `found`, if any are."""
    if not found.any():
        return []
    at = np.zeros(len(rows), dtype=bool)
    at[row_of(offsets, np.flatnonzero(found))] = True
    n = f"{np.count_nonzero(found):,} of {len(found):,}"
    return [Fault(name, f"{n} {what}, first in {rows.first(at)}. {advice}")]


def row_of(offsets: Offsets, events: NDArray[np.int64]) -> NDArray[np.int64]:
    """The rows in which events lie, given by their places among all."""
    return np.searchsorted(offsets, events, side="right") - 1
