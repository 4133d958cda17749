"""Every number in paper_values.csv is where the text prints it, and none of its tables is left out."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from paper_text import numbers, paper_text, sections, tables

from edsim.studies.paper.values import paper_values, printed
from edsim.tables.paper import PaperValue

TWO_PANELS = {"tab:seed": ("tab:rich", "tab:seed")}
"""Labels of one table in the text whose panels are two of ours."""


def values_of(*labels: str) -> list[str]:
    return [one.value for one in paper_values() if one.label in labels]


def test_every_cell_of_every_table_is_there_in_reading_order() -> None:
    for label, read in tables(paper_text()).items():
        assert values_of(*TWO_PANELS.get(label, (label,))) == read, label


def test_numbers_of_the_text_stand_in_their_section() -> None:
    for label, text in sections(paper_text()).items():
        lost = Counter(set(values_of(label))) - Counter(set(numbers(text)))
        assert not lost, (label, lost)


def test_no_result_of_the_text_is_left_out() -> None:
    """Decimals and percentages; versions of data sets and targets of calibration are none."""
    for label, text in sections(paper_text()).items():
        text = re.sub(r"\d\.\d\.\d|MIMIC-IV-ED 2\.2", "", text)
        results = set(re.findall(r"(?<![\w.^-])\d+\.\d+|\d+(?=\\?%)", text))
        held = " ".join(values_of(label))
        left_out = [
            r for r in results if not re.search(rf"(?<![\d.]){re.escape(r)}(?![\d.]*\d)", held)
        ]
        assert not left_out, (label, left_out)


def test_rows_and_columns_are_found_by_name() -> None:
    assert printed("tab:app-order")["7", "JSD"].value == "0.00041"
    keys = [(one.label, one.row, one.column) for one in paper_values()]
    assert len(keys) == len(set(keys))


def test_every_value_is_a_number_of_a_named_population() -> None:
    for one in paper_values():
        assert one.numbers() and one.population and one.row and one.column
    assert {one.label for one in paper_values() if one.note} >= {"app:scale", "app:occupancy"}


@pytest.mark.parametrize(
    ("value", "read", "half_step"),
    [
        ("0.0023", (0.0023,), 0.00005),
        ("7,945", (7945.0,), 0.5),
        ("4.2-137", (4.2, 137.0), 0.5),
        ("0.0015-0.0039", (0.0015, 0.0039), 0.00005),
        ("4.5x10^-6", (4.5e-6,), 5e-8),
        ("-7.9", (-7.9,), 0.05),
        ("+1.4", (1.4,), 0.05),
    ],
)
def test_printed_numbers_are_read_with_their_rounding(
    value: str, read: tuple[float, ...], half_step: float
) -> None:
    one = PaperValue(label="", row="", column="", value=value, population="", unit="")
    assert one.numbers() == pytest.approx(read)
    assert one.half_step() == pytest.approx(half_step)
