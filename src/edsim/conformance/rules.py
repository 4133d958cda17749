"""Every decoding rule stated a second time, in numpy and apart from `rollout.rules`.

A rule that is asked for and not applied is found only by someone who knows what it should do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from edsim.conformance.verdicts import RULE_NAMES
from edsim.tables.facts import VocabularyFacts
from edsim.tables.visits import END

Probabilities = NDArray[np.float64]
"""[events, tokens]"""
Flags = NDArray[np.bool_]

EQUAL = 1e-9


@dataclass(frozen=True, slots=True)
class Past:
    """What preceded each event, prefix and suffix."""

    last: NDArray[np.int64]
    run: NDArray[np.int64]
    seen: Flags


Statement = Callable[[Probabilities, Past, float, VocabularyFacts], tuple[Probabilities, Flags]]
"""To weights that need not add up to 1, and the events for which the rule leaves no two readings
(ties at the edge of top-k, say, may be broken either way)."""


def stated(
    text: str, proposed: Probabilities, past: Past, facts: VocabularyFacts
) -> tuple[Probabilities, Flags]:
    """The distribution that a single rule such as `top_k=3` leaves, and where it is clear."""
    name, _, value = text.partition("=")
    weights, clear = STATEMENTS[name](proposed, past, float(value or 0), facts)
    nothing = weights.sum(axis=1) <= 0
    weights[nothing, END] = 1
    return weights / weights.sum(axis=1, keepdims=True), clear


def name_of(text: str) -> str:
    """The name of a single rule."""
    return text.partition("=")[0]


def _everywhere(proposed: Probabilities) -> Flags:
    return np.ones(len(proposed), dtype=bool)


def _vanilla(
    proposed: Probabilities, past: Past, value: float, facts: VocabularyFacts
) -> tuple[Probabilities, Flags]:
    return proposed.copy(), _everywhere(proposed)


def _greedy(
    proposed: Probabilities, past: Past, value: float, facts: VocabularyFacts
) -> tuple[Probabilities, Flags]:
    return _top_k(proposed, past, 1, facts)


def _temperature(
    proposed: Probabilities, past: Past, value: float, facts: VocabularyFacts
) -> tuple[Probabilities, Flags]:
    relative = proposed / proposed.max(axis=1, keepdims=True)
    return relative ** (1 / value), _everywhere(proposed)


def _top_k(
    proposed: Probabilities, past: Past, value: float, facts: VocabularyFacts
) -> tuple[Probabilities, Flags]:
    k = int(value)
    if k >= proposed.shape[1]:
        return proposed.copy(), _everywhere(proposed)
    descending = -np.sort(-proposed, axis=1)
    least, next_best = descending[:, k - 1], descending[:, k]
    weights = np.where(proposed >= least[:, None], proposed, 0.0)
    return weights, (least - next_best > EQUAL) | (least <= 0)


def _top_p(
    proposed: Probabilities, past: Past, value: float, facts: VocabularyFacts
) -> tuple[Probabilities, Flags]:
    descending = -np.sort(-proposed, axis=1)
    sums = descending.cumsum(axis=1)
    k = np.minimum((sums < value).sum(axis=1), proposed.shape[1] - 1)
    row = np.arange(len(proposed))
    least = descending[row, k]
    following = np.append(descending, np.zeros((len(proposed), 1)), axis=1)[row, k + 1]
    clear = (np.abs(sums - value) > EQUAL).all(axis=1) & (least - following > EQUAL)
    return np.where(proposed >= least[:, None], proposed, 0.0), clear


def _repetition_penalty(
    proposed: Probabilities, past: Past, value: float, facts: VocabularyFacts
) -> tuple[Probabilities, Flags]:
    seen = past.seen.copy()
    seen[:, END] = False
    return np.where(seen, proposed**value, proposed), _everywhere(proposed)


def _self_loop_cap(
    proposed: Probabilities, past: Past, value: float, facts: VocabularyFacts
) -> tuple[Probabilities, Flags]:
    weights = proposed.copy()
    barred = np.flatnonzero(past.run >= int(value))
    weights[barred, past.last[barred]] = 0
    return weights, _everywhere(proposed)


def _process_mask(
    proposed: Probabilities, past: Past, value: float, facts: VocabularyFacts
) -> tuple[Probabilities, Flags]:
    return np.where(facts.transitions[past.last] > 0, proposed, 0.0), _everywhere(proposed)


STATEMENTS: dict[str, Statement] = {
    "vanilla": _vanilla,
    "greedy": _greedy,
    "temperature": _temperature,
    "top_k": _top_k,
    "top_p": _top_p,
    "repetition_penalty": _repetition_penalty,
    "self_loop_cap": _self_loop_cap,
    "process_mask": _process_mask,
}

TRIED = (
    "greedy",
    "temperature=0.5",
    "top_k=3",
    "top_p=0.8",
    "repetition_penalty=1.75",
    "self_loop_cap=1",
    "process_mask",
)
"""The settings at which the rules are tried: strong enough to be seen in a few hundred rows."""

assert {name_of(text) for text in TRIED} == set(RULE_NAMES) == STATEMENTS.keys() - {"vanilla"}
