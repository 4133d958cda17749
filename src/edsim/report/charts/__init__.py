"""The charts of the page, each a function of the entries that gives a figure or says why not."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from edsim.report.charts.calibration import pit, reliability
from edsim.report.charts.clock import durations, occupancy, occupancy_errors
from edsim.report.charts.figure import Figure
from edsim.report.charts.ladder import ladder
from edsim.report.charts.mix import event_mix
from edsim.report.charts.overview import gap, plane, positions
from edsim.report.charts.steps import step_divergence, step_gaps
from edsim.report.entries import Entry
from edsim.report.gap import simulation_gap

Draw = Callable[[Sequence[Entry]], Figure]

SECTIONS: dict[str, tuple[Draw, ...]] = {
    "Where they stand": (plane, ladder),
    "What goes wrong when": (step_divergence, step_gaps),
    "Time": (durations, occupancy, occupancy_errors),
    "Forecasts": (reliability, pit),
    "Events": (event_mix,),
}
"""The charts below the board, by section; groups of launches follow them."""


def opening(entries: Sequence[Entry]) -> Figure:
    """The picture the page opens with: the simulation gap, or else how far each is off in what."""
    found = simulation_gap(entries)
    figure = gap(entries, "jsd" if found is None else found.metric)
    return positions(entries) if figure.spec is None else figure


def sections(entries: Sequence[Entry]) -> dict[str, list[Figure]]:
    """The charts below the board; the gap in the event mix too, where the page opens with time."""
    drawn = {title: [draw(entries) for draw in draws] for title, draws in SECTIONS.items()}
    if opening(entries).name == "simulation-gap-in-time":
        drawn["Where they stand"].insert(0, gap(entries))
    return drawn
