"""Is a difference beyond chance? Two ways of telling, both by stay, as launches of a stay share it.

*Exchange*: where the two sides of a stay (generated and observed, or two simulators) have the same
law, who stands on which side is a coin toss. It holds for every statistic, also for those that
noise makes larger, such as divergences. *Jackknife*: leave out one stay after the other. It is the
sharper one where an effect is large, for smooth statistics that are 0 where nothing differs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edsim import seeds
from edsim.metrics.measure import Floats

EXCHANGES = 300
BEYOND = 4.0
"""Standard deviations that a finding has to lie beyond; rarely by chance, as several are looked for
and few stays make noise with long tails."""

Statistic = Callable[[Floats, Floats], Floats]
"""Totals of one side and of the other, [..., columns] each, to a number [...]."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A statistic of two sides, what chance alone makes of it, and how far chance moves it."""

    value: float
    by_chance: float
    sd: float

    @property
    def excess(self) -> float:
        """What is left when the part that chance alone makes is taken off."""
        return self.value - self.by_chance

    def above(self, least: float) -> bool:
        """Whether it is at least so large, and larger than chance makes it."""
        return bool(self.excess >= max(least, BEYOND * self.sd))

    def below(self, most: float) -> bool:
        """Whether it is at most so small (below 0), and smaller than chance makes it."""
        return bool(self.excess <= min(most, -BEYOND * self.sd))


def exchanged(
    one: Floats, other: Floats, statistic: Statistic, n_exchanges: int = EXCHANGES
) -> Difference:
    """A statistic of per-stay sums [stays, columns], with where it lies after exchanges."""
    totals, others = one.sum(axis=0), other.sum(axis=0)
    moved = coins(len(one), n_exchanges) @ (other - one)
    null = statistic(totals + moved, others - moved)
    null = null[np.isfinite(null)]
    value = float(statistic(totals, others))
    if not len(null):
        return Difference(value, np.nan, np.nan)
    return Difference(value, float(null.mean()), float(null.std()))


def jackknifed(one: Floats, other: Floats, statistic: Statistic) -> Difference:
    """A statistic of per-stay sums, with its standard error from leaving out each stay."""
    totals, others = one.sum(axis=0), other.sum(axis=0)
    value = float(statistic(totals, others))
    without = statistic(totals - one, others - other)
    if not (np.isfinite(value) and np.isfinite(without).all()):
        return Difference(value, 0.0, np.inf)
    n = len(one)
    sd = float(np.sqrt((n - 1) / n * np.square(without - without.mean()).sum()))
    return Difference(value, 0.0, sd)


def coins(n_stays: int, n_exchanges: int) -> NDArray[np.float64]:
    """[exchanges, stays] of 0 and 1, decided by their number alone."""
    chance = np.random.Generator(np.random.Philox(key=seeds.key("exchange", n_stays)))
    return chance.integers(2, size=(n_exchanges, n_stays), dtype=np.int8).astype(np.float64)


def by_stay(columns: Sequence[NDArray[Any]], stay: NDArray[np.int64], n_stays: int) -> Floats:
    """Columns with a number a row, added up by stay: [stays, columns]."""
    return np.column_stack([np.bincount(stay, weights=one, minlength=n_stays) for one in columns])


def total_variation(one: Floats, other: Floats) -> Floats:
    """Share of events that would have to be others for two histograms to be the same."""
    with np.errstate(invalid="ignore", divide="ignore"):
        p, q = (side / side.sum(axis=-1, keepdims=True) for side in (one, other))
    return np.asarray(np.abs(p - q).sum(axis=-1) / 2)


def log_ratio(one: Floats, other: Floats) -> Floats:
    """ln of one side's first column over its second, less that of the other side."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.log(one[..., 0] / one[..., 1]) - np.log(other[..., 0] / other[..., 1]))
