"""Launches waiting for a seat, in an order that keeps seats alike: short prefixes first.

Stays are read in groups, each once; rows are numbered launch by launch, and draw by draw within a
launch, whatever the order in which they are handed out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from edsim import seeds
from edsim.models.protocol import Seated
from edsim.tables.visits import Launches, Prefixes, Visits, launch_keys, stay_keys

GROUP_EVENTS = {"cpu": 2**16, "cuda": 2**22}
"""Events of the stays that are read together."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """Rows that are handed out together."""

    rows: NDArray[np.int64]
    keys: seeds.U64Array
    stays: NDArray[np.int64]
    """Of the reading."""
    lengths: NDArray[np.int64]


class Queue:
    """Hands out the rows of launches x draws, reading the stays of the next group when it must."""

    def __init__(
        self,
        model: Seated,
        visits: Visits,
        launches: Launches,
        *,
        seed: int,
        draws: int,
        device_type: str,
    ) -> None:
        self._model, self._visits, self._launches, self._draws = model, visits, launches, draws
        stays, self._lengths = visits.checked(launches)
        self._stays, self._stay = np.unique(stays, return_inverse=True)
        ids = None if visits.stay_ids is None else visits.stay_ids[self._stays]
        self._keys = stay_keys(ids, seed)
        self._longest = np.zeros(len(self._stays), dtype=np.int64)
        np.maximum.at(self._longest, self._stay, self._lengths)
        self.n_rows = len(launches) * draws
        self.reading: object = None
        self._groups = self._in_groups(GROUP_EVENTS.get(device_type, 2**22))
        self._first_stay = 0
        self._rows = np.zeros(0, dtype=np.int64)
        self._next = 0
        self.n_waiting = self.n_rows

    def _in_groups(self, most: int) -> list[NDArray[np.int64]]:
        """Launches by groups of stays, the last group first; in a group short prefixes first."""
        group_of_stay = np.cumsum(self._longest) // most
        group = group_of_stay[self._stay]
        order = np.lexsort((self._stay, self._lengths, group))
        bounds = np.flatnonzero(np.diff(group[order])) + 1
        return np.split(order, bounds)[::-1] if len(order) else []

    def take(self, room: int) -> Waiting:
        """The next rows, at least one and at most `room`; there must be some."""
        if self._next == len(self._rows):
            self._read_group(self._groups.pop())
        rows = self._rows[self._next : self._next + room]
        self._next += len(rows)
        self.n_waiting -= len(rows)
        launch, draw = rows // self._draws, rows % self._draws
        stay, lengths = self._stay[launch], self._lengths[launch]
        return Waiting(
            rows, launch_keys(self._keys[stay], lengths, draw), stay - self._first_stay, lengths
        )

    def prefixes(self, some: Waiting) -> Prefixes:
        """What was seen before some rows."""
        return self._visits.prefixes(self._launches[some.rows // self._draws])

    def _read_group(self, launches: NDArray[np.int64]) -> None:
        first, last = int(self._stay[launches].min()), int(self._stay[launches].max())
        some = np.arange(first, last + 1)
        longest = np.stack([self._stays[some], self._longest[some]], axis=1).astype(np.int32)
        self.reading = None  # the old one makes room before the new one is made
        self.reading = self._model.read(self._visits.prefixes(longest))
        self._first_stay = first
        self._rows = (launches[:, None] * self._draws + np.arange(self._draws)).ravel()
        self._next = 0
