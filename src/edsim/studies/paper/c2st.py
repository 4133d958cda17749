"""tab:app-c2st: can a classifier tell generated continuations, without and with their prefix?"""

from __future__ import annotations

from dataclasses import replace

from edsim.studies.paper.book import Book
from edsim.studies.paper.cells import cell, over_seeds, plain
from edsim.studies.paper.entry import Entry
from edsim.studies.paper.models import CAUSAL_ALL
from edsim.tables.paper import Panel, PaperCell

LABEL, TEXT = "tab:app-c2st", "app:ordercurve"
ONE_EACH = {
    "n-gram-3": "ngram:3",
    "n-gram-7": "ngram:7",
    "Semi-Markov": "semi_markov",
    "Standard Transformer": "transformer",
}
NEURAL = "Causal all-position"
COLUMNS = {
    "Marg.": "c2st",
    "Cond.": "c2st_conditional",
    "Head.": "c2st_headroom",
    "Logit": "c2st_logit",
}
GAP, PRINTED_GAP = "C2ST gap", "n-gram-3, n-gram-7"


def panels(book: Book) -> list[Panel]:
    cells: list[PaperCell] = []
    for row, model in ONE_EACH.items():
        scores = {column: book.score(book.run(model), m) for column, m in COLUMNS.items()}
        cells += [cell(LABEL, row, column, score) for column, score in scores.items()]
    seeds = book.seeds(CAUSAL_ALL)
    cells += [
        over_seeds(LABEL, NEURAL, column, book.scores(seeds, metric))
        for column, metric in COLUMNS.items()
    ]
    return [
        Panel(cells=tuple(cells)),
        Panel(title="What the prefix adds, as it is", cells=tuple(_gaps(book))),
    ]


def _gaps(book: Book) -> list[PaperCell]:
    """The text prints one number for both orders; each has a row here."""
    cells = []
    for row, model in ONE_EACH.items():
        without, with_prefix = (book.score(book.run(model), m) for m in ("c2st", COLUMNS["Cond."]))
        there = None not in (without.value, with_prefix.value)
        gap = (with_prefix.value or 0.0) - (without.value or 0.0) if there else None
        found = plain(
            TEXT, PRINTED_GAP if row.startswith("n-gram") else row, GAP, gap, without.note
        )
        cells.append(replace(found, row=row))
    return cells


ENTRY = Entry(
    label=LABEL,
    title="Conditional classifier two-sample test",
    panels=panels,
    notes=(
        "One launch a stay, so that the classifier cannot know the stay; the paper's takes all "
        "100,000. Its features are described in words only: areas depend on them, increments less.",
        "A classifier that sees the prefix alone has area .500 by construction: both suffixes of a "
        "launch have the same prefix.",
    ),
)
