"""tab:app-scale: larger networks; and of the text parameter counts, matched durations, and larger
models supervised at every position.
"""

from __future__ import annotations

from edsim.studies.paper.book import COARSE, REFERENCE, Book
from edsim.studies.paper.cells import cell, plain
from edsim.studies.paper.entry import Entry
from edsim.studies.paper.facts import parameters
from edsim.studies.paper.models import CAUSAL_ALL, STANDARD
from edsim.studies.runs import Run
from edsim.tables.paper import Panel, PaperCell

LABEL, TEXT, CONTROLS = "tab:app-scale", "app:scale", "sec:controls"
MODELS = {"Transf. small": "transformer", "Transf. large": "transformer_large"}
ALL_POSITION = {
    "Causal Transf. (all-pos.) large": "causal_transformer_all_medium",
    "Causal Transf. (all-pos.) d=512": "causal_transformer_all_large",
}
COLUMNS = {
    "Term.": "termination",
    "JSD": "jsd",
    "xF": "xf",
    "Dur.": "duration_ratio",
    "LOS": "los_mae",
}
OTHERS_OF_FOUR = [REFERENCE, STANDARD["GRU"], STANDARD["LSTM"]]


def _rows(book: Book) -> dict[str, Run]:
    return {
        f"{prefix} {name}": book.whole(model, vocabulary=vocabulary)
        for prefix, vocabulary in (("32-tok", None), ("7-tok", COARSE))
        for name, model in MODELS.items()
    }


def panels(book: Book) -> list[Panel]:
    cells = [
        cell(LABEL, row, column, book.score(run, metric))
        for row, run in _rows(book).items()
        for column, metric in COLUMNS.items()
    ]
    return [
        Panel(cells=tuple(cells)),
        Panel(title="Duration where all models end", cells=tuple(_matched(book))),
        Panel(title="Supervised at every position", cells=tuple(_all_position(book))),
        Panel(title="Parameters", cells=tuple(_parameters(book))),
    ]


def _matched(book: Book) -> list[PaperCell]:
    """Small or large Transformer with the three others of the paper's four."""
    others = [book.whole(model) for model in OTHERS_OF_FOUR]
    return [
        cell(
            TEXT,
            f"32-tok {name}",
            "Dur. matched",
            book.where_all_end([book.whole(model), *others])[0],
        )
        for name, model in MODELS.items()
    ]


def _all_position(book: Book) -> list[PaperCell]:
    cells = []
    for row, model in ALL_POSITION.items():
        run = book.run(model)
        cells += [
            cell(CONTROLS, row, "xF", book.score(run, "xf")),
            cell(CONTROLS, row, "Term.", book.score(run, "termination")),
        ]
    for row, column, metric in (
        ("Transf. large (prefix)", "xF", "xf"),
        ("Transf. large (prefix)", "Term.", "termination"),
    ):
        cells.append(
            cell(CONTROLS, row, column, book.score(book.whole("transformer_large"), metric))
        )
    return cells


def _parameters(book: Book) -> list[PaperCell]:
    small, why = parameters(book, MODELS["Transf. small"])
    cells = [plain(TEXT, "Transf. small", "Parameters in millions", small, why)]
    for row, model in (
        ("Transf. large", MODELS["Transf. large"]),
        ("Causal Transf. (all-pos.) d=512", ALL_POSITION["Causal Transf. (all-pos.) d=512"]),
    ):
        n, why = parameters(book, model)
        times = n / small if n and small else None
        cells.append(plain(TEXT, row, "Parameters in millions", n, why))
        cells.append(plain(TEXT, row, "Times the parameters", times, why))
    return cells


ENTRY = Entry(
    label=LABEL,
    title="Scale ablation",
    panels=panels,
    notes=(
        "The paper prints .41 for the large model twice: as the ratio of its own terminated "
        "rollouts in the table, and as the ratio on matched launches in the text. Both are made.",
        f"Baseline of the all-position models: {CAUSAL_ALL} of tab:app-seed.",
    ),
)
