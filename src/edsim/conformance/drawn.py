"""Were the events drawn from the proposals under the rule asked for, at every step?

With the shared chance every draw can be repeated, and one that comes out otherwise is a defect.
With another chance the draws are compared with their distribution.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from edsim import seeds
from edsim.conformance.rules import EQUAL, Flags, Past, Probabilities, stated
from edsim.conformance.watched import Record
from edsim.tables.facts import VocabularyFacts
from edsim.tables.visits import END, Prefixes

FAR = 5.0
"""Standard deviations: once in two million healthy checks."""
ROUNDING = 0.001
"""Share of draws that may fall otherwise by rounding."""


@dataclass(frozen=True, slots=True)
class Draws:
    """Every event drawn in a rollout beside what it was drawn from."""

    proposed: Probabilities
    tokens: NDArray[np.int64]
    steps: NDArray[np.int64]
    past: Past
    u_event: NDArray[np.float64]

    @classmethod
    def of(cls, record: Record, prefixes: Prefixes, n_tokens: int, seed: int) -> Draws:
        """The draws of a record whose rows are those of `prefixes`."""
        keys = prefixes.keys(seed)[record.rows]
        u_event = seeds.uniform(seeds.step_keys(keys, record.steps, seeds.EVENT))
        past = _past(record, prefixes, n_tokens)
        return cls(record.proposed, record.tokens, record.steps, past, u_event)

    def some(self, rows: Flags) -> Draws:
        """Some of the draws."""
        past = Past(self.past.last[rows], self.past.run[rows], self.past.seen[rows])
        return Draws(
            self.proposed[rows], self.tokens[rows], self.steps[rows], past, self.u_event[rows]
        )


@dataclass(frozen=True, slots=True)
class Drawn:
    """How the draws compare with a rule."""

    n: int
    n_changed: int
    """Draws at which the rule leaves another distribution than the proposal."""
    n_impossible: int
    n_repeated: int
    """Draws that come out the same with the shared chance."""
    far: float
    """Standard deviations between the draws and their distribution, at most."""

    def broken(self, shared_chance: bool) -> str:
        """What is wrong, or nothing."""
        if self.n_impossible:
            return f"{self.n_impossible} of {self.n} events could not have been drawn under it"
        if shared_chance and self.n - self.n_repeated > ROUNDING * self.n:
            return f"{self.n - self.n_repeated} of {self.n} events fall otherwise under it"
        if not shared_chance and self.far > FAR:
            return f"{self.n} events lie {self.far:.1f} standard deviations from it"
        return ""


def compare(draws: Draws, rule: str, facts: VocabularyFacts) -> Drawn:
    """The draws beside the distributions that `rule` leaves."""
    left, clear = stated(rule, draws.proposed, draws.past, facts)
    left, draws = left[clear], draws.some(clear)
    row = np.arange(len(left))
    chance = left[row, draws.tokens]
    sums = left.cumsum(axis=1)
    again = (sums <= draws.u_event[:, None] * sums[:, -1:]).sum(axis=1)
    changed = (np.abs(left - draws.proposed) > EQUAL).any(axis=1)
    return Drawn(
        n=len(left),
        n_changed=int(changed.sum()),
        n_impossible=int((chance <= 0).sum()),
        n_repeated=int((again == draws.tokens).sum()),
        far=_far(left[chance > 0], draws.tokens[chance > 0]),
    )


def _far(left: Probabilities, tokens: NDArray[np.int64]) -> float:
    """The larger of two z-scores: log-likelihood and number of ENDs."""
    if not len(left):
        return 0.0
    logs = np.log(np.where(left > 0, left, 1.0))
    mean = (left * logs).sum(axis=1)
    spread = (left * logs**2).sum(axis=1) - mean**2
    surprise = (logs[np.arange(len(left)), tokens] - mean).sum()
    ends = left[:, END]
    return max(
        _in_deviations(surprise, spread.sum()),
        _in_deviations((tokens == END).sum() - ends.sum(), (ends * (1 - ends)).sum()),
    )


def _in_deviations(difference: float, variance: float) -> float:
    """0 where there is too little chance for the normal distribution to hold."""
    return float(abs(difference) / np.sqrt(variance)) if variance > 5 else 0.0


def _past(record: Record, prefixes: Prefixes, n_tokens: int) -> Past:
    """Last event, its run and the events seen before each draw, walked event by event."""
    offsets = record.offsets()
    last = np.empty(len(record.tokens), dtype=np.int64)
    run = np.empty(len(record.tokens), dtype=np.int64)
    seen = np.zeros((len(record.tokens), n_tokens), dtype=bool)
    for row, (begin, end) in enumerate(pairwise(offsets)):
        before = prefixes.tokens[prefixes.offsets[row] : prefixes.offsets[row + 1]].tolist()
        past, length = before[-1], 1
        for token in reversed(before[:-1]):
            if token != past:
                break
            length += 1
        now = np.zeros(n_tokens, dtype=bool)
        now[before] = True
        for event in range(begin, end):
            last[event], run[event], seen[event] = past, length, now
            token = int(record.tokens[event])
            length = length + 1 if token == past else 1
            past = token
            now[token] = True
    return Past(last, run, seen)
