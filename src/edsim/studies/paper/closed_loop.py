"""tab:app-closed: everything of the standard models, vanilla and under the process mask."""

from __future__ import annotations

from edsim.studies.paper.book import COARSE, REFERENCE, Book
from edsim.studies.paper.cells import cell
from edsim.studies.paper.entry import Entry
from edsim.studies.runs import Run
from edsim.tables.paper import Panel

LABEL = "tab:app-closed"
COLUMNS = {
    "Term.": "termination",
    "JSD": "jsd",
    "xF": "xf",
    "Edit": "edit_distance",
    "Dur.": "duration_ratio",
    "LOS": "los_mae",
    "RD": "reached_discharge",
}
MODELS = {"Transf.": "transformer", "GRU": "gru", "LSTM": "lstm"}
RULES = {"Van": "vanilla", "PM": "process_mask"}


def _rows(book: Book) -> dict[str, Run]:
    rows = {}
    for prefix, vocabulary in (("7-tok", COARSE), ("32-tok", None)):
        for name, model in MODELS.items():
            for said, rule in RULES.items():
                run = book.whole(model, vocabulary=vocabulary, rule=rule)
                rows[f"{prefix} {name} {said}"] = run
        rows[f"{prefix} n-gram-3"] = book.whole(REFERENCE, vocabulary=vocabulary)
    return rows


def panels(book: Book) -> list[Panel]:
    cells = [
        cell(LABEL, row, column, book.score(run, metric))
        for row, run in _rows(book).items()
        for column, metric in COLUMNS.items()
    ]
    return [Panel(cells=tuple(cells))]


ENTRY = Entry(
    label=LABEL,
    title="Full closed-loop results",
    panels=panels,
    notes=(
        "LOS is the error of the remaining stay on terminated rollouts, of the suffix alone.",
        "Reached discharge has a target, the observed share; a launch behind its last discharge "
        "row has none to reach.",
    ),
)
