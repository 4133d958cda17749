"""tab:app-equity: ending, reached discharge and duration by recorded race; the sex contrast."""

from __future__ import annotations

from edsim.studies.paper.book import Book
from edsim.studies.paper.cells import cell, plain
from edsim.studies.paper.entry import Entry
from edsim.studies.paper.models import STANDARD
from edsim.tables.paper import Panel, PaperCell

LABEL, TEXT = "tab:app-equity", "app:equity"
RACES = ("Asian", "Black", "Hispanic/Latino", "White", "Not recorded")
COLUMNS = {"Term.": "termination", "RD": "reached_discharge", "Dur.": "duration_ratio"}


def panels(book: Book) -> list[Panel]:
    cells: list[PaperCell] = []
    for name, model in STANDARD.items():
        run = book.whole(model)
        for race in RACES:
            row = f"{name} {race}"
            scores = {
                column: book.score(run, metric, population="race", group=race)
                for column, metric in COLUMNS.items()
            }
            ended = scores["Term."]
            there = ended.n_launches if ended.n_launches else None
            cells.append(plain(LABEL, row, "n", there, ended.note))
            cells += [cell(LABEL, row, column, score) for column, score in scores.items()]
    return [
        Panel(cells=tuple(cells)),
        Panel(title="Largest difference between recorded sexes", cells=tuple(_sexes(book))),
    ]


def _sexes(book: Book) -> list[PaperCell]:
    columns = {
        "Largest difference in Term.": "termination",
        "Largest difference in Dur.": "duration_ratio",
    }
    cells = []
    for column, metric in columns.items():
        apart, why = [], ""
        for model in STANDARD.values():
            sides = [
                book.score(book.whole(model), metric, population="sex", group=sex)
                for sex in ("F", "M")
            ]
            why = why or sides[0].note or sides[1].note
            if sides[0].value is not None and sides[1].value is not None:
                apart.append(abs(sides[0].value - sides[1].value))
        cells.append(plain(TEXT, "Sex", column, max(apart) if apart else None, why))
    return cells


ENTRY = Entry(
    label=LABEL,
    title="Performance by recorded demographic group",
    panels=panels,
    notes=(
        "Descriptive: groups differ in case mix and documentation, and a model that scores "
        "differently in one need not treat it differently.",
        "The paper prints bounds for the sexes (less than); ours are the differences themselves.",
        "Of restricted data a group of fewer than ten subjects is not shown.",
    ),
)
