"""tab:app-lengthmatch: pooled, per rollout and first ten events; and over all seed runs the rank
correlation of capped share and xF.
"""

from __future__ import annotations

from edsim.metrics.rank_correlation import spearman
from edsim.studies.paper.book import REFERENCE, Book
from edsim.studies.paper.cells import cell, complement, plain
from edsim.studies.paper.entry import Entry
from edsim.studies.paper.models import CAUSAL_ALL, DECODER, PER_SEED
from edsim.studies.runs import Run
from edsim.tables.paper import Panel, PaperCell

LABEL, TEXT = "tab:app-lengthmatch", "app:lengthmatch"
COLUMNS = {"Pooled": "xf", "Per-rollout": "xf_per_rollout", "First 10": "xf_first10"}
PREFIX = {"Transformer (prefix)": "transformer", "GRU (prefix)": "gru", "LSTM (prefix)": "lstm"}
ALL = {
    "Causal Tf. (all-position)": CAUSAL_ALL,
    "LSTM (all-position)": "lstm_all",
    "GRU (all-position)": "gru_all",
    "Decoder (all-position)": DECODER,
}


def _rows(book: Book) -> dict[str, Run]:
    return {
        **{row: book.whole(model) for row, model in PREFIX.items()},
        **{row: book.run(model) for row, model in ALL.items()},
    }


def panels(book: Book) -> list[Panel]:
    cells = [
        cell(LABEL, row, column, book.score(run, metric))
        for row, run in _rows(book).items()
        for column, metric in COLUMNS.items()
    ]
    first = book.score(book.run(REFERENCE), "jsd_first10")
    smallest = cell(TEXT, "n-gram-3", "JSD of the first ten events", first)
    return [
        Panel(cells=tuple(cells)),
        Panel(title="The smallest denominator", cells=(smallest,)),
        Panel(title="Capped share and xF over all seed runs", cells=tuple(_correlation(book))),
    ]


def _correlation(book: Book) -> list[PaperCell]:
    every = [run for model in PER_SEED.values() for run in book.seeds(model)]
    pairs = [
        (capped.value, multiple.value)
        for run in every
        for capped, multiple in [
            (complement(book.score(run, "termination")), book.score(run, "xf"))
        ]
        if capped.value is not None and multiple.value is not None
    ]
    found = spearman([a for a, _ in pairs], [b for _, b in pairs])
    note = "" if found is not None else "fewer than three runs, or all of them equal"
    return [
        plain(TEXT, "Cap fraction and xF", "Spearman", found, note),
        plain(TEXT, "Seed runs", "Number", len(pairs)),
    ]


ENTRY = Entry(
    label=LABEL,
    title="Sensitivity to rollout weighting",
    panels=panels,
    notes=(
        "The paper correlates 35 seed runs and lists 38: ours takes every run of tab:app-seed.",
        "The paper advises against reading first-10 multiples as sizes: their denominator is tiny.",
    ),
)
