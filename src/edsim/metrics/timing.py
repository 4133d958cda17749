"""How long the rest of a visit takes, generated beside observed. Minutes everywhere."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from edsim.metrics.measure import Floats, Measure, ScoringFacts, SparseSums, share
from edsim.tables.rollouts import Scored

LATE = 0.75
"""From this share of a visit's events on, a launch is late."""


def duration_ratio(scored: Scored, rows: NDArray[np.bool_] | None = None) -> float:
    """Mean generated over mean observed remaining minutes, on terminated rows.

    R_dur of the paper's section on metrics. 1 is calibrated; below 1, simulated visits are too
    short. A capped row has no end of its own and is left out, so two models are comparable only
    on launches where both terminate: give these as `rows`. nan when no row terminated, or when
    nothing remained of any.
    """
    generated, observed = mean_remaining_minutes(scored, rows)
    return generated / observed if observed > 0 else float("nan")


def mean_remaining_minutes(
    scored: Scored, rows: NDArray[np.bool_] | None = None
) -> tuple[float, float]:
    """Mean remaining minutes, generated and observed, on terminated rows (among `rows`).

    Their quotient is the duration ratio. nan, nan when no row terminated.
    """
    chosen = scored.terminated if rows is None else scored.terminated & rows
    if not chosen.any():
        return float("nan"), float("nan")
    generated = scored.generated.total_minutes()[chosen]
    observed = scored.observed.total_minutes()[chosen]
    return float(generated.mean()), float(observed.mean())


def remaining_minutes(scored: Scored) -> NDArray[np.float64]:
    """Generated minutes from the launch to the end of each row, infinite for a capped one."""
    return np.where(scored.terminated, scored.generated.total_minutes(), np.inf)


def _minutes(scored: Scored, facts: ScoringFacts) -> Floats:
    """[rows, 3]: generated and observed remaining minutes and one, on terminated rows."""
    ended = scored.terminated
    columns = [
        scored.generated.total_minutes(),
        scored.observed.total_minutes(),
        np.ones(len(ended)),
    ]
    return np.stack(columns, axis=1) * ended[:, None]


def _errors(scored: Scored, facts: ScoringFacts, *, capped: bool) -> Floats:
    """[rows, 2]: absolute error of the remaining minutes and one; a capped row, where it counts,
    with the minutes it has."""
    counts = np.ones(len(scored.generated)) if capped else scored.terminated.astype(np.float64)
    error = np.abs(scored.generated.total_minutes() - scored.observed.total_minutes())
    return np.stack([error * counts, counts], axis=1)


def _ranks(scored: Scored, facts: ScoringFacts, *, capped: bool) -> Floats:
    """[rows, 6]: one, both ranks, their squares and their product, ranks between -1/2 and 1/2.

    Ranks are those among all rows that count, and stay as they are when stays are drawn again.
    """
    counts = np.ones(len(scored.generated), bool) if capped else scored.terminated
    x, y = np.zeros(len(counts)), np.zeros(len(counts))
    x[counts] = centred_ranks(scored.generated.total_minutes()[counts])
    y[counts] = centred_ranks(scored.observed.total_minutes()[counts])
    return np.stack([counts.astype(np.float64), x, y, x * x, y * y, x * y], axis=1)


