"""app:causal: what delays seen so far tell of long stays and of discharge, at home and away."""

from __future__ import annotations

from collections.abc import Sequence

from edsim.lab.downstream import INTERNAL
from edsim.lab.downstream import downstream as told
from edsim.lab.downstream_tasks import LONG_STAY, READINESS
from edsim.studies.paper.book import Book
from edsim.studies.paper.cells import cell, nothing, over_seeds
from edsim.studies.paper.entry import Entry
from edsim.tables.downstream import DownstreamRow
from edsim.tables.paper import Panel, PaperCell
from edsim.tables.scores import ScoreRow

LABEL = "app:causal"
MODEL, DELAYS, BASELINE = "boosting", "gaps", "elapsed alone"
MEASURES = {"auroc": "AUROC", "brier": "Brier score", "slope": "Calibration slope"}
TASKS = {"Top-decile LOS": LONG_STAY, "Discharge readiness": READINESS}


def panels(book: Book) -> list[Panel]:
    away, absent = book.tried(lambda: book.cohort("external"))
    found, why = book.tried(
        lambda: told(
            book.cohort("main"),
            away,
            resamples=book.scale.resamples,
            progress=book.results.progress,
        )
    )
    if found is None:
        return [Panel(missing=why)]
    rows = [row for row in found.rows if row.model == MODEL]
    return [
        Panel(
            title="Delays seen so far, as fitted",
            cells=tuple(_cells(rows, DELAYS, LABEL, absent)),
            along_rows=True,
        ),
        Panel(
            title="Elapsed time alone, as fitted", cells=tuple(_cells(rows, BASELINE, "", absent))
        ),
        *[
            Panel(title=f"{title}, every landmark", cells=tuple(_landmarks(rows, measure)))
            for measure, title in MEASURES.items()
        ],
    ]


def _cells(
    rows: Sequence[DownstreamRow], features: str, label: str, absent: str
) -> list[PaperCell]:
    """Lowest to highest over the landmarks that are shares of the visit, as the paper's are."""
    cells = []
    for row, task in TASKS.items():
        for column, home in (("AUROC internal", True), ("AUROC MC-MED", False)):
            scores = [
                _score(one)
                for one in rows
                if (one.task, one.features, one.calibration) == (task, features, "as fitted")
                and (one.target == INTERNAL) == home
                and (one.on_outcome or task == READINESS)
            ]
            why = absent or "there is no such landmark"
            cells.append(over_seeds(label, row, column, scores or [nothing("auroc", why)]))
    return cells


def _landmarks(rows: Sequence[DownstreamRow], measure: str) -> list[PaperCell]:
    return [
        cell("", f"{one.task}, {one.landmark}, {one.target}", column, _score(one, measure))
        for one in rows
        for column in [f"{one.features}, {one.calibration}"]
    ]


def _score(row: DownstreamRow, measure: str = "auroc") -> ScoreRow:
    """A number of a line of the downstream table."""
    value, low, high = (getattr(row, f"{measure}{end}") for end in ("", "_low", "_high"))
    return ScoreRow(metric=measure, value=value, low=low, high=high, note=row.note)


ENTRY = Entry(
    label=LABEL,
    title="Downstream length of stay and discharge readiness",
    panels=panels,
    beside=("external",),
    notes=(
        "Gradient boosting on the delays seen so far; the paper does not name its classifier.",
        "Landmarks at a share of the visit's events are known only when the visit is over. Those "
        "at hours after arrival, in the last panels, are known then.",
        "A calibration slope of 1 is calibrated; below 1 predictions are too extreme. They are "
        "recalibrated on the validation split of where they are used, and keep their order.",
        "Away: the classifiers of the main cohort on the external test split.",
    ),
)
