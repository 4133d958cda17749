"""A count model written plainly: a dictionary of contexts, bisect, one random number at a time.

Nobody uses it to work with. `edsim bench rollout` times it beside `models.counts`, and a test holds
the two to the same probabilities and, given the same chance, to the same rollouts.
"""

from __future__ import annotations

import random
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable
from itertools import accumulate

import numpy as np

from edsim import seeds
from edsim.tables.visits import END, Prefixes, Suffixes, Visits

FEWEST_GAPS = 5

Context = tuple[int, ...]
Chance = Callable[[int, int, int], float]
"""From (launch key, step, purpose) to a number in [0, 1)."""


class PlainCounts:
    """An order-k model with backoff."""

    def __init__(self, training: Visits, order: int) -> None:
        counts: dict[Context, dict[int, int]] = defaultdict(lambda: defaultdict(int))
        gaps: dict[tuple[Context, int], list[float]] = defaultdict(list)
        tokens, minutes = training.tokens.tolist(), training.minutes.tolist()
        for begin, end in zip(training.offsets[:-1], training.offsets[1:], strict=True):
            for target in range(begin + 1, end):
                event, gap = tokens[target], minutes[target]
                for length in range(min(order, target - begin) + 1):
                    context = tuple(tokens[target - length : target])
                    counts[context][event] += 1
                    gaps[context, event].append(gap)
        self.order = order
        self.events = {
            context: (list(after), list(accumulate(after.values())))
            for context, after in ((c, dict(sorted(n.items()))) for c, n in counts.items())
        }
        self.gaps = {
            (context, event): sorted(found)
            for (context, event), found in gaps.items()
            if len(found) >= FEWEST_GAPS or not context
        }

    def context(self, history: list[int]) -> Context:
        """The longest known context at the end of some history."""
        for length in range(min(self.order, len(history)), 0, -1):
            context = tuple(history[-length:])
            if context in self.events:
                return context
        return ()

    def probabilities(self, history: list[int]) -> dict[int, float]:
        """The events that may follow, and how likely each is."""
        events, cumulated = self.events[self.context(history)]
        counts = [b - a for a, b in zip([0, *cumulated], cumulated, strict=False)]
        return {event: n / cumulated[-1] for event, n in zip(events, counts, strict=True)}

    def draw_event(self, context: Context, u: float) -> int:
        """The next event, by inverse CDF."""
        events, cumulated = self.events[context]
        return events[bisect_right(cumulated, u * cumulated[-1])]

    def draw_gap(self, context: Context, event: int, u: float) -> float:
        """The minutes before the event, by inverse CDF, from the longest context with enough."""
        while (context, event) not in self.gaps:
            if not context:
                return 0.0
            context = context[1:]
        found = self.gaps[context, event]
        return found[int(u * len(found))]


def keyed_chance(launch_key: int, step: int, purpose: int) -> float:
    """The numbers that the rollout loop draws with."""
    key = seeds.step_keys(np.array([launch_key], dtype=np.uint64), step, purpose)
    return float(seeds.uniform(key)[0])


def any_chance(launch_key: int, step: int, purpose: int) -> float:
    """Numbers that cost next to nothing, for a fair comparison of speed."""
    return random.random()


def roll_out(
    model: PlainCounts, prefixes: Prefixes, *, cap: int, seed: int, chance: Chance = keyed_chance
) -> Suffixes:
    """Continue each prefix, one after the other, until END or `cap` events."""
    tokens: list[int] = []
    minutes: list[float] = []
    offsets = [0]
    for row, launch_key in enumerate(prefixes.keys(seed).tolist()):
        history = prefixes.tokens[prefixes.offsets[row] : prefixes.offsets[row + 1]].tolist()
        for step in range(cap):
            context = model.context(history)
            event = model.draw_event(context, chance(launch_key, step, seeds.EVENT))
            minutes.append(model.draw_gap(context, event, chance(launch_key, step, seeds.TIME)))
            tokens.append(event)
            history.append(event)
            if event == END:
                break
        offsets.append(len(tokens))
    return Suffixes(
        np.array(tokens, dtype=np.int16),
        np.array(minutes, dtype=np.float32),
        np.array(offsets, dtype=np.int64),
    )
