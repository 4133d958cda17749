"""tab:app-cap: termination with room for twice as many events."""

from __future__ import annotations

from edsim.studies.paper.book import COARSE, Book
from edsim.studies.paper.cells import cell, plain
from edsim.studies.paper.entry import Entry
from edsim.studies.paper.facts import cap_of, share_longer_than
from edsim.studies.runs import Role, Run
from edsim.tables.paper import Panel, PaperCell

LABEL, TEXT = "tab:app-cap", "app:cap"
CAPS = {"Cap 128": 128, "Cap 256": 256}
MODELS = {
    "7-token Transformer": ("transformer", COARSE),
    "7-token GRU": ("gru", COARSE),
    "7-token LSTM": ("lstm", COARSE),
    "32-token Transformer": ("transformer", None),
}
PAPERS_CAP = 128


def _rows(book: Book) -> dict[tuple[str, str], Run]:
    return {
        (row, column): book.whole(model, vocabulary=vocabulary, cap=cap)
        for row, (model, vocabulary) in MODELS.items()
        for column, cap in CAPS.items()
    }


def panels(book: Book) -> list[Panel]:
    cells = [
        cell(LABEL, row, column, book.score(run, "termination"))
        for (row, column), run in _rows(book).items()
    ]
    share, why = share_longer_than(book, PAPERS_CAP, "external")
    longer = plain(TEXT, "MC-MED visits", "Longer than 128 events", share and 100 * share, why)
    return [
        Panel(cells=tuple(cells), along_rows=True),
        Panel(title="Visits too long for the cap, percent", cells=(longer,)),
        Panel(title="Caps of the cohorts, events", cells=tuple(_chosen(book))),
    ]


def _chosen(book: Book) -> list[PaperCell]:
    """From the number of events of the training split's visits, by one rule."""
    roles: dict[str, Role] = {"MIMIC": "main", "MC-MED": "external"}
    cells = []
    for column, role in roles.items():
        cap, why = cap_of(book, role)
        cells.append(plain(TEXT, "Cap", column, cap, why))
    return cells


ENTRY = Entry(
    label=LABEL,
    title="Sensitivity to the rollout cap",
    panels=panels,
    beside=("external",),
)
