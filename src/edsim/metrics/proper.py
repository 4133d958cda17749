"""Proper scores: how good a forecast the draws of a launch are of what became of that visit.

Every score reads all draws of a launch as an ensemble and cannot be improved by saying anything but
what one believes. Each needs at least two draws. The *fair* forms are those of the ensemble's
distribution, not of its size: a score does not fall merely because more was drawn.

A draw stopped by the cap has no end. Within the horizon of 24 hours it counts as still present;
without a horizon it counts with the minutes it has, which flatters it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from edsim import seeds
from edsim.metrics.measure import Floats, ScoringFacts
from edsim.tables.rollouts import Ensemble
from edsim.tables.visits import Launches, Suffixes

HORIZON_MINUTES = 24 * 60.0

_AT_A_TIME = 16_384  # launches of which all pairs of draws are held at once


def crps_fair(draws: Floats, observed: Floats) -> Floats:
    """Continuous ranked probability score of ensembles, [launches]; `draws` is [launches, K].

    Mean distance of the draws from the truth, less half the mean distance of two different draws
    (Ferro 2014). 0 is best; it may fall below 0 by chance, as the fair form is unbiased.

    >>> crps_fair(np.array([[1.0, 3.0]]), np.array([2.0])).tolist()
    [0.0]
    """
    k = draws.shape[1]
    ordered = np.sort(draws, axis=1)
    weight = (2.0 * np.arange(k) - (k - 1)) / (k * (k - 1))
    return np.asarray(np.abs(draws - observed[:, None]).mean(axis=1) - ordered @ weight)


def brier_fair(n_yes: Floats, n_draws: int, happened: NDArray[np.bool_]) -> Floats:
    """Squared error of the share of draws that say yes, freed of what few draws add to it."""
    share = n_yes / n_draws
    return np.asarray((share - happened) ** 2 - share * (1 - share) / (n_draws - 1))


def log_score(n_yes: Floats, n_draws: int, happened: NDArray[np.bool_]) -> Floats:
    """Minus the logarithm of the probability that the draws gave to what happened."""
    p = smoothed(n_yes, n_draws)
    return np.asarray(-np.log(np.where(happened, p, 1 - p)))


def smoothed(n_yes: Floats, n_draws: int) -> Floats:
    """The probability that draws stand for: never 0 nor 1, whatever few of them say."""
    return np.asarray((n_yes + 0.5) / (n_draws + 1))


def energy_fair(
    times: Floats, kinds: NDArray[np.int64], time: Floats, kind: NDArray[np.int64]
) -> Floats:
    """Energy score of (time, kind), [launches]; draws are [launches, K], the truth [launches].

    The distance of two outcomes is that of their times and 1 where they differ in kind, which is
    what a one-hot of the kind over the root of two makes of it.
    """
    score = np.empty(len(time))
    k = times.shape[1]
    for begin in range(0, len(time), _AT_A_TIME):
        part = slice(begin, begin + _AT_A_TIME)
        t, d = times[part], kinds[part]
        apart = _distance(t, d, time[part, None], kind[part, None]).mean(axis=1)
        spread = np.zeros(len(t))
        for shift in range(1, k):
            pairs = (t[:, shift:], d[:, shift:], t[:, :-shift], d[:, :-shift])
            spread += _distance(*pairs).sum(axis=1)
        score[part] = apart - spread / (k * (k - 1))
    return score


def _distance(t: Floats, d: NDArray[np.int64], t2: Floats, d2: NDArray[np.int64]) -> Floats:
    return np.asarray(np.sqrt((t - t2) ** 2 + (d != d2)))


def randomised_rank(draws: Floats, observed: Floats, chance: Floats) -> Floats:
    """Where the truth lies among the draws, in [0, 1): uniform where the ensemble is calibrated.

    At ties (most often at the horizon, or at no time left) `chance` in [0, 1) chooses the place.
    """
    below = (draws < observed[:, None]).sum(axis=1)
    ties = (draws == observed[:, None]).sum(axis=1)
    return np.asarray((below + chance * (ties + 1)) / (draws.shape[1] + 1))


def launch_chance(launches: Launches, purpose: str) -> Floats:
    """A number in [0, 1) for each launch, the same in whatever order launches come."""
    base = seeds.mix(launches[:, 0].astype(np.uint64) ^ np.uint64(seeds.key(purpose, 0)))
    return seeds.uniform(seeds.combine(base, launches[:, 1]))


def remaining_within_horizon(ensemble: Ensemble) -> tuple[Floats, Floats]:
    """Remaining minutes of the draws and of the truth, at most 24 hours; a capped draw is 24."""
    return (
        np.minimum(ensemble.remaining_minutes(), HORIZON_MINUTES),
        np.minimum(ensemble.observed.total_minutes(), HORIZON_MINUTES),
    )


def last_discharge(events: Suffixes, facts: ScoringFacts) -> NDArray[np.int64]:
    """The last discharge token of each row; -1, a kind of its own, where it has none."""
    found = np.full(len(events), -1, dtype=np.int64)
    at = np.flatnonzero(np.isin(events.tokens, facts.discharges))
    row = np.searchsorted(events.offsets, at, side="right") - 1
    found[row] = events.tokens[at]  # in order, so that the last one of a row stays
    return found
