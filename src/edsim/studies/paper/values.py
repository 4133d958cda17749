"""What the paper prints: every number with its table, row, column and population. Facts only."""

from __future__ import annotations

import csv
from functools import cache
from importlib.resources import files

from edsim.tables.paper import PaperValue


@cache
def paper_values() -> tuple[PaperValue, ...]:
    """All of `paper_values.csv`, in the order of the text, the tables first."""
    text = files("edsim.studies.paper").joinpath("paper_values.csv").read_text(encoding="utf-8")
    return tuple(PaperValue(**row) for row in csv.DictReader(text.splitlines()))


@cache
def printed(label: str) -> dict[tuple[str, str], PaperValue]:
    """The numbers of one table by row and column."""
    return {(one.row, one.column): one for one in paper_values() if one.label == label}
