"""What tables ask for, before anything is computed: they are made of a book with empty pages.

So no table has to say twice what it needs, and nothing that it needs can be forgotten.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from edsim.lab.scores import ScoreSettings
from edsim.studies.paper.book import Book, predictions_of
from edsim.studies.paper.cells import nothing
from edsim.studies.paper.entry import Entry
from edsim.studies.paper.scales import Scale
from edsim.studies.results import Results
from edsim.studies.runs import OpenLoop, Run
from edsim.tables.scores import ScoreRow

NOT_YET = "not made yet"

T = TypeVar("T")


class Asking(Book):
    """Answers nothing and writes down what it is asked, each thing once, in the order of asking."""

    def __init__(self, results: Results, scale: Scale, device: str = "cpu") -> None:
        super().__init__(results, scale, device=device)
        self.sheets: dict[tuple[Run, str], ScoreSettings] = {}
        """By run and kind of sheet."""
        self.rollouts: dict[Run, None] = {}
        """Those that are wanted whole, beside what sheets are made of."""
        self.predictions: dict[OpenLoop, None] = {}

    def score(
        self,
        run: Run,
        metric: str,
        *,
        population: str = "all",
        group: str = "",
        at: float | None = None,
    ) -> ScoreRow:
        """Write the sheet down."""
        asked = self._scoring(metric, population)
        self.sheets.setdefault((run, self._kind(metric, population)), asked)
        return nothing(metric, NOT_YET)

    def open_loop(self, run: Run, metric: str) -> ScoreRow:
        """Write the predictions down."""
        self.predictions.setdefault(predictions_of(run))
        return nothing(metric, NOT_YET)

    def score_with(self, run: Run, defect: str, metric: str) -> ScoreRow:
        """Write the rollouts down: they are changed and scored where tables are made."""
        self.rollouts.setdefault(run)
        return nothing(metric, NOT_YET)

    def tokens(self, run: Run) -> tuple[str, ...]:
        """Write down the sheet that names them."""
        self.score(run, "termination")
        return ()

    def where_all_end(self, runs: Sequence[Run]) -> list[ScoreRow]:
        """Write the rollouts down."""
        for run in runs:
            self.rollouts.setdefault(run)
        return [nothing("duration_ratio", NOT_YET) for _ in runs]

    def tried(self, make: Callable[[], T]) -> tuple[T | None, str]:
        """Nothing: whatever is no run is made with its table."""
        return None, NOT_YET


def asked_by(
    entries: Sequence[Entry], results: Results, scale: Scale, device: str = "cpu"
) -> Asking:
    """What these tables need of cohorts that are there."""
    asking = Asking(results, scale, device)
    for entry in entries:
        if results.cohort(entry.cohort) is not None:
            entry.panels(asking)
    return asking
