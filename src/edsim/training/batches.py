"""Which events each step of an epoch is trained on: decided by the seed, the epoch and the stays.

A Transformer reads packed rows, as many a step as hold `batch_size` stays on average, so that every
step has one shape. A recurrent network reads exactly `batch_size` stays a step, moment by moment
and without padding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from edsim import seeds
from edsim.models.neural.sheets import NOBODY, Sheet
from edsim.training.examples import Examples, StayList
from edsim.training.packing import pack
from edsim.training.recipes import Recipe, Supervision

ROOM_STEP = 32
"""A packed row holds the longest stay, and its length is a multiple of this."""
MOST = 1024
"""Events of a stay that are read at most."""
VALIDATION = 0
"""The epoch, of those counted from 1, whose chance validation has."""

Ints = NDArray[np.int64]
_ORDER, _PREFIX, _ROWS = 0, 1, 2


@dataclass(frozen=True, slots=True)
class Chosen:
    """The events of one step, by their numbers in the examples."""

    index: Tensor
    """int64 [rows, length], or [1, events] for a recurrent network."""
    in_time: Tensor | None = None
    """int64 [events]: for a recurrent network, the order of moments: all firsts, all seconds..."""
    n_at: Tensor | None = None
    """int64 [moments], on the host: how many stays have an event there."""

    def to(self, device: torch.device) -> Chosen:
        """The same numbers on a device."""
        in_time = None if self.in_time is None else self.in_time.to(device)
        return Chosen(self.index.to(device), in_time, self.n_at)


@dataclass(frozen=True, slots=True)
class Epoch:
    """All steps of an epoch."""

    steps: Sequence[Chosen]
    lengths: Ints
    """Events that are read of each stay."""
    n_places: int
    """Of all steps, padding included."""
    table: Tensor | None = None
    """[steps, rows, length]: the packed rows of all steps."""

    @property
    def padding(self) -> float:
        """Share of places that hold no event."""
        return 1 - int(self.lengths.sum()) / self.n_places

    @property
    def n_events(self) -> int:
        return int(self.lengths.sum())

    def on(self, device: torch.device) -> Sequence[Chosen]:
        """The steps on a device. Packed rows go there all at once: to send each step's own would
        wait for the step before."""
        if device.type == "cpu":
            return self.steps
        if self.table is not None:
            return [Chosen(one) for one in self.table.to(device)]
        return [one.to(device) for one in self.steps]


class Batches:
    """Plans epochs over one part of the cohort."""

    def __init__(self, stays: StayList, recipe: Recipe, nobody: int) -> None:
        self._stays, self._nobody = stays, nobody
        self.supervision = recipe.supervision
        self._batch_size = min(recipe.batch_size, len(stays))
        self._recurrent = recipe.design.network in ("gru", "lstm")
        longest = int(stays.lengths.max(initial=1))
        self.room = -(-longest // ROOM_STEP) * ROOM_STEP
        self.n_rows = 0  # a step; decided by the first epoch, so that all have one shape
        self.n_rows = 0 if self._recurrent else self._rows_a_step()

    def epoch(self, number: int) -> Epoch:
        """The steps of an epoch, the first being 1; VALIDATION is the one that validates."""
        lengths = self._lengths(number)
        order = np.argsort(self._chance(number, _ORDER), kind="stable")
        if self._recurrent:
            return self._moments(order, lengths)
        index = self._rows(order, lengths, number)
        n_steps = -(-len(index) // self.n_rows)
        short = n_steps * self.n_rows - len(index)
        index = np.pad(index, ((0, short), (0, 0)), constant_values=self._nobody)
        table = torch.from_numpy(index.reshape(n_steps, self.n_rows, self.room))
        return Epoch([Chosen(one) for one in table], lengths, index.size, table)

    def _chance(self, epoch: int, purpose: int) -> seeds.U64Array:
        return seeds.step_keys(self._stays.keys, epoch, purpose)

    def _lengths(self, epoch: int) -> Ints:
        """How much of each stay is read: all, or a prefix drawn afresh each epoch."""
        if self.supervision == "every_position":
            return self._stays.lengths
        drawn = seeds.uniform(self._chance(epoch, _PREFIX))
        return np.asarray(1 + (drawn * self._stays.lengths).astype(np.int64))

    def _rows_a_step(self) -> int:
        lengths = self._lengths(1)
        n_rows = pack(lengths, self.room, np.arange(len(lengths))).n_rows
        n_steps = max(1, round(len(lengths) / self._batch_size))
        return -(-n_rows // n_steps)

    def _rows(self, order: Ints, lengths: Ints, epoch: int) -> Ints:
        """Packed rows in an order of their own, [rows, room]."""
        packed = pack(lengths, self.room, order)
        names = np.arange(packed.n_rows, dtype=np.uint64)
        base = self._chance(epoch, _ROWS)[:1]
        shuffled = np.argsort(seeds.combine(base, names), kind="stable")
        row_of = np.empty(packed.n_rows, dtype=np.int64)
        row_of[shuffled] = np.arange(packed.n_rows)
        index = np.full(packed.n_rows * self.room, self._nobody, dtype=np.int64)
        first = row_of[packed.rows] * self.room + packed.columns
        place = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        index[np.repeat(first, lengths) + place] = np.repeat(self._stays.begins, lengths) + place
        return index.reshape(packed.n_rows, self.room)

    def _moments(self, order: Ints, lengths: Ints) -> Epoch:
        n_steps = max(1, round(len(order) / self._batch_size))
        steps = [self._in_time(stays, lengths) for stays in np.array_split(order, n_steps)]
        return Epoch(steps, lengths, int(lengths.sum()))

    def _in_time(self, stays: Ints, lengths: Ints) -> Chosen:
        """Stays side by side, the longest first."""
        stays = stays[np.argsort(-lengths[stays], kind="stable")]
        many = lengths[stays]
        place = np.arange(many.sum()) - np.repeat(np.cumsum(many) - many, many)
        return Chosen(
            torch.from_numpy(np.repeat(self._stays.begins[stays], many) + place)[None],
            torch.from_numpy(np.argsort(place, kind="stable")),
            torch.from_numpy(np.bincount(place)),
        )


def sheet_at(examples: Examples, index: Tensor) -> Sheet:
    """The events of these numbers laid out, gathered where the examples are."""
    place = examples.place[index]
    nobody = len(examples.place) - 1
    firsts = torch.arange(index.numel(), device=index.device).view_as(index) - place
    return Sheet(
        tokens=examples.tokens[index],
        gaps=examples.gaps[index],
        elapsed=examples.elapsed[index],
        place=place,
        visit=torch.where(index == nobody, NOBODY, firsts).int(),
    )


def supervised(sheet: Sheet, supervision: Supervision) -> Tensor:
    """Whether there is a loss at each place, bool [rows, length]."""
    real = sheet.visit != NOBODY
    if supervision == "every_position":
        return real
    following = torch.nn.functional.pad(sheet.visit[:, 1:], (0, 1), value=NOBODY)
    return real & (following != sheet.visit)
