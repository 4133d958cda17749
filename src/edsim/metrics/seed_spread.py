"""Two recipes over their training seeds: is the difference larger than what seeds make of one?

A trained model is one draw of its recipe. The seeds are the sample here (Welch's t); resampled
stays only say how much of the spread between seeds is noise of the measurement.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from edsim.metrics.comparison_words import sentence_of_seeds
from edsim.metrics.figures import Figures, figures_of
from edsim.metrics.measure import Floats, Measure
from edsim.metrics.paired import LEVEL, Field, why_none
from edsim.metrics.resampling import resample_weights, stays_of
from edsim.metrics.score_rows import ONE_DRAW
from edsim.metrics.small_cells import SMALL
from edsim.tables.comparisons import SeedRow

FEWEST_SEEDS = 3
MOST_SEEDS = 1_000
POWER = 0.8
NEVER_ALL = "there is no launch on which the rollouts of every seed ended"


def compared_seeds(
    field: Field, n_a: int, measures: Sequence[Measure], *, n_resamples: int
) -> list[SeedRow]:
    """The rows of two recipes; the first `n_a` tables of the field are the seeds of A."""
    ended = field.where_all_end()
    rows: list[SeedRow] = []
    for measure in measures:
        of = ended if measure.ended_only else field
        rows += _rows(of, n_a, measure, n_resamples)
    return rows


def _rows(field: Field, n_a: int, measure: Measure, n_resamples: int) -> list[SeedRow]:
    empty = SeedRow(metric=measure.name, group=measure.group)
    if field.too_small():
        return [replace(empty, note=SMALL)]
    if not field.n_launches:
        return [replace(empty, note=NEVER_ALL)]
    sums = field.sums(measure)
    if sums is None:
        return [replace(empty, note=ONE_DRAW)]
    stays, _ = stays_of(field.tables[0].first.launches)
    weights = resample_weights(len(stays), n_resamples)
    figures = [figures_of(measure, one, weights) for one in sums]
    hidden = field.hidden(measure, sums)
    rows = [
        replace(empty, **label, note=SMALL)
        if hidden[k]
        else _row(replace(empty, **label), measure, figures[:n_a], figures[n_a:], k)
        for k, label in enumerate(measure.labels(field.facts))
    ]
    return [
        row
        if row.difference is None
        else replace(row, sentence=sentence_of_seeds(row, measure, field.names))
        for row in rows
    ]


def _row(
    empty: SeedRow,
    measure: Measure,
    a: Sequence[Figures],
    b: Sequence[Figures],
    k: int,
) -> SeedRow:
    losses = [np.array([one.losses[k] for one in side]) for side in (a, b)]
    if not all(np.isfinite(side).all() for side in losses):
        why = why_none(measure, [*a, *b], k)
        told = measure.loss == "none"
        return replace(empty, note=why if told else f"not defined for every seed: {why}")
    between = [float(side.std(ddof=1)) for side in losses]
    difference = float(losses[0].mean() - losses[1].mean())
    low, high, p_value = welch(losses[0], losses[1])
    right = float(a[0].targets[k])
    return replace(
        empty,
        a=float(np.mean([one.values[k] for one in a])),
        b=float(np.mean([one.values[k] for one in b])),
        target=right if measure.better == "target" and np.isfinite(right) else None,
        difference=difference,
        low=low,
        high=high,
        p_value=p_value,
        between_a=between[0],
        between_b=between[1],
        within_a=_within(a, k),
        within_b=_within(b, k),
        seeds_needed=seeds_needed(difference, between[0], between[1]),
        better="" if p_value >= LEVEL else "a" if difference < 0 else "b",
    )


def _within(side: Sequence[Figures], k: int) -> float | None:
    """Standard deviation of a seed's loss over resampled stays, the root mean square over seeds."""
    spread = np.array([np.nanvar(one.losses_again[:, k], ddof=1) for one in side])
    return float(np.sqrt(spread.mean())) if np.isfinite(spread).all() else None


def welch(a: Floats, b: Floats) -> tuple[float, float, float]:
    """95 % interval of the difference of means, and the p-value of there being none."""
    from scipy.stats import t

    parts = [side.var(ddof=1) / len(side) for side in (a, b)]
    error = float(np.sqrt(sum(parts)))
    difference = float(a.mean() - b.mean())
    if error == 0:
        return difference, difference, 1.0 if difference == 0 else 0.0
    degrees = sum(parts) ** 2 / sum(
        part**2 / (len(side) - 1) for part, side in zip(parts, (a, b), strict=True)
    )
    half = float(t.ppf(0.975, degrees)) * error
    p_value = float(2 * t.sf(abs(difference) / error, degrees))
    return difference - half, difference + half, p_value


def seeds_needed(difference: float, between_a: float, between_b: float) -> int | None:
    """Fewest seeds a side that find the difference four times in five; None beyond a thousand."""
    from scipy.stats import t

    seeds = np.arange(2, MOST_SEEDS + 1)
    error = np.sqrt((between_a**2 + between_b**2) / seeds)
    needed = (t.ppf(0.975, 2 * seeds - 2) + t.ppf(POWER, 2 * seeds - 2)) * error
    enough = np.flatnonzero(needed <= abs(difference))
    return int(seeds[enough[0]]) if difference and len(enough) else None
