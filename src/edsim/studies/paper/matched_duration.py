"""tab:app-matchdur: duration ratios of each model's own terminated rollouts, and where all end."""

from __future__ import annotations

from edsim.studies.paper.book import COARSE, REFERENCE, Book
from edsim.studies.paper.cells import cell, plain
from edsim.studies.paper.entry import Entry
from edsim.studies.paper.models import STANDARD
from edsim.studies.runs import Run
from edsim.tables.paper import Panel, PaperCell

LABEL = "tab:app-matchdur"
ROWS = {"n-gram-3": REFERENCE, **STANDARD}
VOCABULARIES = {"32-tok": None, "7-tok": COARSE}


def panels(book: Book) -> list[Panel]:
    cells: list[PaperCell] = []
    counts: list[PaperCell] = []
    moved: dict[str, list[float]] = {}
    for prefix, vocabulary in VOCABULARIES.items():
        four = _four(book, vocabulary)
        shared = book.where_all_end(four)
        for name, run, matched in zip(ROWS, four, shared, strict=True):
            row = f"{prefix} {name}"
            own = book.score(run, "duration_ratio")
            if own.value is not None and matched.value is not None:
                moved.setdefault(prefix, []).append(abs(matched.value - own.value))
            cells.append(cell(LABEL, row, "Own term.", own))
            cells.append(cell(LABEL, row, "Matched", matched))
        n = shared[0].n_launches if shared[0].value is not None else None
        counts.append(plain("app:closedloop", prefix, "Matched launches", n, shared[0].note))
    return [
        Panel(cells=tuple(cells), along_rows=True),
        Panel(title="Launches where all four end", cells=tuple(counts)),
        Panel(title="Largest change by matching", cells=tuple(_changes(moved))),
    ]


def _changes(moved: dict[str, list[float]]) -> list[PaperCell]:
    return [
        plain(
            "app:closedloop",
            f"{prefix} models",
            "Largest change by matching",
            max(moved[prefix]) if prefix in moved else None,
            "" if prefix in moved else "no ratio on matched launches",
        )
        for prefix in VOCABULARIES
    ]


def _four(book: Book, vocabulary: str | None) -> list[Run]:
    return [book.whole(model, vocabulary=vocabulary) for model in ROWS.values()]


ENTRY = Entry(
    label=LABEL,
    title="Duration ratio under matched termination",
    panels=panels,
    notes=("Launches where all end are selected on what the models did; see docs/faq.md.",),
)
