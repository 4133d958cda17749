"""The census of the department: who was there hour by hour, and who would be by simulation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from edsim.report.charts.figure import (
    MOST_POINTS,
    Figure,
    chart_of,
    finished,
    left_out_says,
)
from edsim.report.entries import Entry
from edsim.report.theme import variable
from edsim.tables.census import Census, CensusOf
from edsim.tables.producer_names import short_names

PRODUCER = "census_by"
"""The parameter that chooses whose census is shown."""

WITHHELD = Figure(
    name="census",
    title="Census",
    says="",
    missing="The census is withheld: hourly counts of patients are never part of what is shared.",
)
"""What stands in its place on a page that leaves the house."""


def census_figures(censuses: Sequence[Census], entries: Sequence[Entry]) -> list[Figure]:
    """A figure for each census, or one that says how to get one."""
    if not censuses:
        missing = (
            "No census lies in the folder. Where clock times are real: `edsim census PRODUCERS "
            "--cohort C --json DIR/NAME.census.json`."
        )
        return [Figure(name="census", title="Census", says="", missing=missing)]
    several = len(censuses) > 1
    return [
        _figure(census, f"census-{number}" if several else "census", entries)
        for number, census in enumerate(censuses, start=1)
    ]


def _figure(census: Census, name: str, entries: Sequence[Entry]) -> Figure:
    import altair as alt

    said = Figure(
        name=name,
        title=f"Census, {census.begin[:10]} to {census.end[:10]}",
        says=_says(census),
    )
    short = short_names([one.producer for one in census.producers])
    called = [
        replace(one, producer=name) for one, name in zip(census.producers, short, strict=True)
    ]
    census = replace(census, producers=tuple(called))
    rows, n_left_out = _rows(census)
    if not rows:
        few = "Too few people came in the period for their hours to be shown."
        why = few if census.n_stays is None else "The period has no hour in it."
        return replace(said, missing=why)
    labels = list(dict.fromkeys(row["producer"] for row in rows))
    base = chart_of("rows").transform_filter(f"datum.producer == {PRODUCER}")
    x = alt.X("time:T", title=None, axis=alt.Axis(grid=False, format="%b %d", labelOverlap=True))
    colour = _colours(labels, entries)
    band = base.mark_area(opacity=0.25, interpolate="step").encode(
        x=x, y=alt.Y("low:Q", title="patients there"), y2="high:Q", color=colour
    )
    median = base.mark_line(strokeWidth=1.6, interpolate="step").encode(
        x=x, y="median:Q", color=colour
    )
    observed = base.mark_line(
        color=variable("ink"), strokeWidth=2.4, opacity=0.75, interpolate="step"
    ).encode(x=x, y="observed:Q")
    layers = [band, median, observed]
    if census.beds is not None:
        beds = alt.Chart(alt.Data(values=[{}])).mark_rule(
            strokeDash=[4, 3], color=variable("soft"), aria=False
        )
        layers.append(beds.encode(y=alt.YDatum(census.beds)))
    chart = alt.layer(*layers).add_params(alt.param(name=PRODUCER, value=_first(labels, entries)))
    return replace(
        said,
        says=said.says + left_out_says(n_left_out),
        spec=finished(chart.properties(width="container", height=280), said.title, rows=rows),
        choices={PRODUCER: [(label, _choice(census, label)) for label in labels]},
    )


def _colours(labels: Sequence[str], entries: Sequence[Entry]) -> Any:
    """Each producer in the colour it has in every chart; one without scores in the first."""
    import altair as alt

    known = {entry.label: entry.colour for entry in entries}
    colours = [known.get(label, variable("series-1")) for label in labels]
    return alt.Color("producer:N", scale=alt.Scale(domain=list(labels), range=colours), legend=None)


def _says(census: Census) -> str:
    stays = "few" if census.n_stays is None else f"{census.n_stays:,}"
    beds = "" if census.beds is None else f" The dashed line is {census.beds} beds."
    return (
        f"Patients there at every hour, of {stays} test stays that arrived in the period. Thick "
        f"line: the record. Coloured: median of {census.draws} simulated worlds, and the band that "
        "holds nine in ten. Arrivals are given, not forecast; the first "
        f"{census.warm_up_hours} hours fill the department.{beds}"
    )


def _rows(census: Census) -> tuple[list[dict[str, Any]], int]:
    rows: list[dict[str, Any]] = []
    for number, one in enumerate(census.producers):
        more = [
            {
                "producer": _label(one),
                "time": hour.time,
                "observed": hour.observed,
                "low": hour.low,
                "median": hour.median,
                "high": hour.high,
            }
            for hour in one.hours
        ]
        if len(rows) + len(more) > MOST_POINTS:
            return rows, len(census.producers) - number
        rows += more
    return rows, 0


def _label(one: CensusOf) -> str:
    return (
        one.producer if one.rule in ("", "vanilla", "unknown") else f"{one.producer} · {one.rule}"
    )


def _first(labels: Sequence[str], entries: Sequence[Entry]) -> str:
    """The producer that the board puts first, where the census has it."""
    return next((one.label for one in entries if one.label in labels), labels[0])


def _choice(census: Census, label: str) -> str:
    """A producer with what the hours came to."""
    one = next(one for one in census.producers if _label(one) == label)
    score = "" if one.crps is None else f", CRPS {one.crps:.2f} patients"
    return f"{label}{score}"
