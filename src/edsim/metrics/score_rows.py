"""Score rows of some launches: value, interval, floor, reference and position of each measure.

Which yardsticks count as a floor: the oracle where the process is known, else what resampling adds
to the loss, which is the measure's own noise. None where launches were selected on the outcome, nor
where a measure pairs a launch with its own truth: there no simulator can reach 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from edsim.metrics.figures import Figures, Group, TableSums
from edsim.metrics.measure import Floats, Measure, share
from edsim.metrics.registry import MULTIPLES
from edsim.metrics.small_cells import SMALL, hidden_numbers, people
from edsim.privacy import small
from edsim.tables.scores import ScoreRow

QUANTILES = (0.025, 0.975)
ONE_DRAW = "needs at least two draws of each launch"
ZERO_REFERENCE = "the order-3 model's divergence is 0 or not defined"
PAIRED = "paired with its own truth: no simulator can reach 0"
ZERO_SPREAD = "no other stays can be drawn from these few"
ZERO_RATIO = "the ratio is 0, so its logarithm is not defined"
ON_OUTCOME = "selected on the outcome: no simulator can reach 0"


def group_rows(group: Group, measures: Sequence[Measure]) -> list[ScoreRow]:
    """The rows of some measures, and of the multiples of the reference that belong to them."""
    if group.hidden or (group.restricted and small(group.counts["n_subjects"])):
        return [_empty(group, measure, SMALL, hidden=True) for measure in measures]
    table = TableSums(group.table, group)
    reference = None if group.reference is None else TableSums(group.reference, group)
    oracle = None if group.oracle is None else TableSums(group.oracle, group)
    multiple_of = {measure: name for name, measure in MULTIPLES.items()}
    rows: list[ScoreRow] = []
    for measure in measures:
        ours = table.figures(measure, again=True)
        if ours is None:
            rows.append(_empty(group, measure, ONE_DRAW))
            continue
        has_multiple = measure.name in multiple_of
        theirs = None if reference is None else reference.figures(measure, again=has_multiple)
        best = None if oracle is None else oracle.figures(measure, again=False)
        made = _rows(group, measure, ours, theirs, best)
        rows += made
        if has_multiple:
            rows.append(_multiple(group, made[0], multiple_of[measure.name], ours, theirs))
    return rows


def _rows(
    group: Group, measure: Measure, ours: Figures, theirs: Figures | None, best: Figures | None
) -> list[ScoreRow]:
    labels = measure.labels(group.facts)
    of = measure, ours.sums, group.subject_of_stay, len(labels)
    n_subjects = people(*of)
    hidden = hidden_numbers(*of) if group.restricted else [False] * len(labels)
    return [
        replace(_empty(group, measure, SMALL, hidden=True), **label)
        if hidden[k]
        else replace(_row(group, measure, ours, theirs, best, k), **label, n_subjects=n_subjects[k])
        for k, label in enumerate(labels)
    ]


def _row(
    group: Group,
    measure: Measure,
    ours: Figures,
    theirs: Figures | None,
    best: Figures | None,
    k: int,
) -> ScoreRow:
    if not np.isfinite(ours.values[k]):
        return replace(_empty(group, measure, measure.undefined), target=_target(measure, ours, k))
    corrected, low, high = _interval(group, measure, ours, k)
    floor, floor_kind, note = _floor(group, measure, ours, best, k)
    loss = _number(ours.losses[k])
    notes = [
        ZERO_SPREAD if group.n_stays < 2 else "",
        ZERO_RATIO if measure.loss == "log_ratio" and loss is None else "",
        note,
    ]
    beside = None if theirs is None else _number(theirs.losses[k])
    return replace(
        _empty(group, measure, "; ".join(one for one in notes if one)),
        value=float(ours.values[k]),
        corrected=corrected,
        bias=None if corrected is None else _number(ours.bias[k]),
        low=low,
        high=high,
        floor=floor,
        floor_kind=floor_kind,
        reference=None if theirs is None else _number(theirs.values[k]),
        loss=loss,
        excess=None if loss is None or floor is None else loss - floor,
        position=_position(loss, floor, beside),
        target=_target(measure, ours, k),
    )


def _interval(
    group: Group, measure: Measure, ours: Figures, k: int
) -> tuple[float | None, float | None, float | None]:
    """Corrected value and interval; quantiles move by twice the bias where noise biases upwards.

    None of a single stay, which can only be drawn again.
    """
    if group.n_stays < 2:
        return None, None, None
    low, high = _quantiles(ours.values_again[:, k])
    if measure.interval == "percentile":
        return None, low, high
    power = 2 if measure.interval == "distance" else 1
    again, once = ours.values_again[:, k] ** power, float(ours.values[k]) ** power
    bias = float(again[np.isfinite(again)].mean()) - once if np.isfinite(again).any() else math.nan
    if low is None or high is None or not math.isfinite(bias):
        return None, None, None
    corrected, low, high = (
        max(value, 0.0) ** (1 / power)
        for value in (once - bias, low**power - 2 * bias, high**power - 2 * bias)
    )
    return corrected, low, high


def _quantiles(again: Floats) -> tuple[float | None, float | None]:
    """None where there is nothing to draw again, or where it is mostly undefined."""
    defined = again[np.isfinite(again)]
    if len(defined) < max(len(again) / 2, 2):
        return None, None
    low, high = np.quantile(defined, QUANTILES)
    return float(low), float(high)


def _floor(
    group: Group, measure: Measure, ours: Figures, best: Figures | None, k: int
) -> tuple[float | None, str, str]:
    """The floor, where it comes from, and where there is none, why."""
    if measure.loss == "none":
        return None, "", ""
    if group.on_outcome or measure.on_outcome:
        return None, "", ON_OUTCOME
    if measure.paired:
        return None, "", PAIRED
    if best is not None:
        return _number(best.losses[k]), "oracle", ""
    if group.n_stays < 2:
        return None, "", ""
    return _number(ours.own_noise[k]), "bootstrap bias", ""


def _position(loss: float | None, floor: float | None, beside: float | None) -> float | None:
    """0 at the floor, 1 at the order-3 model; None where the model itself is at the floor."""
    if loss is None or floor is None or beside is None or beside <= floor:
        return None
    return (loss - floor) / (beside - floor)


def _target(measure: Measure, ours: Figures, k: int) -> str:
    if measure.better != "target":
        return measure.better
    right = ours.targets[k]
    return f"{right:.6g}" if np.isfinite(right) else ""


def _multiple(
    group: Group, row: ScoreRow, name: str, ours: Figures, theirs: Figures | None
) -> ScoreRow:
    """xF: the row of a divergence over the order-3 model's, both under the same resamples."""
    empty = replace(row, metric=name, value=None, corrected=None, low=None, high=None, floor=None)
    empty = replace(empty, reference=None, loss=None, position=None, unit="times")
    empty = replace(empty, bias=None, excess=None)
    if row.value is None or theirs is None or not theirs.values[0] > 0:
        beside = group.no_reference if theirs is None else ZERO_REFERENCE
        return replace(empty, floor_kind="", note=row.note if row.value is None else beside)
    once = float(theirs.values[0])
    mine, beside = (
        np.maximum(side.values_again[:, 0] - 2 * side.bias[0], 0.0) for side in (ours, theirs)
    )
    low, high = (None, None) if row.low is None else _quantiles(share(mine, beside))
    less = float(max(theirs.values[0] - theirs.bias[0], 0.0))
    corrected = None if row.corrected is None or not less > 0 else row.corrected / less
    return replace(
        empty,
        value=row.value / once,
        corrected=corrected,
        low=low,
        high=high,
        floor=None if row.floor is None else row.floor / once,
        reference=1.0,
        loss=row.value / once,
        excess=None if row.excess is None else row.excess / once,
        position=row.position,
    )


def _empty(group: Group, measure: Measure, note: str, *, hidden: bool = False) -> ScoreRow:
    counts = dict.fromkeys(group.counts, 0) if hidden else group.counts
    return ScoreRow(
        metric=measure.name,
        population=group.population,
        group=group.group or measure.group,
        value=None,
        unit=measure.unit,
        target="" if measure.better == "target" else measure.better,
        note=note,
        n_launches=counts["n_launches"],
        n_stays=counts["n_stays"],
        n_subjects=counts["n_subjects"],
    )


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
