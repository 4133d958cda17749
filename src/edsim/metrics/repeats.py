"""Stretches in which a rollout goes round in a circle of at most three events."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from edsim.tables.visits import END, Suffixes

LONGEST_CIRCLE = 3


@dataclass(frozen=True, slots=True)
class Stretches:
    """One stretch of every row: its length, 0 where there is none, and its place from 0."""

    length: NDArray[np.int64]
    begin: NDArray[np.int64]


def longest_stretches(events: Suffixes) -> Stretches:
    """The longest stretch of each row in which every event equals that 1, 2 or 3 before it.

    The circle that is repeated counts as its beginning. END repeats nothing.
    """
    return _best(events, last_only=False)


def last_stretches(events: Suffixes) -> Stretches:
    """The longest such stretch that lasts to the very end of its row."""
    return _best(events, last_only=True)


def _best(events: Suffixes, *, last_only: bool) -> Stretches:
    n = len(events)
    length, begin = np.zeros(n, np.int64), np.zeros(n, np.int64)
    for circle in range(1, LONGEST_CIRCLE + 1):
        row, first, end = _stretches(events, circle)
        if last_only:
            whole = end == events.offsets[1:][row]
            row, first, end = row[whole], first[whole], end[whole]
        order = np.argsort(end - first, kind="stable")
        row, first, end = row[order], first[order], end[order]
        found, where = np.zeros(n, np.int64), np.zeros(n, np.int64)
        found[row], where[row] = end - first, first - events.offsets[row]  # the longest stays
        better = found > length
        length[better], begin[better] = found[better], where[better]
    return Stretches(length, begin)


def _stretches(
    events: Suffixes, circle: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Row, first event and the place after the last of every stretch of one circle."""
    tokens = events.tokens
    row = np.repeat(np.arange(len(events)), events.lengths())
    repeats = np.zeros(len(tokens), dtype=np.int8)
    same = (tokens[circle:] == tokens[:-circle]) & (row[circle:] == row[:-circle])
    repeats[circle:] = same & (tokens[circle:] != END)
    # a row's first `circle` events repeat nothing, so that no stretch reaches over its end
    edges = np.diff(np.concatenate([[0], repeats, [0]]).astype(np.int8))
    first, end = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
    return row[first], first - circle, end
