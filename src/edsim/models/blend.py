"""Two simulators as one: their next-event probabilities are mixed, the gap is the first one's.

`blend:0.25:RUN+ngram:3` gives the count model a quarter of the say. Both read the same history.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

import torch
from torch import Tensor

from edsim.errors import BadInputError, BadSimulatorError
from edsim.models.foresight import foreseen
from edsim.models.moving import moved
from edsim.models.protocol import Foreseen, Simulator, rereads
from edsim.tables.visits import Launches, Prefixes, Visits

First = TypeVar("First")
Counts = TypeVar("Counts")
State = TypeVar("State")


@dataclass(frozen=True, slots=True)
class Blend(Generic[First, Counts]):
    """A Simulator of two over one vocabulary and on one device; its state is the pair of theirs."""

    first: Simulator[First]
    counts: Simulator[Counts]
    weight: float
    """Of `counts`, between 0 and 1."""

    def __post_init__(self) -> None:
        if not 0 <= self.weight <= 1:
            raise BadInputError(
                f"a blend's weight of the count model is between 0 and 1, not {self.weight:g}."
            )

    @property
    def clock(self) -> str:
        """The first one's, which gives the gaps."""
        return str(getattr(self.first, "clock", "own"))

    @property
    def device(self) -> torch.device:
        """Where both live."""
        return torch.device(getattr(self.first, "device", "cpu"))

    @property
    def rereads(self) -> bool:
        """Whether one of them reads a row's whole history at every step."""
        return rereads(self.first) or rereads(self.counts)

    def to(self, device: torch.device | str) -> Blend[First, Counts]:
        """The same blend with both on another device."""
        return moved(self, device)

    def start(self, prefixes: Prefixes) -> tuple[First, Counts]:
        """Both read the observed events."""
        return self.first.start(prefixes), self.counts.start(prefixes)

    def propose(self, state: tuple[First, Counts], u_time: Tensor) -> Tensor:
        """The logarithm of the weighted mean of the two distributions, float64 [rows, tokens]."""
        first = self.first.propose(state[0], u_time)
        counts = self.counts.propose(state[1], u_time)
        _refuse_unlike("propose", first, counts, n_rows=len(u_time), n_dimensions=2)
        return self._mixed(first.double().log_softmax(dim=1), counts.double().log_softmax(dim=1))

    def commit(
        self, state: tuple[First, Counts], tokens: Tensor, u_time: Tensor
    ) -> tuple[tuple[First, Counts], Tensor]:
        """Both take the events; the minutes are the first one's."""
        first, minutes = _pair(self.first.commit(state[0], tokens, u_time), "first")
        counts, unused = _pair(self.counts.commit(state[1], tokens, u_time), "second")
        _refuse_unlike("commit", minutes, unused, n_rows=len(tokens), n_dimensions=1)
        return (first, counts), minutes

    def keep(self, state: tuple[First, Counts], rows: Tensor) -> tuple[First, Counts]:
        """The pairs of some rows."""
        return self.first.keep(state[0], rows), self.counts.keep(state[1], rows)

    def foresee(self, visits: Visits, launches: Launches) -> Foreseen:
        """Both are asked; the density of the gap and the remaining minutes are the first one's."""
        first, counts = (foreseen(one, visits, launches) for one in (self.first, self.counts))
        given = first.events_given_gap
        return Foreseen(
            self._mixed(first.events, counts.events),
            events_given_gap=None if given is None else self._mixed(given, counts.events),
            gap=first.gap,
            remaining=first.remaining,
        )

    def _mixed(self, first: Tensor, counts: Tensor) -> Tensor:
        """The logarithm of the weighted mean of two distributions, given as logarithms."""
        shares = torch.tensor([1 - self.weight, self.weight], dtype=torch.float64).log()
        return torch.logaddexp(first + shares[0].item(), counts + shares[1].item())


def _pair(answer: tuple[State, Tensor], part: str) -> tuple[State, Tensor]:
    if not (isinstance(answer, tuple) and len(answer) == 2):
        raise BadSimulatorError(
            f"the {part} part of the blend must answer commit with the next state and the minutes."
        )
    return answer


def _refuse_unlike(
    call: str, first: Tensor, second: Tensor, *, n_rows: int, n_dimensions: int
) -> None:
    """Raise for an answer that torch would stretch over the other's, and name the part."""
    for part, answer in (("first", first), ("second", second)):
        said = type(answer).__name__
        if isinstance(answer, Tensor):
            if answer.ndim == n_dimensions and len(answer) == n_rows:
                continue
            said = f"shape {list(answer.shape)}"
        wanted = f"[{n_rows}, tokens]" if n_dimensions == 2 else f"[{n_rows}]"
        raise BadSimulatorError(
            f"the {part} part of the blend must answer {call} with numbers {wanted}; it answered "
            f"{said}."
        )
    if first.shape != second.shape:
        raise BadSimulatorError(
            f"the parts of the blend have not the same tokens: to {call} the first answers "
            f"{first.shape[1]} and the second {second.shape[1]} of them."
        )
