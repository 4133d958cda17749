"""What a chart is to the page, and what all charts have in common."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from edsim.report.entries import Entry
from edsim.report.theme import configuration, variable

MOST_POINTS = 5_000
"""Rows of data that one chart may hold."""
SHOWN = "shown_family"
"""The parameter by which the page lets one family of producers stand out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A chart with what is said of it; without a specification, why there is none."""

    name: str
    title: str
    says: str
    spec: dict[str, Any] | None = None
    missing: str = ""
    choices: Mapping[str, Sequence[tuple[str, str]]] = field(default_factory=dict)
    """Parameters the reader may set, with (value, label) of each choice."""


def by_family(entries: Sequence[Entry], *, legend: bool = True) -> dict[str, Any]:
    """Colour and shape of the producers' families, as encodings; no legend beside names."""
    import altair as alt

    families = {entry.family: entry for entry in entries}
    domain = list(families)
    key = alt.Legend(title=None) if legend else None
    return {
        "color": alt.Color(
            "family:N",
            scale=alt.Scale(domain=domain, range=[one.colour for one in families.values()]),
            legend=key,
        ),
        "shape": alt.Shape(
            "family:N",
            scale=alt.Scale(domain=domain, range=[one.shape for one in families.values()]),
            legend=key,
        ),
    }


def standing_out(full: float = 1.0) -> Any:
    """Opacity: full for the family that is to stand out, or for all where none is."""
    import altair as alt

    return alt.condition(
        f"{SHOWN} == '' || datum.family == {SHOWN}", alt.value(full), alt.value(0.1)
    )


def finished(chart: Any, description: str, **data: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The specification of a chart with its data by name, for the page and for files alike.

    More data than a chart may hold is a fault of its maker.
    """
    import altair as alt

    assert sum(len(rows) for rows in data.values()) <= MOST_POINTS, "choose before drawing"
    chart = chart.add_params(alt.param(name=SHOWN, value="")).properties(description=description)
    spec: dict[str, Any] = chart.to_dict(validate=False)
    spec["config"] = configuration()
    spec["datasets"] = {name: list(rows) for name, rows in data.items()}
    return spec


def chart_of(name: str) -> Any:
    """A chart of the data that `finished` gets by this name."""
    import altair as alt

    return alt.Chart(alt.NamedData(name=name))


def log_axis(values: Sequence[float], **more: Any) -> Any:
    """An axis for a logarithmic scale: the decades, and steps between them where they are few."""
    import altair as alt

    low, high = min(values), max(values)
    steps = (1, 2, 5) if high < 60 * low else (1, 3) if high < 1_000 * low else (1,)
    decades = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 1)
    ticks = [step * 10.0**decade for decade in decades for step in steps]
    return alt.Axis(values=[float(f"{tick:.3g}") for tick in ticks], format=".6~g", **more)


def without_legends(spec: Any) -> Any:
    """The same chart without legends, for a page that has one legend for all."""
    if isinstance(spec, dict):
        return {
            name: None
            if name == "legend" and isinstance(part, dict) and "orient" not in part
            else without_legends(part)
            for name, part in spec.items()
        }
    return [without_legends(part) for part in spec] if isinstance(spec, list) else spec


def within_points(
    entries: Sequence[Entry], rows_of: Mapping[int, Sequence[Mapping[str, Any]]]
) -> tuple[list[Mapping[str, Any]], int]:
    """Rows of as many producers as a chart can hold, in order, and how many were left out."""
    rows: list[Mapping[str, Any]] = []
    for n_shown, entry in enumerate(entries):
        more = rows_of.get(entry.number, ())
        if len(rows) + len(more) > MOST_POINTS:
            return rows, len(entries) - n_shown
        rows += more
    return rows, 0


def left_out_says(n_left_out: int) -> str:
    """A sentence about producers a chart has no room for."""
    if not n_left_out:
        return ""
    return f" {n_left_out} producers are left out: a chart holds {MOST_POINTS:,} points."


def mark_line(**encodings: Any) -> Any:
    """A thin dashed line that marks a value, with a label where `text` is given."""
    import altair as alt

    return (
        alt.Chart(alt.Data(values=[{}]))
        .mark_rule(strokeDash=[4, 3], color=variable("soft"), strokeWidth=1, aria=False)
        .encode(**encodings)
    )


def mark_label(text: str, *, dx: float = 4, dy: float = 0, align: str = "left", **at: Any) -> Any:
    """A small text beside such a line."""
    import altair as alt

    return (
        alt.Chart(alt.Data(values=[{}]))
        .mark_text(
            text=text,
            align=align,
            baseline="middle",
            dx=dx,
            dy=dy,
            color=variable("soft"),
            fontSize=11,
            aria=False,
        )
        .encode(**at)
    )