def centred_ranks(values: Floats) -> Floats:
    """Ranks, the mean of the ranks where values are equal, moved and scaled to lie around 0."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - (counts + 1) / 2
    return np.asarray((middle - (len(values) - 1) / 2) / max(len(values), 1))[place]


def _correlation(totals: Floats) -> Floats:
    """Pearson's correlation of the ranks; nan where one side has one value only."""
    n, x, y, xx, yy, xy = np.moveaxis(totals, -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = (xx - x * x / n) * (yy - y * y / n)
        flat = ~(spread > 1e-12 * n * n)
        return np.where(flat, np.nan, (xy - x * y / n) / np.sqrt(spread))


_GRID = np.linspace(0.0, np.log1p(60.0 * 24 * 365), 2049)
"""Edges on which distributions of ln(1 + minutes) are compared, up to a year."""


def _log_minutes(scored: Scored, facts: ScoringFacts, *, late: bool) -> SparseSums:
    """[rows, 2 x bins]: the bin of ln(1 + remaining minutes), both sides, on terminated rows."""
    counts = scored.terminated & (completion(scored) >= LATE if late else True)
    row = np.flatnonzero(counts)
    bins = [
        np.searchsorted(_GRID, np.log1p(side.total_minutes()[row]), side="right") - 1
        for side in (scored.generated, scored.observed)
    ]
    n = len(_GRID)
    columns = np.concatenate([np.minimum(bins[0], n - 1), n + np.minimum(bins[1], n - 1)])
    return SparseSums(np.tile(row, 2), columns, np.ones(2 * len(row)), (len(counts), 2 * n))


def _wasserstein(totals: Floats) -> Floats:
    """Area between the two cumulative distributions; nan where one is of nothing."""
    n = len(_GRID)
    sides = [share(side, side.sum(axis=-1, keepdims=True)) for side in np.split(totals, [n], -1)]
    apart = np.abs(np.cumsum(sides[0] - sides[1], axis=-1))[..., :-1]
    return np.asarray((apart * np.diff(_GRID)).sum(axis=-1))


def completion(scored: Scored) -> Floats:
    """How much of its visit a launch has behind it, in events: known only afterwards."""
    before = scored.launches[:, 1].astype(np.float64)
    return np.asarray(before / (before + scored.observed.lengths() - 1))


def _counted_in(*columns: int) -> Callable[[int], list[NDArray[np.int64]]]:
    """The columns that count the rows behind a number."""
    return lambda n_columns: [np.array(columns)]


_NO_END = "no rollout ended"


def _error(name: str, title: str, capped: bool) -> Measure:
    return Measure(
        name=name,
        title=title,
        sums=partial(_errors, capped=capped),
        value=lambda totals: share(totals[..., 0], totals[..., 1]),
        support=_counted_in(1),
        paired=True,
        ended_only=not capped,
        unit="min",
        undefined=_NO_END,
    )


def _rank(name: str, title: str, capped: bool) -> Measure:
    return Measure(
        name=name,
        title=title,
        sums=partial(_ranks, capped=capped),
        value=_correlation,
        support=_counted_in(0),
        loss="below_one",
        paired=True,
        ended_only=not capped,
        undefined="no rollout ended, or all remaining durations of a side are equal",
    )


def _distance(name: str, title: str, late: bool) -> Measure:
    return Measure(
        name=name,
        title=title,
        sums=partial(_log_minutes, late=late),
        value=_wasserstein,
        support=lambda n_columns: [np.arange(n_columns // 2, n_columns)],
        interval="distance",
        ended_only=True,
        on_outcome=late,
        unit="ln min",
        undefined="no late launch has a rollout that ended" if late else _NO_END,
    )


MEASURES = (
    Measure(
        name="duration_ratio",
        title="Duration ratio",
        sums=_minutes,
        value=lambda totals: share(totals[..., 0], totals[..., 1]),
        support=_counted_in(2),
        loss="log_ratio",
        ended_only=True,
        undefined="no rollout ended, or nothing remained of those that did",
    ),
    Measure(
        name="remaining_minutes",
        title="Remaining minutes",
        sums=_minutes,
        value=lambda totals: share(totals[..., 0], totals[..., 2]),
        target=lambda totals: share(totals[..., 1], totals[..., 2]),
        support=_counted_in(2),
        loss="distance",
        ended_only=True,
        unit="min",
        undefined=_NO_END,
    ),
    _error("los_mae", "Remaining LOS error", False),
    _error("los_mae_with_capped", "Remaining LOS error, capped too", True),
    _rank("los_rank_correlation", "Remaining LOS rank correlation", False),
    _rank("los_rank_correlation_with_capped", "Rank correlation, capped too", True),
    _distance("los_w1", "W1 of remaining LOS", False),
    _distance("late_w1", "W1 of remaining LOS, late launches", True),
)
