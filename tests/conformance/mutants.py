"""Simulators of the ward with one planted defect each, and the check that names it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor
from ward import END, N_TOKENS, Ward, WardState, visits

from edsim.conformance.defects import ForgetsHistory, LeavesLogMinutes
from edsim.models.protocol import Simulator
from edsim.tables.visits import Prefixes


class ForgetsWhatItCommits(ForgetsHistory[WardState]):
    """As the paper's audit table replays it."""

    def __init__(self) -> None:
        super().__init__(Ward())


class ForgetsTheClock(Ward):
    """Events are fed back and their gaps are not."""

    def commit(self, state: WardState, tokens: Tensor, u_time: Tensor) -> tuple[WardState, Tensor]:
        after, minutes = super().commit(state, tokens, u_time)
        return replace(after, elapsed=state.elapsed), minutes


class AnswersLog1p(LeavesLogMinutes[WardState]):
    """As the paper's audit table replays it."""

    def __init__(self) -> None:
        super().__init__(Ward())


class AnswersHours(Ward):
    def minutes(self, tokens: Tensor, u_time: Tensor) -> Tensor:
        return super().minutes(tokens, u_time) / 60


class AnswersSeconds(Ward):
    def minutes(self, tokens: Tensor, u_time: Tensor) -> Tensor:
        return super().minutes(tokens, u_time) * 60


class EndsAfterADay(Ward):
    """A private stop inside the model: END is certain once 24 hours have passed."""

    def propose(self, state: WardState, u_time: Tensor) -> Tensor:
        return only_end_where(state.elapsed > 24 * 60, super().propose(state, u_time))


class EndsADayAfterTheLaunch(EndsAfterADay):
    """The same stop, counted from the launch: time that was observed does not count."""

    def start(self, prefixes: Prefixes) -> WardState:
        state = super().start(prefixes)
        return replace(state, elapsed=torch.zeros_like(state.elapsed))


@dataclass(frozen=True, slots=True)
class Counted:
    """The ward's state and the number of events generated."""

    inner: WardState
    generated: Tensor

    def some(self, rows: Tensor) -> Counted:
        return Counted(self.inner.some(rows), self.generated[rows])


class CountsWhatItGenerates:
    """The ward, which also knows how many events it has generated."""

    def start(self, prefixes: Prefixes) -> Counted:
        return Counted(Ward().start(prefixes), torch.zeros(len(prefixes)))

    def propose(self, state: Counted, u_time: Tensor) -> Tensor:
        return Ward().propose(state.inner, u_time)

    def commit(self, state: Counted, tokens: Tensor, u_time: Tensor) -> tuple[Counted, Tensor]:
        after, minutes = Ward().commit(state.inner, tokens, u_time)
        return Counted(after, state.generated + 1), minutes

    def keep(self, state: Counted, rows: Tensor) -> Counted:
        return state.some(rows)


class ForgetsAfter(CountsWhatItGenerates):
    """Its memory is full after so many events: the state is not advanced any more."""

    def __init__(self, n: int) -> None:
        self.n = n

    def commit(self, state: Counted, tokens: Tensor, u_time: Tensor) -> tuple[Counted, Tensor]:
        after, minutes = super().commit(state, tokens, u_time)
        full = state.generated >= self.n
        parts = (
            torch.where(full, getattr(state.inner, name), getattr(after.inner, name))
            for name in ("last", "events", "elapsed")
        )
        return Counted(WardState(*parts), after.generated), minutes


class EndsAfter(CountsWhatItGenerates):
    """A private stop inside the model: END is certain after so many generated events."""

    def __init__(self, n: int) -> None:
        self.n = n

    def propose(self, state: Counted, u_time: Tensor) -> Tensor:
        return only_end_where(state.generated >= self.n, super().propose(state, u_time))


class EndsAtFortyEvents(Ward):
    """A private stop inside the model: END is certain at 40 events, observed and generated."""

    def propose(self, state: WardState, u_time: Tensor) -> Tensor:
        return only_end_where(state.events >= 40, super().propose(state, u_time))


def only_end_where(stopped: Tensor, proposed: Tensor) -> Tensor:
    only_end = torch.where(torch.arange(N_TOKENS) == END, 0.0, -torch.inf)
    return torch.where(stopped[:, None], only_end, proposed)


class DrawsItsOwnEvents(Ward):
    """Decides with a generator of its own and leaves the loop no choice."""

    def __init__(self) -> None:
        self.generator = torch.Generator().manual_seed(1)

    def propose(self, state: WardState, u_time: Tensor) -> Tensor:
        chance = super().propose(state, u_time).softmax(dim=1)
        drawn = torch.multinomial(chance, 1, generator=self.generator)
        return torch.full_like(chance, -torch.inf).scatter(1, drawn, 0.0)


