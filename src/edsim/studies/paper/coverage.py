"""tab:app-cov: how much of the test split a count model has met in training."""

from __future__ import annotations

from edsim.studies.paper.book import COARSE, Book
from edsim.studies.paper.cells import plain
from edsim.studies.paper.entry import Entry
from edsim.studies.paper.facts import coverage, figure
from edsim.tables.paper import Panel, PaperCell

LABEL = "tab:app-cov"
ORDERS = (1, 2, 3)


def panels(book: Book) -> list[Panel]:
    cells: list[PaperCell] = []
    for prefix, vocabulary in (("7-tok", COARSE), ("32-tok", None)):
        covered, why = coverage(book, max(ORDERS), vocabulary)
        for order in ORDERS:
            row = f"{prefix} {order}"
            cells += [
                plain(LABEL, row, "Coverage", figure(covered, order, "share"), why),
                plain(LABEL, row, "# contexts", figure(covered, order, "n_contexts"), why),
                plain(
                    "",
                    row,
                    "with a mark for the start",
                    figure(covered, order, "n_contexts_marked"),
                    why,
                ),
            ]
    return [Panel(cells=tuple(cells))]


ENTRY = Entry(
    label=LABEL,
    title="Train-context coverage",
    panels=panels,
    notes=(
        "The paper does not say whether histories shorter than the order count as contexts: both "
        "counts are given, without and with a mark for the start of the stay.",
    ),
)
