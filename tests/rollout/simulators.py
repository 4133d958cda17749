"""Simulators whose right answer needs no arithmetic, and visits to launch them from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from edsim.rollout.decoding import BoundRule, parse_rule
from edsim.tables.facts import VocabularyFacts
from edsim.tables.visits import END, Launches, Prefixes, Visits

N_TOKENS = 8


def facts_of(n_tokens: int = N_TOKENS, transitions: Any = None) -> VocabularyFacts:
    """A vocabulary in which everything follows everything, where nothing else is said."""
    return VocabularyFacts(
        name="made-up",
        sha256="0" * 64,
        tokens=("END", *(f"event {i}" for i in range(1, n_tokens))),
        discharges=(n_tokens - 1,),
        transitions=np.ones((n_tokens, n_tokens), np.int64) if transitions is None else transitions,
    )


def rule_of(text: str = "vanilla", n_tokens: int = N_TOKENS) -> BoundRule:
    return parse_rule(text).bind(facts_of(n_tokens))


def visits_of(*stays: list[int]) -> Visits:
    """One stay for each list of tokens; END is added, the gap before event i is i minutes."""
    rows = [[*stay, END] for stay in stays]
    return Visits(
        tokens=np.array([token for row in rows for token in row], np.int16),
        minutes=np.array([i for row in rows for i in range(len(row))], np.float32),
        offsets=np.cumsum([0, *map(len, rows)]).astype(np.int64),
        start=np.zeros(len(rows)),
        stay_ids=np.array([f"s{i:04d}".encode() for i in range(len(rows))]),
    )


def random_visits(n_stays: int, n_tokens: int = N_TOKENS, seed: int = 0) -> Visits:
    generator = np.random.default_rng(seed)
    return visits_of(
        *(
            generator.integers(1, n_tokens, generator.integers(1, 12)).tolist()
            for _ in range(n_stays)
        )
    )


def launches_of(visits: Visits) -> Launches:
    """Every prefix of every stay."""
    lengths = visits.n_events()
    rows = np.repeat(np.arange(len(visits)), lengths)
    first = np.repeat(np.cumsum(lengths) - lengths, lengths)
    return np.stack([rows, np.arange(len(rows)) - first + 1], axis=1).astype(np.int32)


def last_tokens(prefixes: Prefixes) -> Tensor:
    return torch.from_numpy(prefixes.tokens[prefixes.offsets[1:] - 1].astype(np.int64))


def one_hot(tokens: Tensor, n_tokens: int = N_TOKENS) -> Tensor:
    return torch.where(torch.arange(n_tokens) == tokens[:, None], 0.0, -torch.inf)


class CountUp:
    """Proposes the token after the one it was last given, and nothing else; END after the last.

    The gap before an event is its number in minutes.
    """

    def start(self, prefixes: Prefixes) -> Tensor:
        return last_tokens(prefixes)

    def propose(self, state: Tensor, u_time: Tensor) -> Tensor:
        return one_hot((state + 1) % N_TOKENS)

    def commit(self, state: Tensor, tokens: Tensor, u_time: Tensor) -> tuple[Tensor, Tensor]:
        return tokens, tokens.to(torch.float32)

    def keep(self, state: Tensor, rows: Tensor) -> Tensor:
        return state[rows]


class Endless(CountUp):
    """Repeats the last event for ever."""

    def propose(self, state: Tensor, u_time: Tensor) -> Tensor:
        return one_hot(state)


class Table:
    """A random first-order table of proposals; gaps are a function of state and chance.

    The state is a pytree: what the model is given has to come back whole and in the right row.
    """

    def __init__(self, n_tokens: int = N_TOKENS, seed: int = 0, p_end: float = 0.1) -> None:
        generator = torch.Generator().manual_seed(seed)
        weights = torch.rand(n_tokens, n_tokens, generator=generator, dtype=torch.float64) ** 4
        weights[:, END] = 0
        weights[:, END] = weights.sum(1) * p_end / (1 - p_end)
        self.logits = weights.log() + 3.0  # not normalised: the loop has to do that

    def start(self, prefixes: Prefixes) -> Any:
        return self._state(last_tokens(prefixes), torch.from_numpy(prefixes.elapsed_minutes()))

    def propose(self, state: Any, u_time: Tensor) -> Tensor:
        last, elapsed = self._parts(state)
        return self.logits[last] + torch.where(elapsed[:, None] > 100, 0.25, 0.0)

    def commit(self, state: Any, tokens: Tensor, u_time: Tensor) -> tuple[Any, Tensor]:
        last, elapsed = self._parts(state)
        minutes = u_time * (1 + last)
        return self._state(tokens, elapsed + minutes), minutes.to(torch.float32)

    def keep(self, state: Any, rows: Tensor) -> Any:
        last, elapsed = self._parts(state)
        return self._state(last[rows], elapsed[rows])

    def _state(self, last: Tensor, elapsed: Tensor) -> Any:
        return last, elapsed

    def _parts(self, state: Any) -> tuple[Tensor, Tensor]:
        return state


@dataclass(frozen=True)
class Nested:
    inner: dict[str, list[Tensor]]
    label: str = "the same in every row"


class NestedTable(Table):
    """The same proposals out of a state of dataclass, dictionary and list."""

    def _state(self, last: Tensor, elapsed: Tensor) -> Nested:
        return Nested({"both": [last, elapsed]})

    def _parts(self, state: Nested) -> tuple[Tensor, Tensor]:
        last, elapsed = state.inner["both"]
        return last, elapsed


class Box:
    """A state that nobody but its model understands."""

    def __init__(self, last: Tensor, elapsed: Tensor) -> None:
        self.parts = last, elapsed


class OpaqueTable(Table):
    """The same proposals out of a state that cannot be joined with another."""

    def _state(self, last: Tensor, elapsed: Tensor) -> Box:
        return Box(last, elapsed)

    def _parts(self, state: Box) -> tuple[Tensor, Tensor]:
        return state.parts
