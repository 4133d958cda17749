"""tab:app-occupancy: error of the share still present; of the text, what it goes with."""

from __future__ import annotations

from dataclasses import replace

from edsim.metrics.occupancy import HOURS
from edsim.metrics.rank_correlation import spearman
from edsim.studies.paper.book import REFERENCE, Book
from edsim.studies.paper.cells import cell, complement, nothing, plain
from edsim.studies.paper.entry import Entry
from edsim.studies.paper.models import CAUSAL_ALL, DECODER, STANDARD
from edsim.studies.paper.values import printed
from edsim.studies.runs import Run
from edsim.tables.paper import Panel, PaperCell
from edsim.tables.scores import ScoreRow

LABEL, TEXT = "tab:app-occupancy", "app:occupancy"
RELIABLE = 0.95
"""Termination above which the text calls an arm reliably terminating."""
TWICE = "n-gram-3 (full test)"
"""The count model stands in the table twice, on all prefixes and on the sample."""
PRINTED_AS = {TWICE: "n-gram-3"}
"""Rows of the table that the text calls otherwise."""
DISTANCE = "|Dur. - 1|"


def _rows(book: Book) -> dict[str, Run]:
    return {
        TWICE: book.whole(REFERENCE),
        **{name: book.whole(model) for name, model in STANDARD.items()},
        "n-gram-3 (matched 100k)": book.run(REFERENCE),
        "Causal all-position": book.run(CAUSAL_ALL),
        "Decoder": book.run(DECODER),
    }


def panels(book: Book) -> list[Panel]:
    cells = []
    for row, run in _rows(book).items():
        cells.append(cell(LABEL, row, "xF", book.score(run, "xf")))
        cells += [
            cell(LABEL, row, f"+{h}h", book.score(run, "occupancy_error", at=float(h)))
            for h in HOURS
        ]
        cells.append(cell(LABEL, row, "MAE", book.score(run, "occupancy_mae")))
    return [
        Panel(cells=tuple(cells)),
        Panel(title="Rank correlation with occupancy error", cells=tuple(_correlations(book))),
        Panel(title="Arms that end reliably", cells=tuple(_reliable(book))),
    ]


def _correlations(book: Book) -> list[PaperCell]:
    """Over the seven rows as the paper counts, and over the six different models."""
    cells = []
    every = _rows(book)
    for said, rows in (
        ("", every),
        (", count model once", {row: run for row, run in every.items() if row != TWICE}),
    ):
        error = [book.score(run, "occupancy_mae") for run in rows.values()]
        capped = [complement(book.score(run, "termination")) for run in rows.values()]
        multiple = [book.score(run, "xf") for run in rows.values()]
        for name, scores in (("Non-termination", capped), ("xF", multiple)):
            row = f"{name} and occupancy MAE{said}"
            cells.append(plain(TEXT, row, "Spearman", *_spearman(scores, error)))
    return cells


def _spearman(a: list[ScoreRow], b: list[ScoreRow]) -> tuple[float | None, str]:
    both = [(x.value, y.value) for x, y in zip(a, b, strict=True) if None not in (x.value, y.value)]
    found = spearman([x for x, _ in both if x is not None], [y for _, y in both if y is not None])
    return found, "" if found is not None else "fewer than three arms, or all of them equal"


def _reliable(book: Book) -> list[PaperCell]:
    """How far the duration ratio is from one, beside the error, where visits do end.

    Every row that ends so often here, and those of which the text prints it.
    """
    cells = []
    for row, run in _rows(book).items():
        said = PRINTED_AS.get(row, row)
        ended, why = book.score(run, "termination"), ""
        if ended.value is None:
            why = ended.note
        elif ended.value <= RELIABLE:
            why = f"ends in {ended.value:.3f} of rollouts here, not above {RELIABLE}"
        if why and (said, DISTANCE) not in printed(TEXT):
            continue
        ratio, error = book.score(run, "duration_ratio"), book.score(run, "occupancy_mae")
        if why:
            ratio, error = nothing("duration_ratio", why), nothing("occupancy_mae", why)
        apart = None if ratio.value is None else abs(ratio.value - 1)
        found = (
            plain(TEXT, said, DISTANCE, apart, ratio.note if apart is None else ""),
            cell(TEXT, said, "MAE", error),
        )
        cells += [replace(one, row=row) for one in found]
    return cells


ENTRY = Entry(
    label=LABEL,
    title="Occupancy forecasting",
    panels=panels,
    notes=(
        "Percentage points, simulated less observed; a capped rollout is present throughout.",
        "The paper's correlations are over seven rows in which the count model stands twice; the "
        "correlation over the six different models is beside it.",
    ),
)
