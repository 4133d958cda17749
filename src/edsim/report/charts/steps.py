"""Error by step after the launch: what is there at once, and what grows as events are fed back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from edsim.report.charts.figure import (
    Figure,
    by_family,
    chart_of,
    finished,
    left_out_says,
    log_axis,
    standing_out,
    within_points,
)
from edsim.report.entries import Entry
from edsim.report.theme import variable

_NEEDED = "Too few launches reach a second step, or steps were not among the measures scored."


def step_divergence(entries: Sequence[Entry]) -> Figure:
    """JSD of the k-th event."""
    import altair as alt

    says = (
        "Divergence of the k-th event after the launch. High at the first step: the model is off "
        "before anything is fed back. Rising: errors compound."
    )
    rows, left_out = _series(entries, "step_jsd")
    said = Figure(name="step-divergence", title="Event mix by step", says=says)
    if not rows:
        return replace(said, missing=_NEEDED)
    rows = [row for row in rows if row["value"] > 0]
    y = alt.Y(
        "value:Q",
        title="JSD, nats (log scale)",
        scale=alt.Scale(type="log", nice=False, padding=8),
        axis=log_axis([row["value"] for row in rows]),
    )
    chart = _curves(entries, y)
    spec = finished(chart.properties(width="container", height=300), "JSD by step", rows=rows)
    return replace(said, says=says + left_out_says(left_out), spec=spec)


def step_gaps(entries: Sequence[Entry]) -> Figure:
    """Mean gap before the k-th event, beside the observed one."""
    import altair as alt

    says = (
        "Mean minutes before the k-th event. The thick line is the record; a curve that falls away "
        "below it is a clock that contracts."
    )
    rows, left_out = _series(entries, "step_gap")
    said = Figure(name="step-gaps", title="The clock by step", says=says)
    if not rows:
        return replace(said, missing=_NEEDED)
    targets = {row["at"]: row["target"] for row in rows if row["target"] is not None}
    truth = [{"at": at, "value": value} for at, value in targets.items()]
    y = alt.Y("value:Q", title="mean gap, minutes")
    observed = (
        chart_of("truth")
        .mark_line(strokeWidth=5, opacity=0.28, color=variable("ink"))
        .encode(x="at:Q", y=y)
    )
    chart = alt.layer(observed, _curves(entries, y))
    spec = finished(
        chart.properties(width="container", height=300), "Mean gap by step", rows=rows, truth=truth
    )
    return replace(said, says=says + left_out_says(left_out), spec=spec)


def _series(entries: Sequence[Entry], metric: str) -> tuple[list[dict[str, Any]], int]:
    rows_of = {
        entry.number: [
            {
                "producer": entry.label,
                "family": entry.family,
                "at": row.at,
                "value": row.value,
                "target": _number(row.target),
            }
            for row in entry.rows(metric)
            if row.at is not None
        ]
        for entry in entries
    }
    rows, left_out = within_points(entries, rows_of)
    return [dict(row) for row in rows], left_out


def _curves(entries: Sequence[Entry], y: Any) -> Any:
    import altair as alt

    look = by_family(entries)
    base = chart_of("rows").encode(
        x=alt.X(
            "at:Q",
            title="step after launch (log scale)",
            scale=alt.Scale(type="log", nice=False, padding=6),
            axis=alt.Axis(values=[1, 2, 3, 5, 10, 20, 30, 50], format="d", grid=False),
        ),
        y=y,
        opacity=standing_out(),
        detail="producer:N",
    )
    points = base.mark_point(size=42, filled=True).encode(
        **look,
        tooltip=[
            alt.Tooltip("producer:N"),
            alt.Tooltip("at:Q", title="step"),
            alt.Tooltip("value:Q", title=y["title"], format=".3~g"),
        ],
    )
    return alt.layer(base.mark_line(strokeWidth=2).encode(color=look["color"]), points)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
