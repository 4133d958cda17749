"""Launches waiting for a slot: started in groups, once for all their draws, handed out row by row.

Rows are numbered launch by launch, and draw by draw within a launch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
import torch
from torch import Tensor

from edsim.rollout.chance import torch_keys
from edsim.rollout.checked import Checked
from edsim.rollout.history import History
from edsim.rollout.states import gathered, is_tree, joined, same
from edsim.tables.visits import Launches, Visits, launch_keys, stay_keys

State = TypeVar("State")


@dataclass(frozen=True, slots=True)
class Running(Generic[State]):
    """Rows that are being continued, each at its own step."""

    rows: Tensor
    """[rows] int32: their numbers."""
    keys: Tensor
    """[rows] int64: their launch keys."""
    steps: Tensor
    """[rows] int64: events generated so far."""
    history: History | None
    """None where the rule looks at none."""
    state: State

    def __len__(self) -> int:
        return len(self.rows)

    def join(self, other: Running[State]) -> Running[State] | None:
        """Both, or None where the model's states cannot be joined."""
        return joined(self, other)


class Supply(Generic[State]):
    """Hands out the rows of launches x draws in order, as many at a time as there is room for."""

    def __init__(
        self,
        model: Checked[State],
        visits: Visits,
        launches: Launches,
        *,
        seed: int,
        draws: int,
        slots: int,
        with_history: bool,
    ) -> None:
        self._model, self._visits, self._launches = model, visits, launches
        self._draws, self._slots, self._with_history = draws, slots, with_history
        stays, lengths = visits.checked(launches)
        some = np.unique(stays)
        ids = None if visits.stay_ids is None else visits.stay_ids[some]
        self._stay_keys = stay_keys(ids, seed)[np.searchsorted(some, stays)]
        self._lengths = lengths
        self._next = 0  # the first row not yet handed out
        self._begin, self._end = 0, 0  # the launches that are started
        self._history: History | None = None
        self._state: State | None = None
        self.joins = True
        """Whether rows may join others that run already: False once the states prove opaque."""

    @property
    def n_rows(self) -> int:
        """Rows in all."""
        return len(self._launches) * self._draws

    @property
    def waiting(self) -> int:
        """Rows not yet handed out."""
        return self.n_rows - self._next

    def take(self, room: int) -> Running[State]:
        """The next rows, at least one and at most `room`; there must be some."""
        if self._next >= self._end * self._draws:
            if not self.joins:
                return self._started(np.arange(self._next, self._next + min(room, self.waiting)))
            self._start_group()
            if not self.joins:
                return self.take(room)
        rows = np.arange(self._next, min(self._next + room, self._end * self._draws))
        where = torch.from_numpy(rows // self._draws - self._begin).to(self._model.device)
        state = gathered(self._state, where)
        assert state is not None, "only trees are started as a group"
        history = None if self._history is None else self._history.keep(where)
        return self._handed_out(rows, history, state)

    def _start_group(self) -> None:
        """Start the next launches, an eighth of the slots at a time."""
        self._begin = self._next // self._draws
        self._end = min(self._begin + max(1, self._slots // 8), len(self._launches))
        prefixes = self._visits.prefixes(self._launches[self._begin : self._end])
        self._state = self._model.start(prefixes)
        if self._with_history:
            self._history = History.of(prefixes, self._model.n_tokens, self._model.device)
        if not self._begin and not self._is_tree(self._state, len(prefixes)):
            self._state, self._history, self._end = None, None, 0
            self.joins = False

    def _is_tree(self, state: State, n_rows: int) -> bool:
        """Whether taking rows of the state is what the model itself would do."""
        rows = torch.arange(min(n_rows, 3), device=self._model.device).flip(0)
        return is_tree(state, n_rows) and same(gathered(state, rows), self._model.keep(state, rows))

    def _started(self, rows: np.ndarray) -> Running[State]:
        """Rows of an opaque state: a start of their own, with a launch once for each draw."""
        prefixes = self._visits.prefixes(self._launches[rows // self._draws])
        history = None
        if self._with_history:
            history = History.of(prefixes, self._model.n_tokens, self._model.device)
        return self._handed_out(rows, history, self._model.start(prefixes))

    def _handed_out(
        self, rows: np.ndarray, history: History | None, state: State
    ) -> Running[State]:
        self._next = int(rows[-1]) + 1
        launch, draw = rows // self._draws, rows % self._draws
        keys = launch_keys(self._stay_keys[launch], self._lengths[launch], draw)
        device = self._model.device
        return Running(
            torch.from_numpy(rows.astype(np.int32)).to(device),
            torch_keys(keys, device),
            torch.zeros(len(rows), dtype=torch.int64, device=device),
            history,
            state,
        )
