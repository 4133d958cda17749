"""From runs to pieces: models, parts of rollouts, rollouts, and the sheets they are scored on.

What a score stands beside (the reference and, where there is one, the oracle) is a piece like any
other, made once for all runs of a launch set. Nothing here asks what kind of producer a run has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial

from edsim.lab.cohort import Cohort
from edsim.lab.kept_comparisons import Compared, comparison_asked, comparison_path
from edsim.lab.models import models_behind
from edsim.lab.parts import joined_asked, joined_path, part_asked, part_path, parts_of
from edsim.lab.predictions import predictions_asked, predictions_path
from edsim.lab.references import larger_asked, rollouts_asked, rollouts_path
from edsim.lab.rollouts import RolloutSettings
from edsim.lab.scores import ScoreSettings
from edsim.lab.sheets import (
    Rolled,
    beside,
    compared_with,
    shared_asked,
    shared_path,
    sheet_asked,
    sheet_path,
)
from edsim.lab.store import Asked, store_of
from edsim.studies.pieces import Graph, Piece
from edsim.studies.results import Results
from edsim.studies.runs import OpenLoop, Run


def graph_of(
    results: Results,
    sheets: Iterable[Run],
    rollouts: Iterable[Run] = (),
    predictions: Iterable[OpenLoop] = (),
) -> Graph:
    """The pieces of all that is wanted: score sheets, rollouts alone, and predictions."""
    sheets, rollouts = list(dict.fromkeys(sheets)), list(dict.fromkeys(rollouts))
    building = Building({*sheets, *rollouts})
    for run in rollouts:
        building.rollouts(results.cohort_of(run), run)
    for run in sheets:
        building.sheet(results.cohort_of(run), run, results.scoring)
    for asked in predictions:
        building.predictions(results.cohort_of(asked), asked)
    return building.graph


class Building:
    """A graph that grows; every call gives the keys of what has to be there."""

    def __init__(self, wanted: set[Run]) -> None:
        self.graph = Graph()
        self._wanted = wanted

    def sheet(self, cohort: Cohort, run: Run, scoring: ScoreSettings) -> str:
        """The scores of a run, beside the reference and the oracle."""
        settings = run.settings()
        needs = self.rollouts(cohort, run)
        for producer in beside(cohort, settings):
            needs += self.rollouts(cohort, _run_of(producer, compared_with(settings), run))
        return self._add(
            cohort,
            f"scores of {run}",
            sheet_asked(cohort, run.producer, settings, scoring),
            partial(sheet_path, cohort, run.producer, settings, scoring),
            needs,
        )

    def rollouts(self, cohort: Cohort, run: Run) -> list[str]:
        """Nothing where they can be cut out of a table that is there."""
        settings = run.settings()
        larger = larger_asked(cohort, run.producer, settings)
        if larger is not None and store_of(cohort).holds(larger):
            return []
        if larger is not None and replace(run, launches="all") in self._wanted:
            return self.rollouts(cohort, replace(run, launches="all"))
        models = self._models(cohort, run)
        parts = parts_of(cohort, settings)
        if parts:
            return [self._joined(cohort, run, parts, models)]
        return [
            self._add(
                cohort,
                f"rollouts of {run}",
                rollouts_asked(cohort, run.producer, settings),
                partial(rollouts_path, cohort, run.producer, settings),
                models,
                device=run.device,
            )
        ]

    def predictions(self, cohort: Cohort, asked: OpenLoop) -> str:
        """What a producer says of the next event, nothing fed back."""
        what = (cohort, asked.producer, asked.launches, cohort.vocabulary_name(asked.vocabulary))
        return self._add(
            cohort,
            f"predictions of {asked}",
            predictions_asked(*what),
            partial(predictions_path, *what, device=asked.device),
            self._models(cohort, asked),
            device=asked.device,
        )

    def shared(self, cohort: Cohort, runs: Sequence[Run], resamples: int) -> str:
        """Durations on the launches where all of some runs end."""
        tables = [rolled(run) for run in runs]
        return self._add(
            cohort,
            f"durations where all {len(runs)} runs end",
            shared_asked(cohort, tables, resamples),
            partial(shared_path, cohort, tables, resamples),
            [key for run in runs for key in self.rollouts(cohort, run)],
        )

    def comparison(
        self,
        cohort: Cohort,
        names: tuple[str, str],
        a: Sequence[Run],
        b: Sequence[Run],
        scoring: ScoreSettings,
    ) -> str:
        """One pair of arms, over their training seeds where both have enough."""
        asked = Compared(
            [rolled(run) for run in a],
            [rolled(run) for run in b],
            names,
            scoring.metrics,
            scoring.resamples,
        )
        return self._add(
            cohort,
            f"{names[0]} against {names[1]}",
            comparison_asked(cohort, asked),
            partial(comparison_path, cohort, asked),
            [key for run in (*a, *b) for key in self.rollouts(cohort, run)],
        )

    def _joined(
        self, cohort: Cohort, run: Run, parts: list[RolloutSettings], models: list[str]
    ) -> str:
        whole = joined_asked(cohort, run.producer, run.settings())
        keys = [
            self._add(
                cohort,
                f"part {number} of {len(parts)} of the rollouts of {run}",
                part_asked(cohort, run.producer, part),
                partial(part_path, cohort, run.producer, part),
                models,
                instead=(whole,),
                device=run.device,
            )
            for number, part in enumerate(parts, 1)
        ]
        make = partial(joined_path, cohort, run.producer, parts)
        return self._add(cohort, f"rollouts of {run}", whole, make, keys)

    def _models(self, cohort: Cohort, run: Run | OpenLoop) -> list[str]:
        device = run.device
        return [
            self._add(cohort, f"model {model.name}", model.asked, model.make, [], device=device)
            for model in models_behind(run.producer, cohort, run.vocabulary, device)
        ]

    def _add(
        self,
        cohort: Cohort,
        title: str,
        asked: Asked,
        make: Callable[..., object],
        needs: list[str],
        instead: tuple[Asked, ...] = (),
        device: str = "cpu",
    ) -> str:
        return self.graph.add(
            Piece(
                title=title,
                store=store_of(cohort),
                asked=asked,
                make=make,
                needs=tuple(dict.fromkeys(needs)),
                instead=instead,
                device=device,
            )
        )


def rolled(run: Run) -> Rolled:
    """A run as `lab` knows it, without the cohort."""
    return Rolled(run.producer, run.settings())


def _run_of(producer: str, settings: RolloutSettings, like: Run) -> Run:
    """The run that another is compared with."""
    return Run(
        producer=producer,
        cohort=like.cohort,
        vocabulary=settings.vocabulary,
        launches=settings.launches,
        draws=settings.draws,
        cap=settings.cap,
        rollout_seed=settings.seed,
    )
