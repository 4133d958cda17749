"""Whether forecasts can be taken at their word: reliability of discharge, and PIT."""

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
    mark_line,
    standing_out,
    within_points,
)
from edsim.report.entries import Entry
from edsim.report.theme import variable

_DRAWS = "Forecasts need several draws of each launch: `edsim score --draws 8`."
HORIZON = "horizon"
"""The parameter that chooses the hours of the reliability chart."""


def reliability(entries: Sequence[Entry]) -> Figure:
    """How often "discharged within h hours" came true, by how likely it was said to be."""
    import altair as alt

    says = (
        "Of launches for which a simulator gives this probability of a discharge in time, the "
        "share that was. On the diagonal forecasts can be taken at their word."
    )
    said = Figure(name="reliability", title="Discharged in time, where so said", says=says)
    rows_of = {entry.number: _reliability_rows(entry) for entry in entries}
    rows, left_out = within_points(entries, rows_of)
    if not rows:
        return replace(said, missing=_DRAWS)
    hours = sorted({str(row["horizon"]) for row in rows}, key=float)
    chosen = "4" if "4" in hours else hours[0]
    look = by_family(entries)
    unit = alt.Scale(domain=[0, 1])
    base = (
        chart_of("rows")
        .transform_filter(f"datum.horizon == {HORIZON}")
        .encode(
            x=alt.X(
                "said:Q",
                scale=unit,
                title="foretold share",
                axis=alt.Axis(format="%", grid=False, tickCount=5, labelFlush=True),
            ),
            opacity=standing_out(),
            detail="producer:N",
        )
    )
    y = alt.Y("true:Q", scale=unit, title="share that came true", axis=alt.Axis(format="%"))
    bars = base.mark_rule(strokeWidth=1.2).encode(y="low:Q", y2="high:Q", color=look["color"])
    lines = base.mark_line(strokeWidth=2).encode(y=y, color=look["color"])
    points = base.mark_point(size=50, filled=True).encode(
        y=y,
        **look,
        tooltip=[
            alt.Tooltip("producer:N"),
            alt.Tooltip("said:Q", title="foretold", format=".0%"),
            alt.Tooltip("true:Q", title="came true", format=".1%"),
        ],
    )
    diagonal = (
        chart_of("diagonal")
        .mark_line(strokeDash=[4, 3], strokeWidth=1, color=variable("soft"))
        .encode(x="at:Q", y="at:Q")
    )
    chart = alt.layer(diagonal, bars, lines, points).add_params(
        alt.param(name=HORIZON, value=chosen)
    )
    return replace(
        said,
        says=says + left_out_says(left_out),
        spec=finished(
            chart.properties(width="container", height=320),
            "Reliability of discharge",
            rows=rows,
            diagonal=[{"at": 0}, {"at": 1}],
        ),
        choices={HORIZON: [(one, f"{one} h") for one in hours]},
    )


def _reliability_rows(entry: Entry) -> list[dict[str, Any]]:
    return [
        {
            "producer": entry.label,
            "family": entry.family,
            "horizon": row.group.removeprefix("h="),
            "said": float(row.target),
            "true": row.value,
            "low": row.value if row.low is None else row.low,
            "high": row.value if row.high is None else row.high,
        }
        for row in entry.rows("reliability")
        if row.target
    ]


def pit(entries: Sequence[Entry]) -> Figure:
    """Where the truth lies among the draws."""
    import altair as alt

    says = (
        "Where the true remaining time lies among the draws, in tenths. Flat at 1 is calibrated; a "
        "valley means draws are too alike, a slope that they are too long or too short."
    )
    said = Figure(name="pit", title="Where the truth lies among the draws", says=says)
    rows_of = {
        entry.number: [
            {
                "producer": entry.label,
                "family": entry.family,
                "at": round((row.at or 0.0) + 0.05, 2),
                "value": row.value,
                "low": row.value if row.low is None else row.low,
                "high": row.value if row.high is None else row.high,
            }
            for row in entry.rows("pit")
        ]
        for entry in entries
    }
    rows, left_out = within_points(entries, rows_of)
    if not rows:
        return replace(said, missing=_DRAWS)
    look = by_family(entries)
    base = chart_of("rows").encode(
        x=alt.X(
            "at:Q",
            scale=alt.Scale(domain=[0, 1]),
            title="rank of the truth among the draws",
            axis=alt.Axis(format=".1f", grid=False),
        ),
        opacity=standing_out(),
        detail="producer:N",
    )
    y = alt.Y("value:Q", title="density", scale=alt.Scale(zero=True))
    bars = base.mark_rule(strokeWidth=1.2).encode(y="low:Q", y2="high:Q", color=look["color"])
    lines = base.mark_line(strokeWidth=2).encode(y=y, color=look["color"])
    points = base.mark_point(size=50, filled=True).encode(
        y=y,
        **look,
        tooltip=[
            alt.Tooltip("producer:N"),
            alt.Tooltip("at:Q", title="rank of the truth", format=".2f"),
            alt.Tooltip("value:Q", title="density", format=".2f"),
        ],
    )
    chart = alt.layer(mark_line(y=alt.YDatum(1)), bars, lines, points)
    spec = finished(chart.properties(width="container", height=320), "PIT density", rows=rows)
    return replace(said, says=says + left_out_says(left_out), spec=spec)
