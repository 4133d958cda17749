"""Which events are generated too often or too rarely, the worst first and by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from edsim.report.charts.figure import Figure, chart_of, finished
from edsim.report.entries import Entry
from edsim.report.theme import variable

MOST_EVENTS = 14
PRODUCER = "of_producer"
"""The parameter that chooses whose events are shown."""


def event_mix(entries: Sequence[Entry]) -> Figure:
    """Shares of each producer's worst events, generated and observed."""
    import altair as alt

    said = Figure(
        name="event-mix",
        title="Which events are off",
        says="Share of all generated events (bar) beside the share in the record (tick): the "
        "events that are furthest off, worst first. + is too many, − too few.",
    )
    rows = [row for entry in entries for row in _worst(entry)]
    if not rows:
        return replace(said, missing="The share of each event was not scored.")
    shown = [entry.label for entry in entries if any(r["producer"] == entry.label for r in rows)]
    ranked = [entry.label for entry in entries if not entry.privileged and entry.label in shown]
    order = alt.EncodingSortField(field="off", op="max", order="descending")
    base = (
        chart_of("rows")
        .transform_filter(f"datum.producer == {PRODUCER}")
        .encode(y=alt.Y("event:N", sort=order, title=None))
    )
    n_events = max(sum(row["producer"] == label for row in rows) for label in shown)
    most = 1.22 * max(row["furthest"] for row in rows)
    x = alt.X(
        "generated:Q",
        title="share of events",
        scale=alt.Scale(domain=[0, most], nice=False),
        axis=alt.Axis(format=".3~%", tickCount=6),
    )
    bars = base.mark_bar(height={"band": 0.62}, cornerRadiusEnd=2).encode(
        x=x,
        color=alt.condition(
            "datum.generated > datum.observed",
            alt.value(variable("series-2")),
            alt.value(variable("series-1")),
        ),
        tooltip=[
            alt.Tooltip("event:N"),
            alt.Tooltip("generated:Q", format=".2%"),
            alt.Tooltip("observed:Q", format=".2%"),
        ],
    )
    ticks = base.mark_tick(thickness=3, color=variable("ink"), height={"band": 0.9}).encode(
        x=alt.X("observed:Q")
    )
    names = base.mark_text(align="left", dx=7, fontSize=11).encode(
        x=alt.X("furthest:Q"), text="difference:N"
    )
    chart = alt.layer(bars, ticks, names).add_params(
        alt.param(name=PRODUCER, value=(ranked or shown)[0])
    )
    spec = finished(
        chart.properties(width="container", height=25 * min(MOST_EVENTS, n_events)),
        "Events whose share is furthest off",
        rows=rows,
    )
    return replace(said, spec=spec, choices={PRODUCER: [(label, label) for label in shown]})


def _worst(entry: Entry) -> list[dict[str, Any]]:
    """The events whose share is furthest off, with both shares."""
    observed = {row.group: row.value for row in entry.rows("token_share_observed")}
    rows = [
        {
            "producer": entry.label,
            "event": row.group,
            "generated": row.value,
            "observed": observed[row.group],
            "off": abs(row.value - (observed[row.group] or 0.0)),
        }
        for row in entry.rows("token_share_generated")
        if row.value is not None and observed.get(row.group) is not None
    ]
    rows.sort(key=lambda row: -float(str(row["off"])))
    return [
        row
        | {
            "furthest": max(float(str(row["generated"])), float(str(row["observed"]))),
            "difference": _points(float(str(row["generated"])) - float(str(row["observed"]))),
        }
        for row in rows[:MOST_EVENTS]
        if row["off"]
    ]


def _points(difference: float) -> str:
    """Percentage points too many or too few; the sign is there beside the colour.

    >>> _points(0.0123), _points(-0.2)
    ('+1.2 pp', '−20.0 pp')
    """
    digits = 1 if abs(difference) >= 0.001 else 2
    return f"{100 * difference:+.{digits}f} pp".replace("-", "−")
