"""docs/metrics.md names exactly the measures there are, with their direction and unit."""

from __future__ import annotations

import re

from edsim.lab.scores import SHARED
from edsim.metrics.measure import Measure
from edsim.metrics.open_loop import OPEN_LOOP
from edsim.metrics.real_vs_real import YARDSTICKS
from edsim.metrics.registry import FULL_TEST, HEADLINE, METRICS, MULTIPLES, SLOW, TITLES
from edsim.metrics.two_sample import TWO_SAMPLE
from places import ROOT

MEASURES: dict[str, Measure] = {
    measure.name: measure for measure in (*METRICS.values(), *OPEN_LOOP.values())
}


def lines() -> dict[str, list[str]]:
    """The cells of each measure's line, by its name."""
    text = (ROOT / "docs" / "metrics.md").read_text()
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in text.splitlines() if line[:3] == "| `"]
    assert all(len(row) == 7 for row in rows)
    return {row[0].strip().strip("`"): [cell.strip() for cell in row] for row in rows}


def test_every_measure_has_a_line_and_every_line_is_of_a_measure() -> None:
    wanted = {*MEASURES, *MULTIPLES, *TWO_SAMPLE, SHARED, FULL_TEST}
    wanted |= {f"jsd_{kind}" for kind in YARDSTICKS}
    assert set(lines()) == wanted


def test_direction_unit_and_marks_are_those_of_the_code() -> None:
    for name, (_, formula, _, better, unit, source, undefined) in lines().items():
        assert formula and source, name
        if name not in MEASURES:
            continue
        measure = MEASURES[name]
        assert better == measure.better, name
        assert unit == measure.unit, name
        assert undefined, name
        marks = set(re.findall(r"\b[DPEO]\b", formula.rpartition(". ")[2]))
        if name in METRICS:
            told = {"D": measure.interval != "percentile", "P": measure.paired}
            told |= {"E": measure.ended_only, "O": measure.on_outcome}
            assert marks == {mark for mark, held in told.items() if held}, name


def test_the_headline_is_of_measures_and_every_name_has_a_title() -> None:
    assert all(METRICS[name] is measure for name, measure in HEADLINE.items())
    assert all(TITLES[name] for name in (*SLOW, *HEADLINE))