class DrawsItsEventsWithTheTimesChance(Ward):
    """Decides with the chance that is meant for the time."""

    def propose(self, state: WardState, u_time: Tensor) -> Tensor:
        chance = super().propose(state, u_time).softmax(dim=1, dtype=torch.float64)
        drawn = (chance.cumsum(1) <= u_time[:, None]).sum(1, keepdim=True).clamp(max=N_TOKENS - 1)
        return torch.full_like(chance, -torch.inf).scatter(1, drawn, 0.0)


class DrawsItsOwnGaps(Ward):
    def commit(self, state: WardState, tokens: Tensor, u_time: Tensor) -> tuple[WardState, Tensor]:
        return super().commit(state, tokens, torch.rand(len(u_time), dtype=torch.float64))


class ReadsPastThePadding(Ward):
    """Pads to the longest prefix of the batch from the flat array, and reads what lies there."""

    def start(self, prefixes: Prefixes) -> WardState:
        longest = int(prefixes.lengths().max())
        where = prefixes.offsets[:-1, None] + np.arange(longest)
        padded = prefixes.tokens[np.minimum(where, len(prefixes.tokens) - 1)]
        state = super().start(prefixes)
        return replace(state, events=torch.from_numpy((padded == 3).sum(axis=1)))


class ReadsTheLongestPrefixOfTheStay(Ward):
    """Encodes each stay of the batch once, with a network that looks both ways."""

    def start(self, prefixes: Prefixes) -> WardState:
        length = dict.fromkeys(prefixes.stay_rows.tolist(), 0)
        for row, n in zip(prefixes.stay_rows.tolist(), prefixes.lengths().tolist(), strict=True):
            length[row] = max(length[row], n)
        events = torch.tensor([length[row] for row in prefixes.stay_rows.tolist()])
        return replace(super().start(prefixes), events=events)


class LooksUpTheStay(Ward):
    """Knows by the stay's row how many events it will have."""

    def start(self, prefixes: Prefixes) -> WardState:
        left = visits().n_events()[prefixes.stay_rows] - prefixes.lengths()
        return replace(super().start(prefixes), events=torch.from_numpy(20 - left))


class CannotDoWithoutTheStay(Ward):
    """Looks the stay up and stumbles where it is another."""

    def start(self, prefixes: Prefixes) -> WardState:
        left = visits().suffixes(prefixes.launches()).lengths()
        return replace(super().start(prefixes), events=torch.from_numpy(20 - left))


class ReadsTheBatch(Ward):
    """Normalises by the other rows of the batch."""

    def propose(self, state: WardState, u_time: Tensor) -> Tensor:
        relative = state.elapsed / state.elapsed.mean().clamp(min=1)
        return super().propose(replace(state, elapsed=300 * relative), u_time)


class KeepsTheClockInPlace(Ward):
    """Forgets one part of the state when rows are dropped: the clock stays in the old order."""

    def keep(self, state: WardState, rows: Tensor) -> WardState:
        return replace(state.some(rows), elapsed=state.elapsed[: len(rows)].clone())

    def propose(self, state: WardState, u_time: Tensor) -> Tensor:
        n = len(state.last)
        elapsed = torch.cat([state.elapsed, torch.zeros(n)])[:n]
        return super().propose(replace(state, elapsed=elapsed), u_time)

    def commit(self, state: WardState, tokens: Tensor, u_time: Tensor) -> tuple[WardState, Tensor]:
        n = len(state.last)
        elapsed = torch.cat([state.elapsed, torch.zeros(n)])[:n]
        return super().commit(replace(state, elapsed=elapsed), tokens, u_time)


class SharesStatesOfEqualPrefixes:
    """Rows that begin alike hold the same object, and each writes into it."""

    def start(self, prefixes: Prefixes) -> list[list[int]]:
        shared: dict[tuple[int, ...], list[int]] = {}
        rows = np.split(prefixes.tokens, prefixes.offsets[1:-1])
        return [shared.setdefault(tuple(row.tolist()), row.tolist()) for row in rows]

    def propose(self, state: list[list[int]], u_time: Tensor) -> Tensor:
        return Ward().propose(self._as_ward(state), u_time)

    def commit(
        self, state: list[list[int]], tokens: Tensor, u_time: Tensor
    ) -> tuple[list[list[int]], Tensor]:
        for row, token in zip(state, tokens.tolist(), strict=True):
            row.append(token)
        return state, Ward().minutes(tokens, u_time)

    def keep(self, state: list[list[int]], rows: Tensor) -> list[list[int]]:
        return [state[row] for row in rows.tolist()]

    def _as_ward(self, state: list[list[int]]) -> WardState:
        return WardState(
            torch.tensor([row[-1] for row in state]),
            torch.tensor([len(row) for row in state]),
            torch.zeros(len(state), dtype=torch.float64),
        )


