"""How many are there at every hour, and how well the draws of a simulator foretell it.

Arrivals are given: every stay is there from its arrival to its end, and a simulator only says when
that is. Draws are whole worlds: draw k of every stay together is one census.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from edsim import seeds
from edsim.metrics.measure import Floats
from edsim.metrics.proper import brier_fair, crps_fair

LOW, HIGH = 0.05, 0.95
HOURS_A_DAY = 24
RESAMPLES = 1_000

Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Foretold:
    """A census in truth [hours] and in draws [draws, hours], and the hours that count."""

    observed: Counts
    drawn: Counts
    counts: NDArray[np.bool_]
    """[hours]: not in the warm-up."""


def present_at_hours(arrival: Floats, end: Floats, n_hours: int) -> Counts:
    """Who is there at hours 0, 1, ... of a period: [draws, hours] from ends [stays, draws].

    Both in hours since the period began. There from arrival on, no longer there at the end. An end
    that is infinite lies beyond the period.
    """
    begins = np.clip(np.ceil(arrival), 0, n_hours).astype(np.int64)[:, None]
    ends = np.clip(np.ceil(end), begins, n_hours).astype(np.int64)
    draws = end.shape[1]
    place = np.arange(draws) * (n_hours + 1)
    changes = np.bincount((begins + place).ravel(), minlength=draws * (n_hours + 1))
    changes -= np.bincount((ends + place).ravel(), minlength=draws * (n_hours + 1))
    return np.asarray(np.cumsum(changes.reshape(draws, n_hours + 1), axis=1)[:, :n_hours])


def hourly_crps(one: Foretold) -> Floats:
    """Fair CRPS of each hour's ensemble, in patients."""
    return crps_fair(one.drawn.T.astype(np.float64), one.observed.astype(np.float64))


def mean_crps(one: Foretold) -> tuple[float, float, float]:
    """Mean over the hours that count, with an interval over resampled days; nan without hours.

    Neighbouring hours share their patients, so that whole days are drawn again.
    """
    crps = hourly_crps(one)
    day = np.arange(len(crps)) // HOURS_A_DAY
    n = np.bincount(day, weights=one.counts)
    total = np.bincount(day, weights=crps * one.counts)
    total, n = total[n > 0], n[n > 0]
    if not len(n):
        return float("nan"), float("nan"), float("nan")
    chance = np.random.Generator(np.random.Philox(key=seeds.key("census days", 0)))
    drawn = chance.integers(len(n), size=(RESAMPLES, len(n)))
    low, high = np.quantile(total[drawn].sum(axis=1) / n[drawn].sum(axis=1), (0.025, 0.975))
    return float(total.sum() / n.sum()), float(low), float(high)


def bias(one: Foretold) -> float:
    """Mean of the draws less the truth, in patients: above 0 too many are said to be there."""
    return _mean(one.drawn.mean(axis=0) - one.observed, one.counts)


def share_within(one: Foretold) -> float:
    """Share of hours whose truth lies within the 5th to 95th percentile of the draws."""
    low, high = np.quantile(one.drawn, (LOW, HIGH), axis=0)
    return _mean((one.observed >= low) & (one.observed <= high), one.counts)


def exceed_share(one: Foretold, beds: int) -> Floats:
    """Share of draws with more patients than beds, by hour."""
    return np.asarray((one.drawn > beds).mean(axis=0))


def exceed_brier(one: Foretold, beds: int) -> float:
    """Fair Brier score of that share, mean over the hours that count."""
    n_yes = (one.drawn > beds).sum(axis=0).astype(np.float64)
    return _mean(brier_fair(n_yes, len(one.drawn), one.observed > beds), one.counts)


def _mean(values: NDArray[np.generic], counts: NDArray[np.bool_]) -> float:
    return float(values[counts].astype(np.float64).mean()) if counts.any() else float("nan")
