"""By what simulators are told apart on the page, and how each number is written and drawn."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from edsim.tables.scores import ScoreRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Criterion:
    """One column of the board."""

    metric: str
    title: str
    asks: str
    """The question it answers."""
    says: str
    """How to read the number."""
    form: Literal["share", "divergence", "ratio", "pp", "minutes", "auc"]
    scale: Literal["linear", "log"] = "linear"
    loss: Literal["value", "distance", "log_ratio", "below_one"] = "value"
    better: str = "lower is better"
    open_loop: bool = False
    """Measured on observed histories: it says nothing about the simulator."""


CRITERIA: tuple[Criterion, ...] = (
    Criterion(
        metric="accuracy",
        title="Next event",
        asks="Is the next event of a real visit guessed right?",
        says="Share of next events guessed on observed histories; tells nothing of the simulator.",
        form="share",
        loss="below_one",
        better="higher is better",
        open_loop=True,
    ),
    Criterion(
        metric="termination",
        title="Ending",
        asks="Do generated visits end by themselves?",
        says="Share of rollouts that draw END before the cap.",
        form="share",
        loss="distance",
        better="nearest to the observed share is best",
    ),
    Criterion(
        metric="reached_discharge",
        title="Discharge",
        asks="Do they reach a discharge?",
        says="Share of rollouts that hold a discharge event.",
        form="share",
        loss="distance",
        better="nearest to the observed share is best",
    ),
    Criterion(
        metric="jsd",
        title="Event mix",
        asks="Does each event occur as often as it should?",
        says="Jensen-Shannon divergence of single events, in nats; 0 is the record itself.",
        form="divergence",
        scale="log",
    ),
    Criterion(
        metric="jsd_triples",
        title="Order",
        asks="Do events follow each other as they should?",
        says="Jensen-Shannon divergence of runs of three events, in nats.",
        form="divergence",
        scale="log",
    ),
    Criterion(
        metric="duration_ratio",
        title="Duration",
        asks="Do visits last as long as they should?",
        says="Mean generated over mean observed remaining time, on rollouts that ended.",
        form="ratio",
        scale="log",
        loss="log_ratio",
        better="nearest to 1 is best",
    ),
    Criterion(
        metric="occupancy_mae",
        title="Occupancy",
        asks="Is the share still present right, hours later?",
        says="Mean absolute error at 1, 2, 4, 8 and 12 hours, in percentage points.",
        form="pp",
    ),
    Criterion(
        metric="crps",
        title="Forecast",
        asks="Is each visit's remaining time forecast well?",
        says="CRPS of the remaining time within 24 hours, over several draws.",
        form="minutes",
    ),
    Criterion(
        metric="c2st_conditional",
        title="Fit to prefix",
        asks="Can a classifier tell generated from real, given the prefix?",
        says="Area under the ROC curve; .5 cannot be told apart.",
        form="auc",
        loss="distance",
        better="nearest to .5 is best",
    ),
)


def figure(criterion: Criterion, value: float) -> str:
    """A value as it is read.

    >>> figure(CRITERIA[1], 0.9424), figure(CRITERIA[3], 0.00133), figure(CRITERIA[5], 0.897)
    ('94.2 %', '.0013', '.90')
    >>> figure(CRITERIA[1], 0.99996), figure(CRITERIA[6], 2.4986)
    ('99.9 %', '2.5')
    """
    if criterion.form == "share":
        return _percent(value)
    if criterion.form == "divergence":
        return small_number(value)
    if criterion.form in ("ratio", "auc"):
        return f"{value:.2f}".removeprefix("0") if value < 1 else f"{value:.2f}"
    return f"{value:.1f}" if abs(value) < 100 else f"{value:,.0f}"


UNITS = {"pp": "pp", "minutes": "min"}


def with_unit(criterion: Criterion, value: float) -> str:
    """A value with its unit, where it has one."""
    return " ".join(part for part in (figure(criterion, value), UNITS.get(criterion.form)) if part)


def small_number(value: float) -> str:
    """Two figures of a number that may be tiny.

    >>> small_number(0.0579), small_number(0.00004), small_number(0.0), small_number(0.61)
    ('.058', '4.0e-05', '0', '.61')
    """
    if value == 0:
        return "0"
    if abs(value) < 0.0001:
        return f"{value:.1e}"
    digits = max(2, 1 - math.floor(math.log10(abs(value))))
    return f"{value:.{digits}f}".removeprefix("0")


def _percent(value: float) -> str:
    """Never 100 % where it is not."""
    percent = 100 * value
    if 99.9 < percent < 100:
        return "99.9 %"
    return "100 %" if percent == 100 else f"{percent:.1f} %"


def target_of(criterion: Criterion, row: ScoreRow) -> float | None:
    """The value that is right, where one is known."""
    if criterion.loss == "log_ratio":
        return 1.0
    if criterion.loss == "distance":
        try:
            return float(row.target)
        except ValueError:
            return None
    return None


def loss_of(criterion: Criterion, row: ScoreRow) -> float | None:
    """How far off a row is; 0 is best."""
    if row.value is None or row.loss is not None:
        return row.loss
    return _loss(criterion, row.value, target_of(criterion, row))


def shown_interval(row: ScoreRow) -> tuple[float, float] | None:
    """The interval around the value as it stands.

    Intervals of divergences have the measure's noise taken off; floor and reference have not. So
    that all can be drawn on one line, the interval is put back where the raw value is.
    """
    if row.low is None or row.high is None or row.value is None:
        return None
    noise = 0.0 if row.corrected is None else row.value - row.corrected
    return row.low + noise, row.high + noise


def loss_interval(criterion: Criterion, row: ScoreRow) -> tuple[float, float] | None:
    """The interval of how far off a row is; from 0 where the right value lies inside."""
    interval, target = shown_interval(row), target_of(criterion, row)
    if interval is None:
        return None
    ends = [_loss(criterion, end, target) for end in interval]
    if ends[0] is None or ends[1] is None:
        return None
    inside = target is not None and interval[0] <= target <= interval[1]
    return (0.0 if inside else min(ends[0], ends[1])), max(ends[0], ends[1])


def _loss(criterion: Criterion, value: float, target: float | None) -> float | None:
    if criterion.loss == "value":
        return value
    if criterion.loss == "below_one":
        return 1.0 - value
    if criterion.loss == "log_ratio":
        return abs(math.log(value)) if value > 0 else None
    return None if target is None else abs(value - target)
