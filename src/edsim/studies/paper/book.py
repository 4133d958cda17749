"""What tables of the paper are made from: results at a scale, asked for by model, seed and place.

A table never fails. What cannot be had (a cohort that is not there, a model that cannot be trained
here) comes back as a score without a value that says why, and stands so in the table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from edsim.conformance.defects import ROLLOUT_DEFECTS
from edsim.errors import BadCohortError, EdsimError
from edsim.lab.cohort import Cohort
from edsim.lab.prediction_scores import score_predictions
from edsim.lab.scores import ScoreSettings, score, score_all
from edsim.metrics.registry import MULTIPLES, SHARED, SLOW
from edsim.metrics.two_sample import TWO_SAMPLE
from edsim.studies.paper.cells import nothing
from edsim.studies.paper.models import is_network, producer_of, seeds_of
from edsim.studies.paper.scales import Scale
from edsim.studies.results import Results
from edsim.studies.runs import OpenLoop, Role, Run
from edsim.tables.scores import ScoreRow, ScoreSheet

REFERENCE = "ngram:3"
COARSE = "ed7"
"""The paper's 7-token vocabulary."""
OF_GROUPS = ("termination", "reached_discharge", "duration_ratio", "jsd")
GROUPS = ("triage", "sex", "race", "length quartile", "late")
OF_DEFECTS = ("termination", "reached_discharge", "los_mae", "los_rank_correlation", "xf")
"""What the audit shows of rollouts that were changed after they were made."""

T = TypeVar("T")


