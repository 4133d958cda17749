"""What a module of this package offers: a label of the paper, and its panels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from edsim.charts import Chart
from edsim.studies.paper.book import Book
from edsim.studies.runs import Role
from edsim.tables.paper import Panel, PaperTable


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A table or figure of the paper, or results that its text alone prints."""

    label: str
    """As in the paper's source; of results without a table, the section's and what they are."""
    title: str
    panels: Callable[[Book], list[Panel]]
    cohort: Role = "main"
    """Whose numbers they are."""
    beside: tuple[Role, ...] = ()
    """Other cohorts that some of the numbers are of."""
    notes: tuple[str, ...] = ()
    """What to know beside the paper's numbers."""
    chart: Callable[[PaperTable], Chart] | None = None
    """The picture of a figure."""
