"""The proper scores and calibration curves as measures: sums of a launch, and what they come to.

With one draw a launch none of them is defined, and each is null with the reason.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from edsim.metrics.measure import Floats, Measure, ScoringFacts
from edsim.metrics.occupancy import HOURS
from edsim.metrics.proper import (
    brier_fair,
    crps_fair,
    energy_fair,
    last_discharge,
    launch_chance,
    log_score,
    randomised_rank,
    remaining_within_horizon,
    smoothed,
)
from edsim.tables.rollouts import Ensemble

N_BINS = 10
"""Bins of the PIT histogram and of forecast probabilities."""
NEEDS_DRAWS = "needs at least two draws of each launch (edsim rollout --draws)"


def _counted(scores: Floats) -> Floats:
    """[launches, scores and a column that counts]."""
    return np.column_stack([scores, np.ones(len(scores))])


def _nothing(ensemble: Ensemble, columns: int) -> Floats:
    return np.zeros((len(ensemble.launches), columns))


def _means(totals: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(totals[..., :-1] / totals[..., -1:])


def _mean(totals: Floats) -> Floats:
    return np.asarray(_means(totals)[..., 0])


def _crps(ensemble: Ensemble, facts: ScoringFacts) -> Floats:
    if ensemble.draws < 2:
        return _nothing(ensemble, 2)
    return _counted(crps_fair(*remaining_within_horizon(ensemble)))


def _crps_unbounded(ensemble: Ensemble, facts: ScoringFacts) -> Floats:
    if ensemble.draws < 2:
        return _nothing(ensemble, 2)
    draws = ensemble.generated.total_minutes().reshape(-1, ensemble.draws)
    return _counted(crps_fair(draws, ensemble.observed.total_minutes()))


def _presence(ensemble: Ensemble, hours: float) -> tuple[Floats, NDArray[np.bool_]]:
    """How many draws are still present after some hours, and whether the visit was."""
    stay_on = ensemble.remaining_minutes() > 60 * hours
    return stay_on.sum(axis=1).astype(np.float64), ensemble.observed.total_minutes() > 60 * hours


def _brier(ensemble: Ensemble, facts: ScoringFacts) -> Floats:
    if ensemble.draws < 2:
        return _nothing(ensemble, len(HOURS) + 1)
    scores = []
    for h in HOURS:
        n_present, present = _presence(ensemble, h)
        scores.append(brier_fair(n_present, ensemble.draws, present))
    return _counted(np.column_stack(scores))


def _log_score(ensemble: Ensemble, facts: ScoringFacts) -> Floats:
    if ensemble.draws < 2:
        return _nothing(ensemble, len(HOURS) + 1)
    scores = []
    for h in HOURS:
        n_present, present = _presence(ensemble, h)
        scores.append(log_score(n_present, ensemble.draws, present))
    return _counted(np.column_stack(scores))


def _energy(ensemble: Ensemble, facts: ScoringFacts) -> Floats:
    if ensemble.draws < 2 or not facts.discharges:
        return _nothing(ensemble, 2)
    draws, observed = remaining_within_horizon(ensemble)
    return _counted(
        energy_fair(
            np.log1p(draws) / facts.log_remaining_sd,
            last_discharge(ensemble.generated, facts).reshape(-1, ensemble.draws),
            np.log1p(observed) / facts.log_remaining_sd,
            last_discharge(ensemble.observed, facts),
        )
    )


def _pit(ensemble: Ensemble, facts: ScoringFacts) -> Floats:
    if ensemble.draws < 2:
        return _nothing(ensemble, N_BINS + 1)
    draws, observed = remaining_within_horizon(ensemble)
    rank = randomised_rank(draws, observed, launch_chance(ensemble.launches, "pit"))
    bins = np.minimum((rank * N_BINS).astype(np.int64), N_BINS - 1)
    return _counted(np.eye(N_BINS)[bins])


def _density(totals: Floats) -> Floats:
    return _means(totals) * N_BINS


@dataclass(frozen=True, slots=True)
class _Reliability:
    """P(discharged within some hours) by bins of what was said: how often it came true."""

    hours: float

    def __call__(self, ensemble: Ensemble, facts: ScoringFacts) -> Floats:
        if ensemble.draws < 2:
            return _nothing(ensemble, 3 * N_BINS)
        n_present, present = _presence(ensemble, self.hours)
        said = smoothed(ensemble.draws - n_present, ensemble.draws)
        chosen = np.eye(N_BINS)[np.minimum((said * N_BINS).astype(np.int64), N_BINS - 1)]
        return np.hstack([chosen, chosen * said[:, None], chosen * ~present[:, None]])


def _came_true(totals: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(totals[..., 2 * N_BINS :] / totals[..., :N_BINS])


def _was_said(totals: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(totals[..., N_BINS : 2 * N_BINS] / totals[..., :N_BINS])


def _ones(totals: Floats) -> Floats:
    return np.ones((*totals.shape[:-1], N_BINS))


def _in_bins(n_columns: int) -> NDArray[np.int64]:
    """The columns that count the launches of each bin."""
    return np.arange(N_BINS)[:, None]


def _truths_in_bins(n_columns: int) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Of which launches of each bin it came true."""
    return [(np.array([2 * N_BINS + k]), np.array([k])) for k in range(N_BINS)]


_EDGES = tuple(i / N_BINS for i in range(N_BINS))
_HOURS = tuple(float(h) for h in HOURS)

MEASURES: tuple[Measure, ...] = (
    Measure(
        name="crps",
        title="CRPS",
        sums=_crps,
        value=_mean,
        reads="all draws",
        paired=True,
        unit="min",
        undefined=NEEDS_DRAWS,
    ),
    Measure(
        name="crps_unbounded",
        title="CRPS without horizon (optimistic)",
        sums=_crps_unbounded,
        value=_mean,
        reads="all draws",
        paired=True,
        unit="min",
        undefined=NEEDS_DRAWS,
    ),
    Measure(
        name="brier",
        title="Brier score of presence",
        sums=_brier,
        value=_means,
        at=_HOURS,
        reads="all draws",
        paired=True,
        undefined=NEEDS_DRAWS,
    ),
    Measure(
        name="log_score",
        title="Log score of presence",
        sums=_log_score,
        value=_means,
        at=_HOURS,
        reads="all draws",
        paired=True,
        unit="nats",
        undefined=NEEDS_DRAWS,
    ),
    Measure(
        name="energy_score",
        title="Energy score",
        sums=_energy,
        value=_mean,
        reads="all draws",
        paired=True,
        undefined="the vocabulary names no discharge token",
    ),
    Measure(
        name="pit",
        title="PIT density",
        sums=_pit,
        value=_density,
        at=_EDGES,
        target=_ones,
        loss="distance",
        reads="all draws",
        support=_in_bins,
        adds_up=True,
        undefined=NEEDS_DRAWS,
    ),
    *(
        Measure(
            name="reliability",
            group=f"h={h}",
            title="Discharged in time, where so said",
            sums=_Reliability(h),
            value=_came_true,
            at=_EDGES,
            target=_was_said,
            loss="distance",
            reads="all draws",
            support=_in_bins,
            cells=_truths_in_bins,
            undefined="no launch has a forecast in this bin",
        )
        for h in HOURS
    ),
)
