"""The charts that show all producers at once: the gap, the plane, positions and ranks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from edsim.report.board import ranks_by
from edsim.report.charts.figure import (
    Figure,
    by_family,
    chart_of,
    finished,
    log_axis,
    mark_label,
    mark_line,
    standing_out,
)
from edsim.report.criteria import CRITERIA, shown_interval, with_unit
from edsim.report.entries import Entry

_UP = {
    "jsd": "event mix: JSD to the record, nats (log scale)",
    "duration_ratio": "remaining time, generated over true (log scale)",
}
"""Titles of the upward axis, by measure."""


def gap(entries: Sequence[Entry], up: str = "jsd") -> Figure:
    """Accuracy on observed histories against distance from the record in closed loop."""
    import altair as alt

    says = {
        "jsd": "Up: how far generated visits are from the record.",
        "duration_ratio": "Up: how long generated visits last; the dashed line is right.",
    }
    said = Figure(
        name="simulation-gap" if up == "jsd" else "simulation-gap-in-time",
        title="The simulation gap" if up == "jsd" else "The simulation gap, in time",
        says=f"Across: how often the next event of a real visit is guessed. {says[up]} Producers "
        "at different heights side by side predict alike and simulate unlike.",
    )
    rows = _against(entries, "accuracy", up)
    if not rows:
        return replace(
            said,
            missing="No predictions were scored, so accuracy is not known. `edsim predict PRODUCER "
            "--cohort C --out FILE.predictions.parquet`, then `edsim score FILE --cohort C --out "
            "DIR`.",
        )
    x = alt.X(
        "x:Q",
        title="next events guessed, observed histories",
        axis=alt.Axis(format=".3~%", tickCount=5),
    )
    chart = _scatter(entries, rows, x.scale(zero=False, nice=False, padding=30), up)
    return replace(said, spec=finished(chart, f"Next-event accuracy against {_UP[up]}", rows=rows))


def plane(entries: Sequence[Entry]) -> Figure:
    """Termination against divergence."""
    import altair as alt

    said = Figure(
        name="termination-plane",
        title="Ending and event mix",
        says="To the right visits end by themselves; further down their events are the record's. "
        "A good simulator is at the lower right; the lines are 95 % intervals.",
    )
    rows = _against(entries, "termination")
    if not rows:
        return replace(said, missing="Termination and event mix were not both scored.")
    x = alt.X(
        "x:Q", title="rollouts that end by themselves", axis=alt.Axis(format=".4~%", tickCount=4)
    )
    chart = _scatter(entries, rows, x.scale(zero=False, nice=False, padding=30))
    return replace(
        said, spec=finished(chart, "Termination against event-mix divergence", rows=rows)
    )


def _against(entries: Sequence[Entry], metric: str, other: str = "jsd") -> list[dict[str, Any]]:
    """Each producer's values of two measures, with intervals."""
    rows = []
    for entry in entries:
        across, up = entry.find(metric), entry.find(other)
        if across is None or up is None or not up.value:
            continue
        x, y = shown_interval(across), shown_interval(up)
        rows.append(
            {
                "producer": entry.label,
                "family": entry.family,
                "x": across.value,
                "x_low": x[0] if x else across.value,
                "x_high": x[1] if x else across.value,
                "y": up.value,
                "y_low": max(y[0], up.value / 4) if y else up.value,
                "y_high": y[1] if y else up.value,
            }
        )
    return rows


def _scatter(
    entries: Sequence[Entry], rows: list[dict[str, Any]], x: Any, metric: str = "jsd"
) -> Any:
    import altair as alt

    base = chart_of("rows").encode(opacity=standing_out())
    drawn = {row["producer"] for row in rows}
    named = len(rows) <= 12
    look = by_family([entry for entry in entries if entry.label in drawn], legend=not named)
    _place_names(rows)
    ends = [row[name] for row in rows for name in ("y_low", "y_high")]
    right = [1.0] if metric == "duration_ratio" else []
    y = alt.Y(
        "y:Q",
        title=_UP[metric],
        scale=alt.Scale(type="log", nice=False, padding=14),
        axis=log_axis([*ends, *right], grid=True),
    )
    across = base.mark_rule(strokeWidth=1.5).encode(
        x=alt.X("x_low:Q"), x2="x_high:Q", y=y, color=look["color"]
    )
    up = base.mark_rule(strokeWidth=1.5).encode(
        x=x, y=alt.Y("y_low:Q"), y2="y_high:Q", color=look["color"]
    )
    points = base.mark_point(size=110, filled=True, opacity=1).encode(
        x=x,
        y=y,
        **look,
        tooltip=[
            alt.Tooltip("producer:N"),
            alt.Tooltip("x:Q", title=x["title"], format=".1%"),
            alt.Tooltip("y:Q", title=_UP[metric].partition(":")[0], format=".3~g"),
        ],
    )
    names = base.mark_text(
        align=alt.expr("datum._side"),
        dx=alt.expr("datum._side == 'left' ? 9 : -9"),
        dy=alt.expr("datum._below ? 11 : -9"),
        limit=170,
    ).encode(x=x, y=y, text="producer:N", color=look["color"])
    marks = [mark_line(y=alt.YDatum(at)) for at in right]
    chart = alt.layer(*marks, across, up, points, *([names] if named else []))
    return chart.properties(width="container", height=330)


