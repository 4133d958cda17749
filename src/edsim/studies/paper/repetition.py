"""tab:loop: runs of one event, few different events; and of the text the token that grows most."""

from __future__ import annotations

from edsim.studies.paper.book import COARSE, REFERENCE, Book
from edsim.studies.paper.cells import cell, plain
from edsim.studies.paper.entry import Entry
from edsim.studies.paper.models import STANDARD
from edsim.studies.runs import Run
from edsim.tables.paper import Panel, PaperCell

LABEL, TEXT = "tab:loop", "sec:mechanism"
COLUMNS = {
    "Run": "longest_run",
    ">=10": "share_runs_10",
    "Uniq": "distinct_ratio",
    "Tail": "share_tail_10",
}


def _rows(book: Book) -> dict[str, Run]:
    coarse = {f"7-token {n}": book.whole(m, vocabulary=COARSE) for n, m in STANDARD.items()}
    fine = {f"32-token {name}": book.whole(model) for name, model in STANDARD.items()}
    return {**coarse, **fine, "32-token n-gram-3": book.whole(REFERENCE)}


def panels(book: Book) -> list[Panel]:
    cells = [
        cell(LABEL, row, column, book.score(run, metric))
        for row, run in _rows(book).items()
        for column, metric in COLUMNS.items()
    ]
    shares, worst = _shares(book)
    return [
        Panel(cells=tuple(cells)),
        Panel(title=f"The Transformer's worst token: {worst}, percent", cells=tuple(shares[:2])),
        Panel(title="Every token, percent of events", cells=tuple(shares[2:])),
    ]


def _shares(book: Book) -> tuple[list[PaperCell], str]:
    """Share of each token observed and generated; first the one that is furthest above."""
    run = book.whole("transformer")
    observed, generated = {}, {}
    for token in book.tokens(run):
        observed[token] = book.score(run, "token_share_observed", group=token)
        generated[token] = book.score(run, "token_share_generated", group=token)
    grown = {
        token: (generated[token].value or 0.0) - (score.value or 0.0)
        for token, score in observed.items()
    }
    if not grown:
        why = book.score(run, "termination").note
        gap = [
            plain(TEXT, "Transformer", f"{k} share", None, why) for k in ("Observed", "Generated")
        ]
        return gap, "not known"
    worst = max(grown, key=lambda token: grown[token])
    first = [
        cell(TEXT, "Transformer", "Observed share", observed[worst], times=100),
        cell(TEXT, "Transformer", "Generated share", generated[worst], times=100),
    ]
    for token, score in observed.items():
        first.append(cell("", token, "Observed share", score, times=100))
        first.append(cell("", token, "Generated share", generated[token], times=100))
    return first, worst


ENTRY = Entry(
    label=LABEL,
    title="Repetition",
    panels=panels,
    notes=(
        "Tail is over suffixes of at least ten events; END is no part of a run or a tail.",
        "The paper names its worst token only as a triage-related one.",
    ),
)
