"""A simulator between the loop and the producer that writes down what passes.

What the table holds can then be compared with what was proposed, drawn and answered. The state
the loop carries says which row it is of and how many events it has read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from edsim.models.protocol import Simulator
from edsim.tables.visits import END, Prefixes

State = TypeVar("State")
WatchedState = tuple[State, Tensor, Tensor]
"""The state itself, the row each entry is of, the events each entry has read."""


class Watched(Generic[State]):
    """Answers what `model` answers and remembers it."""

    def __init__(self, model: Simulator[State]) -> None:
        self._model = model
        self.device = torch.device(getattr(model, "device", "cpu"))
        self.started: list[Prefixes] = []
        self.n_proposed = self.n_bad_proposals = 0
        self.gaps: list[NDArray[np.float64]] = []
        self._n_rows = 0
        self._proposed: _Proposed | None = None
        self._commits: list[tuple[NDArray[Any], ...]] = []

    def start(self, prefixes: Prefixes) -> WatchedState[State]:
        state = self._model.start(prefixes)
        self.started.append(prefixes)
        rows = torch.arange(self._n_rows, self._n_rows + len(prefixes), device=self.device)
        self._n_rows += len(prefixes)
        return state, rows, torch.zeros_like(rows)

    def propose(self, state: WatchedState[State], u_time: Tensor) -> Tensor:
        proposed = self._model.propose(state[0], u_time)
        if isinstance(proposed, Tensor) and proposed.ndim == 2 and proposed.is_floating_point():
            probabilities = proposed.detach().softmax(dim=1, dtype=torch.float64).cpu().numpy()
            self.n_proposed += len(probabilities)
            self.n_bad_proposals += int(np.isnan(probabilities[:, 0]).sum())
            self._proposed = state[1].cpu().numpy(), probabilities, _chance(u_time, len(proposed))
        return proposed

    def commit(
        self, state: WatchedState[State], tokens: Tensor, u_time: Tensor
    ) -> tuple[WatchedState[State], Tensor]:
        inner, rows, events = state
        after, minutes = self._model.commit(inner, tokens, u_time)
        if isinstance(minutes, Tensor):
            minutes_answered = minutes.detach()
            self.gaps.append(minutes_answered.to(torch.float64).cpu().numpy())
            of_row = rows.cpu().numpy()
            if len(of_row) == len(tokens) == len(self.gaps[-1]):
                self._commits.append(
                    (
                        of_row,
                        events.cpu().numpy(),
                        tokens.to(torch.int64).cpu().numpy(),
                        minutes_answered.to(torch.float32).cpu().numpy(),
                        _chance(u_time, len(of_row)),
                        *self._proposed_for(of_row),
                    )
                )
        return (after, rows, events + 1), minutes

    def keep(self, state: WatchedState[State], rows: Tensor) -> WatchedState[State]:
        return self._model.keep(state[0], rows), state[1][rows], state[2][rows]

    @property
    def n_committed(self) -> int:
        """How often the loop committed events that could be written down."""
        return len(self._commits)

    def order_of(self, stay_rows: NDArray[np.int32]) -> NDArray[np.int64] | None:
        """The row each launch was started as; None unless each of these stays was started once."""
        started = np.concatenate([prefixes.stay_rows for prefixes in self.started])
        order, wanted = np.argsort(started), np.argsort(stay_rows)
        if not np.array_equal(started[order], stay_rows[wanted]):
            return None
        rows = np.empty(len(order), dtype=np.int64)
        rows[wanted] = order
        return rows

    def record(self, order: NDArray[np.int64]) -> Record:
        """What passed, row by row; `order` as `order_of` gives it."""
        place = np.argsort(order)
        return Record.of(self._n_rows, [(place[rows], *rest) for rows, *rest in self._commits])

    def _proposed_for(
        self, rows: NDArray[np.int64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """What was last proposed for these rows, and the chance of the time it was asked with."""
        assert self._proposed is not None, "commit before propose"
        proposed_rows, probabilities, u_time = self._proposed
        if np.array_equal(rows, proposed_rows):
            return probabilities, u_time
        place = {int(row): i for i, row in enumerate(proposed_rows)}
        there = [place.get(int(row), 0) for row in rows]
        return probabilities[there], u_time[there]


_Proposed = tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]
"""The rows, their probabilities and the chance of their times."""


def _chance(u_time: object, n: int) -> NDArray[np.float64]:
    """The chance of the times as numbers; nan where it is not one number a row."""
    if isinstance(u_time, Tensor) and u_time.shape == (n,):
        return np.asarray(u_time.detach().to(torch.float64).cpu().numpy())
    return np.full(n, np.nan)


@dataclass(frozen=True, slots=True)
class Record:
    """The commits of each row in their order, up to its first END."""

    rows: NDArray[np.int64]
    """The row of each event; sorted."""
    steps: NDArray[np.int64]
    """The number of the event in its row."""
    events_read: NDArray[np.int64]
    """Events the state had read when it was used; a loop that feeds back reads all before."""
    tokens: NDArray[np.int64]
    minutes: NDArray[np.float32]
    u_commit: NDArray[np.float64]
    """The chance of the time, as `commit` was given it."""
    proposed: NDArray[np.float64]
    u_propose: NDArray[np.float64]
    """The chance of the time, as `propose` was given it."""
    lengths: NDArray[np.int64]
    """Events of each row."""
    n_after_end: int
    """Commits to rows that had drawn END."""

    @classmethod
    def of(cls, n_rows: int, commits: list[tuple[NDArray[Any], ...]]) -> Record:
        """Sort commits by row; within a row they stay in the order they were made."""
        together = [np.concatenate(part) for part in zip(*commits, strict=True)]
        order = np.argsort(together[0], kind="stable")
        rows, read, tokens, minutes, u_commit, proposed, u_propose = (
            part[order] for part in together
        )
        begins = np.searchsorted(rows, np.arange(n_rows))
        steps = np.arange(len(rows)) - begins[rows]
        first_end = np.full(n_rows, len(rows), dtype=np.int64)
        ends = np.flatnonzero(tokens == END)
        np.minimum.at(first_end, rows[ends], ends)
        live = np.arange(len(rows)) <= first_end[rows]
        return cls(
            rows[live],
            steps[live],
            read[live],
            tokens[live],
            minutes[live],
            u_commit[live],
            proposed[live],
            u_propose[live],
            np.bincount(rows[live], minlength=n_rows),
            int((~live).sum()),
        )

    def offsets(self) -> NDArray[np.int64]:
        """Where each row begins, and the end."""
        return np.concatenate([[0], np.cumsum(self.lengths)]).astype(np.int64)
