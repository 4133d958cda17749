"""tab:app-subgroup: termination by where the launch lies, by trace length, and of 32 tokens."""

from __future__ import annotations

from collections.abc import Sequence

from edsim.studies.paper.book import COARSE, Book
from edsim.studies.paper.cells import cell, over_seeds, plain
from edsim.studies.paper.entry import Entry
from edsim.studies.paper.facts import launch_counts
from edsim.studies.paper.models import STANDARD
from edsim.studies.runs import Run
from edsim.tables.paper import Panel, PaperCell
from edsim.tables.scores import ScoreRow

LABEL, TEXT = "tab:app-subgroup", "app:subgroup"
GROUPS = {**{f"A{k}": f"acuity {k}" for k in range(1, 6)}, "Non-triage": "elsewhere"}
AT_TRIAGE = tuple(f"acuity {k}" for k in range(1, 6))
QUARTILES = {
    "Shortest quartile": "1 (shortest)",
    "Second": "2",
    "Third": "3",
    "Longest quartile": "4 (longest)",
}


def panels(book: Book) -> list[Panel]:
    cells = [
        cell(LABEL, row, column, book.score(run, "termination", population="triage", group=group))
        for row, model in STANDARD.items()
        for run in [book.whole(model, vocabulary=COARSE)]
        for column, group in GROUPS.items()
    ]
    return [
        Panel(cells=tuple(cells), along_rows=True),
        Panel(
            title="By number of events of the visit",
            cells=tuple(_quartiles(book)),
            along_rows=True,
        ),
        Panel(title="32 tokens", cells=tuple(_fine(book)), along_rows=True),
        Panel(title="Range over the five acuities", cells=tuple(_ranges(book)), along_rows=True),
        Panel(title="Launches", cells=tuple(_counts(book))),
    ]


def _quartiles(book: Book) -> list[PaperCell]:
    run = book.whole("transformer", vocabulary=COARSE)
    return [
        cell(
            TEXT,
            "7-tok Transformer",
            column,
            book.score(run, "termination", population="length quartile", group=group),
        )
        for column, group in QUARTILES.items()
    ]


def _fine(book: Book) -> list[PaperCell]:
    run, row = book.whole("transformer"), "32-tok Transformer"
    elsewhere = book.score(run, "termination", population="triage", group="elsewhere")
    at_triage = book.score(book.run("transformer", launches="triage"), "termination")
    return [cell(TEXT, row, "Triage", at_triage), cell(TEXT, row, "Non-triage", elsewhere)]


def _ranges(book: Book) -> list[PaperCell]:
    recurrent = [book.whole(model, vocabulary=COARSE) for model in ("gru", "lstm")]
    row = "7-tok GRU, LSTM"
    return [
        over_seeds(
            "sec:context",
            "32-tok Transformer",
            "Triage",
            _ending(book, [book.whole("transformer")]),
        ),
        over_seeds(TEXT, row, "Triage", _ending(book, recurrent)),
        over_seeds(TEXT, row, "Non-triage", _ending(book, recurrent, ("elsewhere",))),
    ]


def _ending(book: Book, runs: Sequence[Run], groups: Sequence[str] = AT_TRIAGE) -> list[ScoreRow]:
    return [
        book.score(run, "termination", population="triage", group=group)
        for run in runs
        for group in groups
    ]


def _counts(book: Book) -> list[PaperCell]:
    found = launch_counts(book)
    n, n_triage, n_stays = found.launches, found.triage, found.stays
    other = None if n is None or n_triage is None else n - n_triage
    with_acuity = None if n_triage is None or not n_stays else 100 * n_triage / n_stays
    numbers = {
        ("Triage launches", "Number"): n_triage,
        ("Test stays with acuity", "Share"): with_acuity,
        ("Launches", "Number"): n,
        ("Non-triage launches", "Number"): other,
        ("Non-triage launches", "Share"): None if other is None or not n else 100 * other / n,
    }
    return [
        plain(TEXT, row, column, value, found.note if value is None else "")
        for (row, column), value in numbers.items()
    ]


ENTRY = Entry(
    label=LABEL,
    title="Sensitivity to launch context",
    panels=panels,
    notes=(
        "Trace length is known only when the visit is over: its quartiles are selected on the "
        "outcome.",
    ),
)
