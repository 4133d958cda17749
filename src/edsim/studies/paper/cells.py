"""Cells of a table from scores: one number, the range or the moments over seeds, or why there is
none; the paper's number beside it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from edsim.studies.paper.values import printed
from edsim.tables.paper import PaperCell
from edsim.tables.scores import ScoreRow


def cell(
    label: str, row: str, column: str, score: ScoreRow, *, times: float = 1.0, alike: str = ""
) -> PaperCell:
    """The cell of one score; `times` brings it into the paper's unit."""
    value = score.value
    return PaperCell(
        row=row,
        column=column,
        ours=() if value is None else (times * value,),
        low=_scaled(score.low, times),
        high=_scaled(score.high, times),
        alike=alike,
        theirs=printed(label).get((row, column)),
        note=score.note if value is None else "",
    )


def plain(
    label: str, row: str, column: str, value: float | None, note: str = "", *, alike: str = ""
) -> PaperCell:
    """The cell of a number that has no interval, such as a count."""
    there = value is not None and math.isfinite(value)
    return PaperCell(
        row=row,
        column=column,
        ours=(float(value),) if there and value is not None else (),
        alike=alike,
        theirs=printed(label).get((row, column)),
        note=note,
    )


def over_seeds(
    label: str, row: str, column: str, scores: Sequence[ScoreRow], *, times: float = 1.0
) -> PaperCell:
    """The cell of a range: lowest to highest over the seeds that could be run."""
    values = [times * score.value for score in scores if score.value is not None]
    ends = (min(values), max(values)) if values else ()
    return PaperCell(
        row=row,
        column=column,
        ours=ends if len(values) > 1 else ends[:1],
        theirs=printed(label).get((row, column)),
        note="" if values else _why(scores),
    )


def moments(
    label: str, row: str, scores: Sequence[ScoreRow], columns: Sequence[str]
) -> list[PaperCell]:
    """Mean, sample standard deviation and median over seeds, under three columns."""
    values = sorted(score.value for score in scores if score.value is not None)
    n, why = len(values), "" if values else _why(scores)
    mean = sum(values) / n if n else None
    sd = math.sqrt(sum((v - (mean or 0.0)) ** 2 for v in values) / (n - 1)) if n > 1 else None
    middle = (values[(n - 1) // 2] + values[n // 2]) / 2 if n else None
    few = why or "a spread needs two seeds or more"
    made = [(mean, why), (sd, few), (middle, why)]
    return [
        plain(label, row, column, value, "" if value is not None else note)
        for column, (value, note) in zip(columns, made, strict=True)
    ]


def percent(share: float | None) -> float | None:
    """A share in percent."""
    return None if share is None else 100 * share


def complement(score: ScoreRow) -> ScoreRow:
    """What a share lacks to one."""
    if score.value is None:
        return score
    low, high = (None if end is None else 1.0 - end for end in (score.high, score.low))
    return replace(score, value=1.0 - score.value, low=low, high=high)


def multiple(score: ScoreRow, of: ScoreRow) -> ScoreRow:
    """A score over the value of another, whose own noise is left out."""
    if score.value is None or of.value is None:
        return nothing(score.metric, score.note if score.value is None else of.note)
    if not of.value > 0:
        return nothing(score.metric, "the order-3 model's divergence is 0")
    low, high = _scaled(score.low, 1 / of.value), _scaled(score.high, 1 / of.value)
    made = replace(score, value=score.value / of.value, corrected=None, low=low, high=high)
    return replace(made, bias=None, excess=None)


def nothing(metric: str, note: str) -> ScoreRow:
    """A score that is not there, and why."""
    return ScoreRow(metric=metric, value=None, note=note)


def _why(scores: Sequence[ScoreRow]) -> str:
    return next((score.note for score in scores if score.note), "nothing was run")


def _scaled(value: float | None, times: float) -> float | None:
    return None if value is None else times * value