class Book:
    """Results and a scale."""

    def __init__(
        self,
        results: Results,
        scale: Scale,
        given_up: Mapping[Run | OpenLoop, str] | None = None,
        *,
        device: str = "cpu",
    ) -> None:
        self.results = results
        self.scale = scale
        self.device = device
        self._given_up = given_up or {}
        """What others tried to make and could not, and why: it is not tried again."""
        self._sheets: dict[tuple[Run, str], ScoreSheet] = {}
        self._failed: dict[tuple[Run, str], str] = {}

    def run(
        self,
        model: str,
        *,
        seed: int = 1,
        launches: str | None = None,
        vocabulary: str | None = None,
        rule: str = "vanilla",
        cap: int | None = None,
        cohort: Role = "main",
    ) -> Run:
        """A model's rollouts; `seed` is its place among the training seeds, from 1."""
        external = cohort == "external"
        return Run(
            producer=producer_of(model, seed, self.scale),
            cohort=cohort,
            vocabulary=vocabulary,
            launches=launches or (self.scale.external_sample if external else self.scale.sample),
            rule=rule,
            cap=cap or (self.scale.external_cap if external else None),
            device=self.device if is_network(model) else "cpu",
        )

    def whole(
        self,
        model: str,
        *,
        vocabulary: str | None = None,
        rule: str = "vanilla",
        cap: int | None = None,
    ) -> Run:
        """Its first seed on all prefixes of the test split."""
        return self.run(model, launches=self.scale.whole, vocabulary=vocabulary, rule=rule, cap=cap)

    def seeds(self, model: str, *, cohort: Role = "main") -> list[Run]:
        """A run for every training seed of the model."""
        return [self.run(model, seed=k, cohort=cohort) for k in seeds_of(model, self.scale)]

    def score(
        self,
        run: Run,
        metric: str,
        *,
        population: str = "all",
        group: str = "",
        at: float | None = None,
    ) -> ScoreRow:
        """One number about a run; without a value, and with a reason, where it cannot be had."""
        key = (run, self._kind(metric, population))
        if key not in self._sheets and key not in self._failed:
            asked = self._scoring(metric, population)
            self._remember(key, run, lambda: self.results.sheet(run, asked))
        return self._number(key, metric, population, group, at)

    def scores(self, runs: Sequence[Run], metric: str) -> list[ScoreRow]:
        """The same number of several runs, such as the seeds of a model."""
        return [self.score(run, metric) for run in runs]

    def open_loop(self, run: Run, metric: str) -> ScoreRow:
        """One number about the run's model on observed histories, at the run's launches."""
        key = (replace(run, rule="vanilla", cap=None), "open loop")
        if key not in self._sheets and key not in self._failed:
            asked = predictions_of(run)
            self._remember(key, asked, lambda: self._open_loop_sheet(asked))
        return self._number(key, metric)

    def _open_loop_sheet(self, asked: OpenLoop) -> ScoreSheet:
        cohort, predictions = self.cohort(asked.cohort), self.results.predictions(asked)
        return score_predictions(
            [predictions], cohort, resamples=self.scale.resamples, progress=self.results.progress
        )[0]

    def score_with(self, run: Run, defect: str, metric: str) -> ScoreRow:
        """One number, of OF_DEFECTS, about rollouts that were changed after they were made."""
        key = (run, f"with {defect}")
        if key not in self._sheets and key not in self._failed:
            self._remember(key, run, lambda: self._changed_sheet(run, defect))
        return self._number(key, metric)

    def _changed_sheet(self, run: Run, defect: str) -> ScoreSheet:
        cohort, rollouts = self.cohort(run.cohort), self.results.rollouts(run)
        changed = ROLLOUT_DEFECTS[defect](rollouts, cohort.visits(rollouts.header.vocabulary))
        return score(changed, cohort, metrics=OF_DEFECTS, resamples=self.scale.resamples)

    def tokens(self, run: Run) -> tuple[str, ...]:
        """Names of the tokens of a run's vocabulary; none where the run cannot be had."""
        self.score(run, "termination")
        sheet = self._sheets.get((run, ""))
        return sheet.tokens if sheet is not None else ()

    def where_all_end(self, runs: Sequence[Run]) -> list[ScoreRow]:
        """Duration ratio of each run on the launches where all of them end."""

        def together() -> list[ScoreRow]:
            cohort = self.cohort("main")
            asked = ScoreSettings(metrics=("duration_ratio",), resamples=self.scale.resamples)
            for run in runs:
                self._refuse_what_failed(run)
            tables = [self.results.rollouts(run) for run in runs]
            found = [sheet.find(SHARED) for sheet in score_all(tables, cohort, asked)]
            return [row or nothing(SHARED, "no launch ends in all of them") for row in found]

        made, why = self.tried(together)
        return [nothing(SHARED, why) for _ in runs] if made is None else made

    def cohort(self, role: Role) -> Cohort:
        """The cohort of a role; refused with the command that makes it where it is not there."""
        found = self.results.cohort(role)
        if found is None:
            raise BadCohortError(f"there is no {role} cohort. {self.results.advice(role)}")
        return found

    def tried(self, make: Callable[[], T]) -> tuple[T | None, str]:
        """What `make` gives, or nothing and the reason in words."""
        try:
            return make(), ""
        except EdsimError as error:
            return None, str(error)
        except ModuleNotFoundError as error:
            if error.name != "torch":
                raise
            return None, "torch is not installed: pip install 'edsim-bench[models]'"

    def _remember(
        self, key: tuple[Run, str], asked: Run | OpenLoop, make: Callable[[], ScoreSheet]
    ) -> None:
        def unless_given_up() -> ScoreSheet:
            self._refuse_what_failed(asked)
            return make()

        made, why = self.tried(unless_given_up)
        if made is None:
            self._failed[key] = why
        else:
            self._sheets[key] = made

    def _refuse_what_failed(self, asked: Run | OpenLoop) -> None:
        if asked in self._given_up:
            raise EdsimError(self._given_up[asked])

    def _number(
        self,
        key: tuple[Run, str],
        metric: str,
        population: str = "all",
        group: str = "",
        at: float | None = None,
    ) -> ScoreRow:
        if key in self._failed:
            return nothing(metric, self._failed[key])
        row = self._sheets[key].find(metric, population, group, at)
        if row is not None:
            return row
        where = "" if population == "all" else f" of the group '{group}' of {population}"
        return nothing(metric, f"there is no {metric}{where} in these launches")

    def _kind(self, metric: str, population: str) -> str:
        """Which sheet holds a number: the one of all launches, of groups, or a slow measure's."""
        name = MULTIPLES.get(metric, metric)
        if population != "all":
            return "groups"
        if name in TWO_SAMPLE:
            return next(iter(TWO_SAMPLE))
        return name if name in SLOW else ""

    def _scoring(self, metric: str, population: str) -> ScoreSettings:
        kind, resamples = self._kind(metric, population), self.scale.resamples
        if kind == "groups":
            return ScoreSettings(metrics=OF_GROUPS, populations=GROUPS, resamples=resamples)
        return ScoreSettings(metrics=(kind,) if kind else None, resamples=resamples)


def predictions_of(run: Run) -> OpenLoop:
    """What a run's model is asked on observed histories."""
    return OpenLoop(
        producer=run.producer,
        cohort=run.cohort,
        vocabulary=run.vocabulary,
        launches=run.launches,
        device=run.device,
    )
