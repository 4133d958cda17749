"""tab:seed (tab:rich, panel B): how far each recipe spreads over training seeds."""

from __future__ import annotations

from collections.abc import Sequence

from edsim.studies.paper.book import REFERENCE, Book
from edsim.studies.paper.cells import multiple, over_seeds, plain
from edsim.studies.paper.entry import Entry
from edsim.studies.paper.models import BATCH_1024, CAUSAL_ALL, CAUSAL_PREFIX, DECODER
from edsim.tables.paper import Panel, PaperCell
from edsim.tables.scores import ScoreRow

LABEL = "tab:seed"
ROWS = {
    "Transformer (prefix)": "transformer",
    "GRU (prefix)": "gru",
    "LSTM (prefix)": "lstm",
    "Causal Transformer (prefix)": CAUSAL_PREFIX,
    "Decoder (all-position)": DECODER,
    "Causal Transformer (all-position)": CAUSAL_ALL,
    "GRU (all-position)": "gru_all",
    "LSTM (all-position)": "lstm_all",
}
CONTINUOUS = (CAUSAL_ALL, "gru_all", "lstm_all")
"""Supervised at every position, with a clock that is no token."""


def panels(book: Book) -> list[Panel]:
    beside = book.score(book.whole(REFERENCE), "jsd")
    cells = []
    for row, model in ROWS.items():
        seeds = book.seeds(model)
        jsd = book.scores(seeds, "jsd")
        cells += [
            plain(LABEL, row, "Seeds", sum(one.value is not None for one in jsd)),
            over_seeds(LABEL, row, "Term. range", book.scores(seeds, "termination")),
            over_seeds(LABEL, row, "JSD range", jsd),
            over_seeds(LABEL, row, "xF range", [multiple(one, beside) for one in jsd]),
            over_seeds(LABEL, row, "xF, same launches", book.scores(seeds, "xf")),
        ]
    return [
        Panel(cells=tuple(cells)),
        Panel(title="Ending over models and seeds", cells=tuple(_endings(book))),
        Panel(title="Duration ratio over models and seeds", cells=tuple(_durations(book))),
        Panel(title="The control of the batch size", cells=(_batch(book, beside),)),
    ]


def _endings(book: Book) -> list[PaperCell]:
    groups = {
        ("sec:controls", "Recurrent models (prefix)"): ("gru", "lstm"),
        ("sec:controls", "Recurrent models (all-position)"): ("gru_all", "lstm_all"),
        ("sec:seedvar", "All-position models"): (DECODER, CAUSAL_ALL, "gru_all", "lstm_all"),
    }
    return [
        over_seeds(label, row, "Term.", _every(book, models, "termination"))
        for (label, row), models in groups.items()
    ]


def _durations(book: Book) -> list[PaperCell]:
    """What composition hides: visits of the right events, half as long as they should be."""
    groups = {
        ("sec:attribution", "Decoder (all-pos.)"): (DECODER,),
        ("sec:controls", "Continuous-time all-position models"): CONTINUOUS,
        ("", "Causal Transformer (all-position)"): (CAUSAL_ALL,),
        ("", "GRU (all-position)"): ("gru_all",),
        ("", "LSTM (all-position)"): ("lstm_all",),
    }
    return [
        over_seeds(label, row, "Dur.", _every(book, models, "duration_ratio"))
        for (label, row), models in groups.items()
    ]


def _batch(book: Book, beside: ScoreRow) -> PaperCell:
    multiples = [multiple(one, beside) for one in _every(book, (BATCH_1024,), "jsd")]
    return over_seeds("sec:controls", "Causal Transf. (all-pos., batch 1024)", "xF", multiples)


def _every(book: Book, models: Sequence[str], metric: str) -> list[ScoreRow]:
    return [score for model in models for score in book.scores(book.seeds(model), metric)]


ENTRY = Entry(
    label=LABEL,
    title="Core results B: ranges over training seeds on the matched sample",
    panels=panels,
    notes=(
        "xF range divides by the order-3 model's JSD on all prefixes, as the paper does; the last "
        "column divides by its JSD on the same launches.",
    ),
)
