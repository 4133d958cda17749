"""tab:app-order: what deeper count models gain and what they store; 182 tokens, and the size of a
checkpoint beside that of a table, from the section's text.
"""

from __future__ import annotations

from edsim.lab.related import FINEST as EXTENDED
from edsim.studies.paper.book import Book
from edsim.studies.paper.cells import cell, percent, plain
from edsim.studies.paper.entry import Entry
from edsim.studies.paper.facts import checkpoint_megabytes, coverage, figure
from edsim.studies.paper.models import CAUSAL_ALL
from edsim.tables.paper import Panel, PaperCell

LABEL, TEXT = "tab:app-order", "app:ordercurve"
ORDERS = (3, 4, 5, 6, 7)
EXTENDED_ORDERS = (3, 5, 7)


def panels(book: Book) -> list[Panel]:
    covered, why = coverage(book, max(ORDERS))
    cells: list[PaperCell] = []
    ended = []
    for order in ORDERS:
        run, row = book.run(f"ngram:{order}"), str(order)
        ended.append(book.score(run, "termination").value)
        cells += [
            cell(LABEL, row, "JSD", book.score(run, "jsd")),
            plain(LABEL, row, "Contexts", figure(covered, order, "n_contexts"), why),
            plain(
                "",
                row,
                "with a mark for the start",
                figure(covered, order, "n_contexts_marked"),
                why,
            ),
            plain(LABEL, row, "Size", figure(covered, order, "megabytes"), why),
            plain(LABEL, row, "Cov.", figure(covered, order, "share"), why),
        ]
    known = [value for value in ended if value is not None]
    lowest = plain(TEXT, "Every order", "Term. lowest", min(known) if known else None, why)
    return [
        Panel(cells=tuple(cells)),
        Panel(title="Termination", cells=(lowest,)),
        Panel(title="182 tokens", cells=tuple(_extended(book))),
    ]


def _extended(book: Book) -> list[PaperCell]:
    covered, why = coverage(book, max(EXTENDED_ORDERS), EXTENDED, "extended")
    cells = []
    for order in EXTENDED_ORDERS:
        row = f"182-tok {order}"
        run = book.run(f"ngram:{order}", vocabulary=EXTENDED, cohort="extended")
        cells.append(cell(TEXT, row, "JSD", book.score(run, "jsd")))
        cells.append(plain(TEXT, row, "Cov.", percent(figure(covered, order, "share")), why))
        cells.append(plain(TEXT, row, "Size", figure(covered, order, "megabytes"), why))
    checkpoint, not_there = checkpoint_megabytes(book, CAUSAL_ALL)
    largest = figure(covered, max(EXTENDED_ORDERS), "megabytes")
    times = largest / checkpoint if largest and checkpoint else None
    row = "Order-7 table (182-tok)"
    return [
        *cells,
        plain(TEXT, "Causal Transf. (all-pos.)", "Checkpoint size", checkpoint, not_there),
        plain(TEXT, row, "Times the checkpoint", times, why or not_there),
    ]


ENTRY = Entry(
    label=LABEL,
    title="Higher-order count models",
    panels=panels,
    beside=("extended",),
    notes=(
        "Size is in MB of our file, which stores each context once; the paper's serialised tables "
        "are larger by what their format repeats.",
        "The paper's coverage is of test contexts; ours of test transitions whose last events, or "
        "nearer the start whole history, were seen in training.",
    ),
)