class ProposesProbabilities(Ward):
    """Nearly even ones, once the loop has taken the exponential."""

    def propose(self, state: WardState, u_time: Tensor) -> Tensor:
        return super().propose(state, u_time).softmax(dim=1)


class ProposesNan(Ward):
    def propose(self, state: WardState, u_time: Tensor) -> Tensor:
        return super().propose(state, u_time).masked_fill((state.events == 4)[:, None], torch.nan)


class ProposesNothing(Ward):
    """Masks one event after another until none is left."""

    def propose(self, state: WardState, u_time: Tensor) -> Tensor:
        return super().propose(state, u_time).masked_fill((state.events > 15)[:, None], -torch.inf)


class AnswersNegativeGaps(Ward):
    def minutes(self, tokens: Tensor, u_time: Tensor) -> Tensor:
        return super().minutes(tokens, u_time) - 1


class AnswersInfiniteGaps(Ward):
    def minutes(self, tokens: Tensor, u_time: Tensor) -> Tensor:
        return super().minutes(tokens, u_time) / (u_time > 0.01)


class AnswersImpossibleGaps(Ward):
    def minutes(self, tokens: Tensor, u_time: Tensor) -> Tensor:
        return super().minutes(tokens, u_time).double().mul(60_000_000).float()


class AnswersWholeMinutes(Ward):
    def minutes(self, tokens: Tensor, u_time: Tensor) -> Tensor:
        return super().minutes(tokens, u_time).long()


class ProposesWithoutEnd(Ward):
    """One column too few."""

    def propose(self, state: WardState, u_time: Tensor) -> Tensor:
        return super().propose(state, u_time)[:, 1:]


class RaisesWhenRowsAreDropped(Ward):
    def keep(self, state: WardState, rows: Tensor) -> WardState:
        raise IndexError("stay s0003 is not there")


class CannotBeMade(Ward):
    def __init__(self) -> None:
        raise FileNotFoundError("weights of stay s0003")


class RaisesLate(Ward):
    def propose(self, state: WardState, u_time: Tensor) -> Tensor:
        if bool((state.events > 25).any()):
            raise RuntimeError("stay s0003 is too long")
        return super().propose(state, u_time)


class KeepsItsStateToItself(Ward):
    """Holds one part of the state on the simulator, so only one batch can be under way."""

    def start(self, prefixes: Prefixes) -> WardState:
        self.elapsed = torch.from_numpy(prefixes.elapsed_minutes())
        return super().start(prefixes)

    def propose(self, state: WardState, u_time: Tensor) -> Tensor:
        n = len(state.last)
        elapsed = torch.cat([self.elapsed, torch.zeros(n)])[:n]
        return super().propose(replace(state, elapsed=elapsed), u_time)

    def commit(self, state: WardState, tokens: Tensor, u_time: Tensor) -> tuple[WardState, Tensor]:
        after, minutes = super().commit(state, tokens, u_time)
        n = len(minutes)
        self.elapsed = torch.cat([self.elapsed, torch.zeros(n)])[:n] + minutes
        return after, minutes

    def keep(self, state: WardState, rows: Tensor) -> WardState:
        self.elapsed = self.elapsed[rows]
        return super().keep(state, rows)


Make = Callable[[], Simulator[Any]]

MUTANTS: dict[Make, str] = {
    ForgetsWhatItCommits: "history",
    ForgetsTheClock: "history",
    partial(ForgetsAfter, 5): "history",
    partial(ForgetsAfter, 20): "history",
    AnswersLog1p: "clock units",
    AnswersHours: "clock units",
    AnswersSeconds: "clock units",
    AnswersImpossibleGaps: "clock units",
    EndsAfterADay: "cap",
    EndsADayAfterTheLaunch: "cap",
    partial(EndsAfter, 10): "cap",
    partial(EndsAfter, 30): "cap",
    EndsAtFortyEvents: "cap",
    DrawsItsOwnEvents: "chance",
    DrawsItsEventsWithTheTimesChance: "chance",
    DrawsItsOwnGaps: "chance",
    ReadsPastThePadding: "no look at the future",
    ReadsTheLongestPrefixOfTheStay: "no look at the future",
    LooksUpTheStay: "no look at the future",
    CannotDoWithoutTheStay: "no look at the future",
    ReadsTheBatch: "rows independent",
    SharesStatesOfEqualPrefixes: "rows independent",
    KeepsItsStateToItself: "rows independent",
    KeepsTheClockInPlace: "order of rows",
    ProposesProbabilities: "proposals",
    ProposesNan: "proposals",
    ProposesNothing: "proposals",
    AnswersNegativeGaps: "gaps",
    AnswersInfiniteGaps: "gaps",
    AnswersWholeMinutes: "shapes",
    ProposesWithoutEnd: "shapes",
    RaisesWhenRowsAreDropped: "calls",
    RaisesLate: "calls",
    CannotBeMade: "calls",
}
"""Each simulator and the check that names its defect."""
