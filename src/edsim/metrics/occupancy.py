"""Who is still there some hours after the launch: the forecast a bed manager would ask for."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from edsim.metrics.measure import Floats, Measure, ScoringFacts, share
from edsim.metrics.timing import remaining_minutes
from edsim.tables.rollouts import Scored

HOURS = (1, 2, 4, 8, 12)
"""The horizons of the paper's appendix on occupancy."""


def occupancy_error(scored: Scored, hours: Sequence[float] = HOURS) -> NDArray[np.float64]:
    """Share present by simulation minus share present in truth, percentage points, [hours].

    Present at h hours: the remaining duration exceeds h. Above 0, too many are still there. The end
    of a capped row is not known, and it counts as present at every horizon, so that not ending is
    costly and never hidden. nan without rows.
    """
    if not len(scored.generated):
        return np.full(len(hours), np.nan)
    generated, observed = remaining_minutes(scored), scored.observed.total_minutes()
    return np.array(
        [100.0 * ((generated > 60 * h).mean() - (observed > 60 * h).mean()) for h in hours]
    )


def occupancy_mae(scored: Scored, hours: Sequence[float] = HOURS) -> float:
    """Mean over the horizons of the absolute error, percentage points: 0 is best."""
    return float(np.abs(occupancy_error(scored, hours)).mean())


def _present(scored: Scored, facts: ScoringFacts) -> Floats:
    """[rows, 1 + 2 x hours]: one; present by simulation; present in truth."""
    hours = 60.0 * np.array(HOURS)
    sides = [remaining_minutes(scored), scored.observed.total_minutes()]
    there = [side[:, None] > hours for side in sides]
    return np.hstack([np.ones((len(sides[0]), 1)), *there]).astype(np.float64)


def _percent(totals: Floats, side: int) -> Floats:
    first = 1 + side * len(HOURS)
    return 100.0 * share(totals[..., first : first + len(HOURS)], totals[..., :1])


def _errors(totals: Floats) -> Floats:
    return _percent(totals, 0) - _percent(totals, 1)


def _support(n_columns: int) -> list[NDArray[np.int64]]:
    """The columns of who is there in truth."""
    return [np.array([column]) for column in range(n_columns - len(HOURS), n_columns)]


def _cells(n_columns: int) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Who is there in truth, among all."""
    return [(there, np.array([0])) for there in _support(n_columns)]


_EMPTY = "there are no rollouts"

MEASURES = (
    Measure(
        name="occupancy_mae",
        title="Occupancy error",
        sums=_present,
        value=lambda totals: np.asarray(np.abs(_errors(totals)).mean(axis=-1)),
        interval="distance",
        unit="pp",
        undefined=_EMPTY,
    ),
    Measure(
        name="occupancy_error",
        title="Occupancy error by hour",
        sums=_present,
        value=_errors,
        at=HOURS,
        loss="distance",
        unit="pp",
        support=_support,
        cells=_cells,
        undefined=_EMPTY,
    ),
    Measure(
        name="occupancy_generated",
        title="Present by simulation",
        sums=_present,
        value=lambda totals: _percent(totals, 0),
        target=lambda totals: _percent(totals, 1),
        at=HOURS,
        loss="distance",
        unit="%",
        support=_support,
        cells=_cells,
        undefined=_EMPTY,
    ),
    Measure(
        name="occupancy_observed",
        title="Present in truth",
        sums=_present,
        value=lambda totals: _percent(totals, 1),
        at=HOURS,
        loss="none",
        unit="%",
        support=_support,
        cells=_cells,
        undefined=_EMPTY,
    ),
)
