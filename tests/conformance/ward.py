"""A made-up department small enough to know: its visits, its facts, and a healthy simulator of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import torch
from torch import Tensor

from edsim.tables.facts import VocabularyFacts
from edsim.tables.known import StayFacts
from edsim.tables.visits import END, Prefixes, Visits

TOKENS = ("END", "Enter", "Triage", "Check", "Medicine", "Result", "Home", "Admitted")
N_TOKENS = len(TOKENS)
ENTER, HOME, ADMITTED = 1, 6, 7
CAP = 64

#         END  Enter Triage Check Medicine Result Home Admitted
WEIGHTS = np.array(
    [
        [1.00, 0.00, 0.00, 0.00, 0.00, 0.00, 0.00, 0.00],
        [0.00, 0.00, 0.80, 0.20, 0.00, 0.00, 0.00, 0.00],
        [0.01, 0.00, 0.00, 0.60, 0.20, 0.10, 0.09, 0.00],
        [0.02, 0.00, 0.00, 0.35, 0.28, 0.20, 0.10, 0.05],
        [0.02, 0.00, 0.00, 0.30, 0.35, 0.13, 0.10, 0.10],
        [0.02, 0.00, 0.05, 0.30, 0.20, 0.18, 0.15, 0.10],
        [0.90, 0.00, 0.00, 0.10, 0.00, 0.00, 0.00, 0.00],
        [0.80, 0.00, 0.00, 0.10, 0.10, 0.00, 0.00, 0.00],
    ]
)
MEAN_MINUTES = np.array([0.5, 1.0, 6.0, 45.0, 30.0, 60.0, 50.0, 90.0])
ZERO_SHARE = 0.3


@cache
def visits() -> Visits:
    """900 stays, every third of the test split, with what is known of them."""
    rng = np.random.default_rng(5)
    stays = [_visit(rng) for _ in range(900)]
    lengths = [len(tokens) for tokens, _ in stays]
    n = len(stays)
    return Visits(
        np.concatenate([tokens for tokens, _ in stays]).astype(np.int16),
        np.concatenate([minutes for _, minutes in stays]).astype(np.float32),
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        np.zeros(n),
        np.array([f"s{i:04d}".encode() for i in range(n)]),
        np.where(np.arange(n) % 3 == 0, 2, 0).astype(np.int8),
        StayFacts(
            sex=np.full(n, "F"),
            age=np.full(n, 50.0),
            transport=np.full(n, "WALK IN"),
            arrival_hour=np.full(n, np.nan),
            complaint_group=np.full(n, ""),
            acuity=rng.integers(1, 6, n).astype(float),
            triage_length=np.full(n, 2, dtype=np.int32),
        ),
    )


@cache
def facts() -> VocabularyFacts:
    """Transitions as the visits have them."""
    table = visits()
    seen = np.zeros((N_TOKENS, N_TOKENS), dtype=np.int64)
    inner = np.ones(len(table.tokens), dtype=bool)
    inner[table.offsets[:-1]] = False
    after = np.flatnonzero(inner)
    np.add.at(seen, (table.tokens[after - 1], table.tokens[after]), 1)
    return VocabularyFacts("ward", "0" * 64, TOKENS, (HOME, ADMITTED), seen)


def _visit(rng: np.random.Generator) -> tuple[list[int], list[float]]:
    tokens, minutes = [ENTER], [0.0]
    while tokens[-1] != END and len(tokens) < 40:
        tokens.append(int(rng.choice(N_TOKENS, p=WEIGHTS[tokens[-1]])))
        waits = tokens[-1] != END and rng.random() > ZERO_SHARE
        minutes.append(float(rng.exponential(MEAN_MINUTES[tokens[-1]])) if waits else 0.0)
    tokens[-1], minutes[-1] = END, 0.0
    return tokens, minutes


@dataclass(frozen=True, slots=True)
class WardState:
    """One entry a row: the last event, the events so far, the minutes so far."""

    last: Tensor
    events: Tensor
    elapsed: Tensor

    def some(self, rows: Tensor) -> WardState:
        return WardState(self.last[rows], self.events[rows], self.elapsed[rows])


class Ward:
    """Proposes by the last event, the number of events and the time; gaps by the event."""

    def start(self, prefixes: Prefixes) -> WardState:
        return WardState(
            torch.from_numpy(prefixes.tokens[prefixes.offsets[1:] - 1].astype(np.int64)),
            torch.from_numpy(prefixes.lengths()),
            torch.from_numpy(prefixes.elapsed_minutes()),
        )

    def propose(self, state: WardState, u_time: Tensor) -> Tensor:
        logits = torch.from_numpy(WEIGHTS).log()[state.last]
        tired = 0.1 * state.events.clamp(max=20) + 0.002 * state.elapsed.clamp(max=600)
        return torch.cat([logits[:, :1] + tired[:, None], logits[:, 1:]], dim=1).float()

    def commit(self, state: WardState, tokens: Tensor, u_time: Tensor) -> tuple[WardState, Tensor]:
        minutes = self.minutes(tokens, u_time)
        after = WardState(tokens, state.events + 1, state.elapsed + minutes.double())
        return after, minutes

    def minutes(self, tokens: Tensor, u_time: Tensor) -> Tensor:
        waited = ((u_time - ZERO_SHARE) / (1 - ZERO_SHARE)).clamp(min=0)
        return (-torch.from_numpy(MEAN_MINUTES)[tokens] * torch.log1p(-waited)).float()

    def keep(self, state: WardState, rows: Tensor) -> WardState:
        return state.some(rows)


class Recurrent:
    """A small untrained network in float32, whose sums are rounded otherwise in other batches."""

    def __init__(self) -> None:
        with torch.random.fork_rng():
            torch.manual_seed(0)
            self.read = torch.nn.GRUCell(N_TOKENS + 1, 48)
            self.heads = torch.nn.Linear(48, N_TOKENS)

    def start(self, prefixes: Prefixes) -> Tensor:
        lengths = torch.from_numpy(prefixes.lengths())
        state = torch.zeros(len(prefixes), 48)
        begins = torch.from_numpy(prefixes.offsets[:-1])
        tokens = torch.from_numpy(prefixes.tokens.astype(np.int64))
        minutes = torch.from_numpy(prefixes.minutes)
        for step in range(int(lengths.max())):
            at = begins + torch.minimum(torch.tensor(step), lengths - 1)
            after = self._read(state, tokens[at], minutes[at])
            state = torch.where((step < lengths)[:, None], after, state)
        return state

    def _read(self, state: Tensor, tokens: Tensor, minutes: Tensor) -> Tensor:
        event = torch.nn.functional.one_hot(tokens, N_TOKENS).float()
        with torch.no_grad():
            return self.read(torch.cat([event, minutes.log1p()[:, None]], dim=1), state)

    def propose(self, state: Tensor, u_time: Tensor) -> Tensor:
        with torch.no_grad():
            return self.heads(state) * 2

    def commit(self, state: Tensor, tokens: Tensor, u_time: Tensor) -> tuple[Tensor, Tensor]:
        minutes = Ward().minutes(tokens, u_time) * (1 + state[:, 0] / 2)
        return self._read(state, tokens, minutes), minutes

    def keep(self, state: Tensor, rows: Tensor) -> Tensor:
        return state[rows]


class TimeFirst(Ward):
    """Draws the gap before the event, from `u_time`, and lets the event depend on it."""

    def propose(self, state: WardState, u_time: Tensor) -> Tensor:
        waits = (u_time > ZERO_SHARE).float()
        favoured = torch.arange(N_TOKENS) % 2 == 0
        return super().propose(state, u_time) + 3 * waits[:, None] * favoured

    def minutes(self, tokens: Tensor, u_time: Tensor) -> Tensor:
        return super().minutes(torch.full_like(tokens, 3), u_time)


class WithParameters(Ward):
    """Holds parameters, and leaves it to others to say that no gradient is wanted."""

    def __init__(self) -> None:
        self.weight = torch.nn.Parameter(torch.ones(N_TOKENS))

    def propose(self, state: WardState, u_time: Tensor) -> Tensor:
        return super().propose(state, u_time) * self.weight

    def minutes(self, tokens: Tensor, u_time: Tensor) -> Tensor:
        return super().minutes(tokens, u_time) * self.weight[tokens]


class Clockwork:
    """Certain of everything: a round of the tokens, half an hour each, END after the last."""

    def start(self, prefixes: Prefixes) -> Tensor:
        return torch.from_numpy(prefixes.tokens[prefixes.offsets[1:] - 1].astype(np.int64))

    def propose(self, state: Tensor, u_time: Tensor) -> Tensor:
        return torch.where(
            torch.arange(N_TOKENS) == (state[:, None] + 1) % N_TOKENS, 0.0, -torch.inf
        )

    def commit(self, state: Tensor, tokens: Tensor, u_time: Tensor) -> tuple[Tensor, Tensor]:
        return tokens, torch.full((len(tokens),), 30.0)

    def keep(self, state: Tensor, rows: Tensor) -> Tensor:
        return state[rows]
