"""The decoding rules one by one: what each does to the log-probabilities of the next event.

A rule is a frozen specification. `bound(facts)` gives the function that applies it; only the
process mask learns anything from the facts. A rule never takes a row's last possible event: where
all that is left is barred, the visit ends.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from edsim.errors import BadInputError
from edsim.rollout.history import History
from edsim.tables.facts import VocabularyFacts
from edsim.tables.visits import END

Apply = Callable[[Tensor, History], Tensor]
"""Log-probabilities [rows, tokens] float64 and the history, to log-probabilities."""


@dataclass(frozen=True, slots=True)
class Vanilla:
    """The model's own distribution: every event may be drawn with its probability."""

    name: ClassVar[str] = "vanilla"

    def bound(self, facts: VocabularyFacts) -> Apply:
        return lambda log_probs, history: log_probs


@dataclass(frozen=True, slots=True)
class ProcessMask:
    """Transitions never seen in training are forbidden; where nothing is left, the visit ends."""

    name: ClassVar[str] = "process_mask"

    def bound(self, facts: VocabularyFacts) -> Apply:
        unseen = {"cpu": torch.from_numpy(facts.transitions == 0)}

        def apply(log_probs: Tensor, history: History) -> Tensor:
            device = str(log_probs.device)
            if device not in unseen:  # copied once: a step on a graphics card may be a graph
                unseen[device] = unseen["cpu"].to(device)
            barred = unseen[device].index_select(0, history.last)
            return _or_end(log_probs.masked_fill(barred, -torch.inf))

        return apply


@dataclass(frozen=True, slots=True)
class RepetitionPenalty:
    """Log-probability times `r` for the events already in prefix or suffix; END is exempt."""

    r: float
    name: ClassVar[str] = "repetition_penalty"

    def __post_init__(self) -> None:
        _refuse_unless(self, 1 <= self.r < math.inf, "at least 1 (1 changes nothing)")

    def bound(self, facts: VocabularyFacts) -> Apply:
        def apply(log_probs: Tensor, history: History) -> Tensor:
            penalised = history.seen & (log_probs > -torch.inf)
            penalised[:, END] = False
            lowest = torch.finfo(log_probs.dtype).min  # however large r is, possible stays possible
            return torch.where(penalised, (log_probs * self.r).clamp_min(lowest), log_probs)

        return apply


@dataclass(frozen=True, slots=True)
class SelfLoopCap:
    """After `m` equal events that event is barred; where nothing is left, the visit ends."""

    m: int
    name: ClassVar[str] = "self_loop_cap"

    def __post_init__(self) -> None:
        _refuse_unless(self, self.m >= 1, "that is a whole number from 1 on")

    def bound(self, facts: VocabularyFacts) -> Apply:
        def apply(log_probs: Tensor, history: History) -> Tensor:
            token = torch.arange(log_probs.shape[1], device=log_probs.device)
            barred = (token == history.last[:, None]) & (history.run >= self.m)[:, None]
            return _or_end(log_probs.masked_fill(barred, -torch.inf))

        return apply


@dataclass(frozen=True, slots=True)
class Temperature:
    """Log-probabilities divided by `t`: below 1 sharper, above 1 flatter."""

    t: float
    name: ClassVar[str] = "temperature"

    def __post_init__(self) -> None:
        _refuse_unless(self, 0 < self.t < math.inf, "above 0 (for the limit 0 use greedy)")

    def bound(self, facts: VocabularyFacts) -> Apply:
        return lambda log_probs, history: _peak_at_zero(log_probs) / self.t


@dataclass(frozen=True, slots=True)
class TopK:
    """Only the `k` most likely events can be drawn; of equals, those with the lower number."""

    k: int
    name: ClassVar[str] = "top_k"

    def __post_init__(self) -> None:
        _refuse_unless(self, self.k >= 1, "that is a whole number from 1 on")

    def bound(self, facts: VocabularyFacts) -> Apply:
        def apply(log_probs: Tensor, history: History) -> Tensor:
            order = log_probs.sort(dim=1, descending=True, stable=True).indices
            return log_probs.scatter(1, order[:, self.k :], -torch.inf)

        return apply


@dataclass(frozen=True, slots=True)
class TopP:
    """Only the fewest most likely events that hold at least probability `p` can be drawn."""

    p: float
    name: ClassVar[str] = "top_p"

    def __post_init__(self) -> None:
        _refuse_unless(self, 0 < self.p <= 1, "above 0 and at most 1")

    def bound(self, facts: VocabularyFacts) -> Apply:
        def apply(log_probs: Tensor, history: History) -> Tensor:
            ordered = log_probs.softmax(dim=1).sort(dim=1, descending=True, stable=True)
            reached = ordered.values.cumsum(dim=1) >= self.p
            beyond = torch.zeros_like(reached)
            beyond[:, 1:] = reached[:, :-1]  # the event that reaches p is still drawn
            barred = torch.zeros_like(beyond).scatter(1, ordered.indices, beyond)
            return log_probs.masked_fill(barred, -torch.inf)

        return apply


@dataclass(frozen=True, slots=True)
class Greedy:
    """Always the most likely event; of equals, the one with the lowest number."""

    name: ClassVar[str] = "greedy"

    def bound(self, facts: VocabularyFacts) -> Apply:
        def apply(log_probs: Tensor, history: History) -> Tensor:
            n_tokens = log_probs.shape[1]
            token = torch.arange(n_tokens, device=log_probs.device)
            best = log_probs == log_probs.amax(dim=1, keepdim=True)
            first = torch.where(best, token, n_tokens - 1).amin(dim=1, keepdim=True)
            return torch.where(token == first, log_probs, -torch.inf)

        return apply


OneRule = (
    Vanilla | ProcessMask | RepetitionPenalty | SelfLoopCap | Temperature | TopK | TopP | Greedy
)

RULES: dict[str, type[OneRule]] = {
    rule.name: rule
    for rule in (
        Vanilla,
        ProcessMask,
        RepetitionPenalty,
        SelfLoopCap,
        Temperature,
        TopK,
        TopP,
        Greedy,
    )
}
"""Every rule by its name, in the order in which a composition applies them."""


def idle(rule: OneRule, n_tokens: int) -> str:
    """Why a rule can never change anything here although it was meant to, "" where it may.

    Settings that are the identity everywhere, such as `top_p=1`, are meant so.
    """
    if isinstance(rule, TopK) and rule.k > n_tokens:
        return (
            f"top_k={rule.k} changes nothing: the vocabulary has {n_tokens} tokens, END included."
        )
    return ""


def _peak_at_zero(log_probs: Tensor) -> Tensor:
    """The same distribution with its largest value 0, so that no division overflows them all."""
    return log_probs - log_probs.amax(dim=1, keepdim=True)


def _or_end(log_probs: Tensor) -> Tensor:
    """END, and only END, where no event is possible any more."""
    nothing_left = (log_probs == -torch.inf).all(dim=1)
    end = torch.where(nothing_left, 0.0, log_probs[:, END])
    return torch.cat([log_probs[:, :END], end[:, None], log_probs[:, END + 1 :]], dim=1)


def _refuse_unless(rule: OneRule, possible: bool, wanted: str) -> None:
    if not possible:
        raise BadInputError(f"decoding rule '{rule.name}' needs a value {wanted}.")