def _place_names(rows: list[dict[str, Any]]) -> None:
    """Each name beside its point: on the inner side, and below where another is close above.

    What begins with `_` is for the drawing alone: the page's table of numbers leaves it out.
    """
    low, high = (pick(row["x"] for row in rows) for pick in (min, max))
    bottom, top = (pick(math.log(row["y"]) for row in rows) for pick in (min, max))
    wide, tall = high - low or 1.0, top - bottom or 1.0
    for row in rows:
        row["_side"] = "left" if row["x"] <= (low + high) / 2 else "right"
    for row in rows:
        row["_below"] = any(
            0 < (math.log(other["y"]) - math.log(row["y"])) / tall < 0.2
            and abs(other["x"] - row["x"]) / wide < 0.6
            for other in rows
        )


def positions(entries: Sequence[Entry]) -> Figure:
    """How far each producer is off in what: 0 the floor, 1 the order-3 model."""
    import altair as alt

    said = Figure(
        name="positions",
        title="How far off, and in what",
        says="0 is the floor, what the best possible simulator scores; 1 is the order-3 count "
        "model. Each row is one question.",
    )
    closed = [one for one in CRITERIA if not one.open_loop]
    rows: list[dict[str, Any]] = []
    for criterion in closed:
        for entry in entries:
            row = entry.find(criterion.metric)
            if row is None or row.position is None or row.value is None or entry.privileged:
                continue
            rows.append(
                {
                    "producer": entry.label,
                    "family": entry.family,
                    "criterion": criterion.title,
                    "position": row.position,
                    "value": with_unit(criterion, row.value),
                }
            )
    if not rows:
        return replace(
            said,
            missing="Neither a floor nor the order-3 model is among the scores: `edsim score "
            "ngram:3` where torch is installed.",
        )
    scale = alt.Scale(type="symlog", constant=1, nice=False, padding=16)
    shown = [one.title for one in closed if any(row["criterion"] == one.title for row in rows)]
    ranked = [entry for entry in entries if not entry.privileged]
    most = max(row["position"] for row in rows)
    ticks = [tick for tick in (0, 1, 3, 10, 30, 100, 300, 1000) if tick <= max(most, 1) * 1.2]
    points = (
        chart_of("rows")
        .mark_point(size=120, filled=True, opacity=1)
        .encode(
            x=alt.X(
                "position:Q",
                scale=scale,
                title="times the order-3 model's distance from the floor",
                axis=alt.Axis(values=ticks, format=".6~g"),
            ),
            y=alt.Y("criterion:N", sort=shown, title=None, axis=alt.Axis(grid=True)),
            opacity=standing_out(),
            tooltip=[
                "producer:N",
                "criterion:N",
                "value:N",
                alt.Tooltip("position:Q", format=".3~g"),
            ],
            **by_family(ranked),
        )
    )
    marks = [
        layer
        for at, text, align, dx in ((0, "floor", "right", 9), (1, "order 3", "left", -9))
        for layer in (
            mark_line(x=alt.XDatum(at, scale=scale)),
            mark_label(text, x=alt.XDatum(at, scale=scale), y=alt.YValue(-8), dx=dx, align=align),
        )
    ]
    chart = alt.layer(*marks, points).properties(width="container", height=42 * len(shown))
    return replace(said, spec=finished(chart, "Distance from the floor by criterion", rows=rows))


def ranks(entries: Sequence[Entry]) -> Figure:
    """Ranks by criterion, so that crossing lines are criteria that disagree."""
    import altair as alt

    said = Figure(
        name="ranks",
        title="Ranks flip between criteria",
        says="1 is best. Where lines cross, the choice of the criterion decides which simulator "
        "is better.",
    )
    ranked = [entry for entry in entries if not entry.privileged]
    rows = [
        {
            "producer": entry.label,
            "family": entry.family,
            "criterion": criterion.title,
            "rank": rank,
        }
        for criterion in CRITERIA
        for entry, rank in zip(ranked, ranks_by(criterion, ranked), strict=True)
        if rank is not None
    ]
    if len(ranked) < 2 or not rows:
        return replace(said, missing="Ranks need two producers or more.")
    order = [one.title for one in CRITERIA if any(row["criterion"] == one.title for row in rows)]
    look = by_family(ranked)
    base = chart_of("rows").encode(
        x=alt.X(
            "criterion:N",
            sort=order,
            title=None,
            axis=alt.Axis(
                labelAngle=alt.expr("width < 480 ? -40 : 0"),
                labelAlign=alt.expr("width < 480 ? 'left' : 'center'"),
                labelOverlap=False,
                domain=False,
                ticks=False,
                orient="top",
            ),
            scale=alt.Scale(padding=0.4),
        ),
        y=alt.Y(
            "rank:Q",
            title="rank",
            scale=alt.Scale(reverse=True, domain=[0.6, len(ranked) + 0.4], nice=False),
            axis=alt.Axis(
                tickMinStep=1, format="d", grid=False, values=list(range(1, len(ranked) + 1))
            ),
        ),
        opacity=standing_out(),
        detail="producer:N",
    )
    lines = base.mark_line(strokeWidth=2.5).encode(color=look["color"])
    points = base.mark_point(size=130, filled=True, opacity=1).encode(
        **look, tooltip=["producer:N", "criterion:N", "rank:Q"]
    )
    chart = alt.layer(lines, points).properties(
        width="container", height=max(160, min(34 * len(ranked) + 40, 700))
    )
    return replace(said, spec=finished(chart, "Rank of each producer by criterion", rows=rows))
