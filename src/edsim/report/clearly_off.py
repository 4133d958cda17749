"""What is clearly off in a producer, whether or not the diagnosis knows a name for it.

A measure counts where its whole 95 % interval is further from what is right than the limits below:
what a reader would call off, and not only what enough launches can tell from nothing.
"""

from __future__ import annotations

import math

from edsim.report.criteria import CRITERIA, Criterion, figure, loss_interval, loss_of, target_of
from edsim.report.entries import Entry
from edsim.tables.scores import ScoreRow

LEAST = {"share": 0.05, "ratio": math.log(1.2), "pp": 5.0, "auc": 0.1}
"""Least loss, by the form of a measure: points of a share, a factor, points of occupancy."""
TIMES = {"divergence": 2.0, "minutes": 1.25}
"""Least multiple of the order-3 model's value, else of the floor, where 0 cannot be reached."""


def clearly_off(entry: Entry) -> list[str]:
    """Each closed-loop measure of the board that is clearly off, in words."""
    said = []
    for criterion in CRITERIA:
        row = entry.find(criterion.metric)
        if criterion.open_loop or row is None or row.value is None:
            continue
        if _is_off(criterion, row):
            said.append(_in_words(criterion, row, row.value))
    return said


def _is_off(criterion: Criterion, row: ScoreRow) -> bool:
    interval, loss = loss_interval(criterion, row), loss_of(criterion, row)
    nearest = interval[0] if interval is not None else loss
    limit = _limit(criterion, row)
    return nearest is not None and limit is not None and nearest > limit


def _limit(criterion: Criterion, row: ScoreRow) -> float | None:
    if criterion.form in LEAST:
        return LEAST[criterion.form]
    yardstick = row.floor if row.reference is None else max(row.reference, row.floor or 0.0)
    return None if yardstick is None else TIMES[criterion.form] * yardstick


def _in_words(criterion: Criterion, row: ScoreRow, value: float) -> str:
    target, beside = target_of(criterion, row), ""
    if target is not None:
        beside = f" (right is {figure(criterion, target)})"
    elif row.reference is not None:
        beside = f" (order 3: {figure(criterion, row.reference)})"
    return f"{criterion.title.lower()} {figure(criterion, value)}{beside}"
