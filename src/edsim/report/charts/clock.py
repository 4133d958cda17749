"""How long visits last, and who is still there hours after the launch."""

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
    mark_line,
    standing_out,
    within_points,
)
from edsim.report.entries import Entry
from edsim.report.theme import variable

_DURATIONS = {
    "duration_ratio": "where it ends itself",
    "duration_ratio_shared": "where all end",
}


def durations(entries: Sequence[Entry]) -> Figure:
    """Duration ratio with its interval, on each producer's own rollouts and on shared launches."""
    import altair as alt

    said = Figure(
        name="durations",
        title="Duration of what was generated",
        says="Mean generated over mean observed remaining time: 1 is right. On rollouts that "
        "ended; hollow marks are the launches where all producers end, which alone are comparable "
        "where some visits never end.",
    )
    rows = [
        {
            "producer": entry.label,
            "family": entry.family,
            "which": which,
            "value": row.value,
            "low": max(row.low, 0.01) if row.low is not None else row.value,
            "high": row.high if row.high is not None else row.value,
        }
        for entry in entries
        for metric, which in _DURATIONS.items()
        if (row := entry.find(metric)) is not None and row.value
    ]
    if not rows:
        return replace(said, missing="No rollout ended, or durations were not scored.")
    ends = [1.0, *(float(str(row[end])) for row in rows for end in ("low", "high"))]
    order = [entry.label for entry in entries]
    scale = alt.Scale(type="log", nice=False, padding=16)
    base = chart_of("rows").encode(
        y=alt.Y("producer:N", sort=order, title=None, axis=alt.Axis(grid=True)),
        yOffset=alt.YOffset("which:N", scale=alt.Scale(paddingOuter=0.9)),
        opacity=standing_out(),
    )
    look = by_family(entries)
    x = alt.X(
        "value:Q",
        scale=scale,
        title="generated / observed (log scale)",
        axis=log_axis(ends),
    )
    bars = base.mark_rule(strokeWidth=2).encode(
        x=alt.X("low:Q", scale=scale), x2="high:Q", color=look["color"]
    )
    points = base.mark_point(size=80, strokeWidth=2).encode(
        x=x,
        **look,
        fill=alt.condition(
            alt.datum.which == _DURATIONS["duration_ratio_shared"],
            alt.value(variable("card")),
            look["color"],
        ),
        tooltip=[
            alt.Tooltip("producer:N"),
            alt.Tooltip("which:N", title="launches"),
            alt.Tooltip("value:Q", title="generated / observed", format=".3~g"),
        ],
    )
    right = alt.XDatum(1, scale=scale)
    chart = alt.layer(mark_line(x=right), bars, points)
    return replace(
        said,
        spec=finished(
            chart.properties(width="container", height=40 * len(entries)),
            "Duration ratio by producer",
            rows=rows,
        ),
    )


def occupancy(entries: Sequence[Entry]) -> Figure:
    """Share of launches still present by hour, generated and observed."""
    import altair as alt

    says = "Share of launches still in the department hours later. The thick line is the record."
    said = Figure(name="occupancy", title="Who is still there", says=says)
    rows, left_out = _by_hour(entries, "occupancy_generated")
    if not rows:
        return replace(said, missing="Occupancy was not scored.")
    truth = [{"at": row.at, "value": row.value} for row in entries[0].rows("occupancy_observed")]
    y = alt.Y("value:Q", title="still present, %", scale=alt.Scale(zero=True))
    x = _hours()
    observed = (
        chart_of("truth")
        .mark_line(strokeWidth=6, opacity=0.25, color=variable("ink"))
        .encode(x=x, y=y)
    )
    look = by_family(entries)
    base = chart_of("rows").encode(x=x, y=y, opacity=standing_out(), detail="producer:N")
    points = base.mark_point(size=50, filled=True).encode(
        **look,
        tooltip=[
            alt.Tooltip("producer:N"),
            alt.Tooltip("at:Q", title="hours after the launch"),
            alt.Tooltip("value:Q", title="still present, %", format=".1f"),
        ],
    )
    chart = alt.layer(observed, base.mark_line(strokeWidth=2).encode(color=look["color"]), points)
    spec = finished(
        chart.properties(width="container", height=300),
        "Share present by hour",
        rows=rows,
        truth=truth,
    )
    return replace(said, says=says + left_out_says(left_out), spec=spec)


def occupancy_errors(entries: Sequence[Entry]) -> Figure:
    """The same as an error with its interval."""
    import altair as alt

    says = "Percentage points too many (above 0) or too few (below) present, with 95 % intervals."
    said = Figure(name="occupancy-errors", title="Occupancy error by hour", says=says)
    rows, left_out = _by_hour(entries, "occupancy_error")
    if not rows:
        return replace(said, missing="Occupancy was not scored.")
    look = by_family(entries)
    base = chart_of("rows").encode(
        x=alt.X(
            "at:O",
            title="hours after the launch",
            axis=alt.Axis(labelAngle=0, format="~g"),
            scale=alt.Scale(paddingInner=0.3),
        ),
        xOffset=alt.XOffset("producer:N", sort=[entry.label for entry in entries]),
        opacity=standing_out(),
    )
    bars = base.mark_rule(strokeWidth=2).encode(
        y=alt.Y("low:Q", title="error, percentage points"), y2="high:Q", color=look["color"]
    )
    points = base.mark_point(size=55, filled=True).encode(
        y="value:Q",
        **look,
        tooltip=[
            alt.Tooltip("producer:N"),
            alt.Tooltip("at:O", title="hours after the launch"),
            alt.Tooltip("value:Q", title="points off", format="+.1f"),
        ],
    )
    chart = alt.layer(mark_line(y=alt.YDatum(0)), bars, points)
    spec = finished(
        chart.properties(width="container", height=300), "Occupancy error by hour", rows=rows
    )
    return replace(said, says=says + left_out_says(left_out), spec=spec)


def _hours() -> Any:
    import altair as alt

    return alt.X(
        "at:Q",
        title="hours after the launch",
        axis=alt.Axis(values=[1, 2, 4, 8, 12, 24], format="d", grid=False),
        scale=alt.Scale(zero=False, nice=False, padding=8),
    )


def _by_hour(entries: Sequence[Entry], metric: str) -> tuple[list[dict[str, Any]], int]:
    rows_of = {
        entry.number: [
            {
                "producer": entry.label,
                "family": entry.family,
                "at": row.at,
                "value": row.value,
                "low": row.value if row.low is None else row.low,
                "high": row.value if row.high is None else row.high,
            }
            for row in entry.rows(metric)
        ]
        for entry in entries
    }
    rows, left_out = within_points(entries, rows_of)
    return [dict(row) for row in rows], left_out
