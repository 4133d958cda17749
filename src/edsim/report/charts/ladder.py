"""The supervision ladder: one dot a training seed, how far its event mix is from the record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import median
from typing import Any

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
from edsim.report.entries import Entry

_ONE_SEED = (
    "Event-mix divergence as a multiple of the order-3 count model's. Every producer has one run "
    "here: how far another training seed would move its dot is not known."
)


def ladder(entries: Sequence[Entry]) -> Figure:
    """Families from nearest to furthest, a dot for each training seed."""
    import altair as alt

    said = Figure(
        name="supervision-ladder",
        title="How much a training seed decides",
        says="Each dot is one training seed: its event-mix divergence as a multiple of the "
        "order-3 count model's. Dots of one row that lie far apart are one recipe that cannot be "
        "judged by one run.",
    )
    rows: list[dict[str, Any]] = []
    for entry in entries:
        multiple = entry.find("xf")
        if multiple is not None and multiple.value:
            rows.append(
                {
                    "producer": entry.label,
                    "family": entry.family,
                    "multiple": multiple.value,
                    "seed": "none"
                    if entry.sheet.training_seed is None
                    else str(entry.sheet.training_seed),
                }
            )
    if not rows:
        return replace(
            said,
            missing="The order-3 model's rollouts of these launches are not there, so there is no "
            "multiple of it.",
        )
    families = dict.fromkeys(str(row["family"]) for row in rows)
    if len(families) == len(rows):
        said = replace(said, title="Event mix as a multiple of order 3", says=_ONE_SEED)
    order = sorted(families, key=lambda family: median(_multiples(rows, family)))
    scale = alt.Scale(type="log", padding=18, nice=False)
    points = (
        chart_of("rows")
        .mark_point(size=120, filled=True)
        .encode(
            x=alt.X(
                "multiple:Q",
                scale=scale,
                title="JSD, times order 3's (log scale)",
                axis=log_axis([row["multiple"] for row in rows]),
            ),
            y=alt.Y("family:N", sort=order, title=None, axis=alt.Axis(grid=True)),
            opacity=standing_out(0.9),
            tooltip=["producer:N", "seed:N", alt.Tooltip("multiple:Q", format=".3~g")],
            **by_family(entries),
        )
    )
    at = alt.XDatum(1, scale=scale)
    chart = alt.layer(
        mark_line(x=at), mark_label("order 3", x=at, y=alt.YValue(-8), dx=0, align="center"), points
    ).properties(width="container", height=38 * len(order))
    return replace(said, spec=finished(chart, "Divergence by training seed", rows=rows))


def _multiples(rows: list[dict[str, Any]], family: str) -> list[float]:
    return [row["multiple"] for row in rows if row["family"] == family]
