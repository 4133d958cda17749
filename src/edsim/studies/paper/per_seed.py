"""tab:app-seed: every training run by itself; and of the section's text the moments over seeds, the
decoder under its former 24-hour guard, and the intervals of causal model and decoder.
"""

from __future__ import annotations

from collections.abc import Sequence

from edsim.studies.paper.book import REFERENCE, Book
from edsim.studies.paper.cells import cell, complement, moments, multiple, over_seeds, plain
from edsim.studies.paper.entry import Entry
from edsim.studies.paper.models import (
    CAUSAL_ALL,
    DECODER,
    PER_SEED,
    seeds_left_out,
    seeds_of,
    why_left_out,
)
from edsim.tables.paper import Panel, PaperCell
from edsim.tables.scores import ScoreRow

LABEL, TEXT = "tab:app-seed", "app:seed"
WITH_INTERVALS = {"Causal Transf. (all-pos.)": CAUSAL_ALL, "Decoder (all-pos.)": DECODER}
COLUMNS = ("Term.", "JSD", "xF", "Cap")
WITH_MOMENTS = tuple(name for name in PER_SEED if "prefix" not in name and "batch" not in name)


def panels(book: Book) -> list[Panel]:
    return [
        Panel(cells=tuple(_runs(book))),
        Panel(title="Mean, standard deviation and median over seeds", cells=tuple(_moments(book))),
        Panel(title="The reference on both sets of launches", cells=tuple(_references(book))),
        Panel(title="The decoder under a 24-hour guard", cells=tuple(_guarded(book))),
        Panel(
            title="Intervals of causal model and decoder, seed by seed", cells=tuple(_apart(book))
        ),
    ]


def _runs(book: Book) -> list[PaperCell]:
    beside = book.score(book.whole(REFERENCE), "jsd")
    cells = []
    for name, model in PER_SEED.items():
        for k, run in enumerate(book.seeds(model), start=1):
            ended, jsd = book.score(run, "termination"), book.score(run, "jsd")
            scores = (ended, jsd, multiple(jsd, beside), complement(ended))
            cells += [
                cell(LABEL, f"{name} {k}", column, score, alike=name)
                for column, score in zip(COLUMNS, scores, strict=True)
            ]
        why = why_left_out(model, book.scale)
        cells += [
            plain(LABEL, f"{name} {k}", column, None, why, alike=name)
            for k in seeds_left_out(model, book.scale)
            for column in COLUMNS
        ]
    return cells


def _moments(book: Book) -> list[PaperCell]:
    beside = book.score(book.whole(REFERENCE), "jsd")
    cells = []
    for name in WITH_MOMENTS:
        jsd = book.scores(book.seeds(PER_SEED[name]), "jsd")
        cells.append(plain(TEXT, name, "Seeds", sum(one.value is not None for one in jsd)))
        multiples = [multiple(one, beside) for one in jsd]
        cells += moments(TEXT, name, multiples, ("xF mean", "xF sd", "xF median"))
    return cells


def _references(book: Book) -> list[PaperCell]:
    return [
        cell(TEXT, "n-gram-3", "JSD", book.score(book.whole(REFERENCE), "jsd")),
        cell(TEXT, "n-gram-3", "JSD, 100k sample", book.score(book.run(REFERENCE), "jsd")),
    ]


def _guarded(book: Book) -> list[PaperCell]:
    row, seeds = "Decoder (all-pos.), 24-hour guard", book.seeds(DECODER)
    found = {
        metric: [book.score_with(run, "stopped_after_a_day", metric) for run in seeds]
        for metric in ("termination", "xf")
    }
    return [
        over_seeds(TEXT, row, "Term.", found["termination"]),
        over_seeds(TEXT, row, "xF", found["xf"]),
    ]


def _apart(book: Book) -> list[PaperCell]:
    cells = []
    for name, model in WITH_INTERVALS.items():
        for k in seeds_of(model, book.scale):
            score = book.score(book.run(model, seed=k), "xf")
            ends = ((score.low, _why(score)), (score.high, _why(score)))
            cells += _interval(f"{name} {k}", name, ends)
        for k in seeds_left_out(model, book.scale):
            why = why_left_out(model, book.scale)
            cells += _interval(f"{name} {k}", name, ((None, why), (None, why)))
    return [*cells, *_clear_of_each_other(book)]


def _interval(row: str, name: str, ends: Sequence[tuple[float | None, str]]) -> list[PaperCell]:
    columns = ("xF interval low", "xF interval high")
    return [
        plain(TEXT, row, column, end, why if end is None else "", alike=name)
        for column, (end, why) in zip(columns, ends, strict=True)
    ]


def _why(score: ScoreRow) -> str:
    """Why a multiple has no interval."""
    return score.note or "xF has no interval on these launches"


def _clear_of_each_other(book: Book) -> list[PaperCell]:
    """Of how many matched seeds the two intervals have nothing in common."""
    both = min(len(seeds_of(model, book.scale)) for model in (CAUSAL_ALL, DECODER))
    matched = [
        tuple(book.run(model, seed=k) for model in (CAUSAL_ALL, DECODER))
        for k in range(1, both + 1)
    ]
    n_run = sum(
        all(book.score(run, "termination").value is not None for run in pair) for pair in matched
    )
    pairs = [tuple(book.score(run, "xf") for run in pair) for pair in matched]
    apart = []
    for a, b in pairs:
        if a.low is not None and a.high is not None and b.low is not None and b.high is not None:
            apart.append(a.high < b.low or b.high < a.low)
    without = [one for pair in pairs for one in pair if one.low is None]
    why = _why(without[0]) if without else ""
    row = "Matched seeds"
    return [
        plain("", row, "Run", n_run),
        plain("", row, "With both intervals", len(apart)),
        plain("", row, "Intervals apart", sum(apart) if apart else None, "" if apart else why),
    ]


ENTRY = Entry(
    label=LABEL,
    title="Per-seed results",
    panels=panels,
    notes=(
        "Training seeds have no order: a run is held against the paper's range over its seeds.",
        "What this scale does not train stands there with the paper's number alone.",
        "Standard deviations are over seeds with n - 1, as the paper's numbers are.",
        "The guard cuts the same rollouts at 24 simulated hours after the launch.",
    ),
)
