"""tab:app-floor: how far apart two samples of real suffixes are, beside the models."""

from __future__ import annotations

from edsim.studies.paper.book import COARSE, REFERENCE, Book
from edsim.studies.paper.cells import cell
from edsim.studies.paper.entry import Entry
from edsim.tables.paper import Panel, PaperCell

LABEL = "tab:app-floor"
ROWS = {
    "Real vs. real": (REFERENCE, "jsd_real_vs_real"),
    "Population vs. subsample": (REFERENCE, "jsd_population_vs_sample"),
    "n-gram-3 reference": (REFERENCE, "jsd"),
    "Transformer (vanilla)": ("transformer", "jsd"),
}
COLUMNS = {"7-token": COARSE, "32-token": None}


def panels(book: Book) -> list[Panel]:
    cells: list[PaperCell] = [
        cell(LABEL, row, column, book.score(book.run(model, vocabulary=vocabulary), metric))
        for row, (model, metric) in ROWS.items()
        for column, vocabulary in COLUMNS.items()
    ]
    return [Panel(cells=tuple(cells))]


ENTRY = Entry(
    label=LABEL,
    title="Real-versus-real reference values of JSD",
    panels=panels,
    notes=(
        "A yardstick of the measure and not a bound: a good simulator shares its launches with the "
        "truth and may lie below it.",
    ),
)
