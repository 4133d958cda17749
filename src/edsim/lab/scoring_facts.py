"""What measures may know of a cohort beside the rows: all of it fitted on the training split."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from edsim.lab.cohort import Cohort
from edsim.metrics.features import on_lattice
from edsim.metrics.measure import ScoringFacts
from edsim.tables.visits import SPLITS, Visits

LATTICES = (1440.0, 60.0, 1.0, 1.0 / 60.0)
"""Time lattices in minutes that are tried in turn: days, hours, minutes, seconds."""
ON_LATTICE = 0.95
HORIZON_MINUTES = 24 * 60.0


def scoring_facts(cohort: Cohort, vocabulary: str) -> ScoringFacts:
    """Token names, discharges, the record's time lattice and the spread of remaining durations."""
    resolved = cohort.vocabulary(vocabulary)
    visits = cohort.visits(vocabulary)
    assert visits.split is not None
    trains = np.repeat(visits.split == SPLITS.index("train"), np.diff(visits.offsets))
    return ScoringFacts(
        tokens=resolved.tokens,
        discharges=resolved.discharges,
        lattice=find_lattice(visits.minutes[trains]),
        log_remaining_sd=_log_remaining_sd(visits, trains),
    )


def find_lattice(gaps: NDArray[np.float32]) -> float:
    """The coarsest lattice that nearly all gaps above 0 lie on, in minutes; else one of minutes."""
    positive = gaps[gaps > 0]
    if not len(positive):
        return 1.0
    return next((t for t in LATTICES if on_lattice(positive, t).mean() >= ON_LATTICE), 1.0)


def _log_remaining_sd(visits: Visits, trains: NDArray[np.bool_]) -> float:
    """Of ln(1 + min(remaining minutes, 24 h)) over the training launches; 1 where there is none."""
    elapsed = np.cumsum(visits.minutes, dtype=np.float64)
    lengths = np.diff(visits.offsets)
    remaining = np.repeat(elapsed[visits.offsets[1:] - 1], lengths) - elapsed
    is_launch = trains.copy()
    is_launch[visits.offsets[1:] - 1] = False  # nothing is launched after END
    some = np.clip(remaining[is_launch], 0.0, HORIZON_MINUTES)
    sd = float(np.log1p(some).std()) if len(some) else 1.0
    return sd if sd > 0 else 1.0
