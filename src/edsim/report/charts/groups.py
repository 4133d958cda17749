"""Groups of launches: every producer's dot with its interval, group by group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from edsim.report.charts.figure import (
    Figure,
    by_family,
    chart_of,
    finished,
    standing_out,
)
from edsim.report.criteria import CRITERIA, Criterion, figure, shown_interval
from edsim.report.entries import Entry
from edsim.report.theme import variable

MEASURE = "measure"
"""The parameter that chooses what is shown of the groups."""
MOST_PRODUCERS = 8
MOST_GROUPS = 24
LEFT_OVER = ("other", "unknown", "not recorded", "before triage", "elsewhere")
ON_OUTCOME = ("length quartile", "completion", "late")
"""Groups known only when the visit is over."""


def groups(entries: Sequence[Entry]) -> list[Figure]:
    """A figure for each population that was scored and has more than one group."""
    ranked = [entry for entry in entries if not entry.privileged][:MOST_PRODUCERS]
    names = dict.fromkeys(
        row.population for entry in ranked for row in entry.sheet.rows if row.population != "all"
    )
    rows_of = {name: [row for entry in ranked for row in _rows(entry, name)] for name in names}
    several = {name: rows for name, rows in rows_of.items() if len(_sizes(rows)) > 1}
    alone = [
        row | {"group": name}
        for name, rows in rows_of.items()
        for row in rows
        if name not in several
    ]
    made = [_figure(f"By {name}", name, rows, entries) for name, rows in several.items()]
    return [*made, _figure("Parts of the launches", "part", alone, entries)] if alone else made


def _figure(
    title: str, population: str, rows: list[dict[str, Any]], entries: Sequence[Entry]
) -> Figure:
    import altair as alt

    ranked = [entry for entry in entries if not entry.privileged][:MOST_PRODUCERS]
    largest = _largest(_sizes(rows))
    rows = [row for row in rows if row["group"] in largest]
    measures = [one for one in CRITERIA if any(row["measure"] == one.metric for row in rows)]
    chosen = "jsd" if any(one.metric == "jsd" for one in measures) else measures[0].metric
    look = by_family(ranked)
    base = (
        chart_of("rows")
        .transform_filter(f"datum.measure == {MEASURE}")
        .encode(
            y=alt.Y("group:N", sort=largest, title=None, axis=alt.Axis(grid=True)),
            yOffset=alt.YOffset("producer:N", sort=[one.label for one in ranked]),
            opacity=standing_out(),
        )
    )
    x = alt.X(
        "value:Q",
        title=None,
        scale=alt.Scale(zero=False, nice=True),
        axis=alt.Axis(format="~g", tickCount=6, labelOverlap=True),
    )
    bars = base.mark_rule(strokeWidth=1.5).encode(
        x=alt.X("low:Q"), x2="high:Q", color=look["color"]
    )
    points = base.mark_point(size=46, filled=True).encode(
        x=x,
        **look,
        tooltip=[
            alt.Tooltip("producer:N"),
            alt.Tooltip("group:N"),
            alt.Tooltip("shown:N", title="value"),
            alt.Tooltip("launches:Q", format=","),
        ],
    )
    right = (
        alt.Chart(alt.Data(values=[{"at": 1}]))
        .transform_filter(f"{MEASURE} == 'duration_ratio'")
        .mark_rule(strokeDash=[4, 3], color=variable("soft"), strokeWidth=1, aria=False)
        .encode(x="at:Q")
    )
    step = max(7, min(12, 60 // len(ranked)))
    height = len(largest) * (step * len(ranked) + 14)
    said = (
        alt.Chart(alt.Data(values=[{"of": one.metric, "title": _title(one)} for one in measures]))
        .transform_filter(f"datum.of == {MEASURE}")
        .mark_text(align="right", dy=32, color=variable("soft"), fontSize=12, aria=False)
        .encode(text="title:N", x=alt.XValue("width"), y=alt.YValue(height))
    )
    chart = alt.layer(right, bars, points, said).add_params(alt.param(name=MEASURE, value=chosen))
    spec = finished(chart.properties(width="container", height=height), title, rows=rows)
    return Figure(
        name=f"by-{population.replace(' ', '-')}",
        title=title,
        says=_says({str(row["population"]) for row in rows}, len(largest), ranked, entries),
        spec=spec,
        choices={MEASURE: [(one.metric, one.title) for one in measures]},
    )


def _title(criterion: Criterion) -> str:
    """What is drawn, with its unit."""
    unit = {
        "share": "share",
        "divergence": "nats",
        "ratio": "generated / observed, 1 is right",
        "pp": "percentage points off",
        "minutes": "minutes",
        "auc": "area under the curve, .5 is right",
    }[criterion.form]
    return f"{criterion.title.lower()}, {unit}"


def _says(
    populations: set[str], n_groups: int, ranked: Sequence[Entry], entries: Sequence[Entry]
) -> str:
    said = [f"The {n_groups} largest groups."] if n_groups == MOST_GROUPS else []
    chosen_later = sorted(populations & set(ON_OUTCOME))
    if chosen_later:
        said.append(
            f"Selected on the outcome ({', '.join(chosen_later)}): nobody knows it at the launch, "
            "and no simulator can be right there. Compare producers with each other only."
        )
    n_others = sum(not entry.privileged for entry in entries) - len(ranked)
    if n_others:
        said.append(f"{n_others} more producers are in the scores and not drawn.")
    return " ".join(said)


def _sizes(rows: Sequence[dict[str, Any]]) -> dict[str, int]:
    """Launches of each group."""
    sizes: dict[str, int] = {}
    for row in rows:
        sizes[row["group"]] = max(row["launches"], sizes.get(row["group"], 0))
    return sizes


def _largest(sizes: dict[str, int]) -> list[str]:
    """As many groups as can be read, in the order of their names, what is left over last."""
    kept = sorted(sizes, key=lambda name: -sizes[name])[:MOST_GROUPS]
    return sorted(
        kept, key=lambda name: (name.lower() in LEFT_OVER, not name.startswith("under"), name)
    )


def _rows(entry: Entry, population: str) -> list[dict[str, Any]]:
    found = []
    for criterion in CRITERIA:
        for row in entry.rows(criterion.metric, population):
            assert row.value is not None
            interval = shown_interval(row) or (row.value, row.value)
            found.append(
                {
                    "producer": entry.label,
                    "family": entry.family,
                    "population": population,
                    "group": row.group,
                    "measure": criterion.metric,
                    "value": row.value,
                    "low": interval[0],
                    "high": interval[1],
                    "shown": figure(criterion, row.value),
                    "launches": row.n_launches,
                }
            )
    return found
