"""What runs came to: rollouts and score sheets by the run that is asked for, found or computed.

Tables are functions of `Results`. Whether something was there, was made by the study engine
beforehand, or is computed when a table asks for it, changes no number.
"""

from __future__ import annotations

from collections.abc import Sequence

from edsim.errors import BadCohortError
from edsim.lab.cohort import Cohort
from edsim.lab.predictions import kept_predictions
from edsim.lab.references import found_rollouts
from edsim.lab.related import Related, how_to_make, related_cohort
from edsim.lab.scores import ScoreSettings
from edsim.lab.sheets import kept_sheet
from edsim.progress import Progress, silent
from edsim.studies.runs import OpenLoop, Role, Run
from edsim.tables.predictions import Predictions
from edsim.tables.rollouts import Rollouts
from edsim.tables.scores import ScoreSheet


class Results:
    """Everything computed of a main cohort and those beside it."""

    def __init__(
        self,
        cohort: Cohort,
        *,
        temporal: Cohort | None = None,
        external: Cohort | None = None,
        scoring: ScoreSettings | None = None,
        progress: Progress = silent,
    ) -> None:
        self._cohorts: dict[Role, Cohort | None] = {"main": cohort}
        if temporal is not None:
            self._cohorts["temporal"] = temporal
        if external is not None:
            self._cohorts["external"] = external
        self.scoring = scoring or ScoreSettings()
        self.progress = progress

    @property
    def main(self) -> Cohort:
        """The cohort the study is about."""
        main = self._cohorts["main"]
        assert main is not None
        return main

    def cohort(self, role: Role) -> Cohort | None:
        """The cohort of a role: given, or made of a synthetic main cohort; None where neither."""
        if role not in self._cohorts:
            self._cohorts[role] = related_cohort(self.main, _related(role), self.progress)
        return self._cohorts[role]

    def absent(self, role: Role) -> str:
        """The command that makes the cohort of a role; empty where it is there."""
        if role == "main" or self.cohort(role) is not None:
            return ""
        return how_to_make(self.main, _related(role))

    def rollouts(self, run: Run) -> Rollouts:
        """The rollouts of a run."""
        cohort = self.cohort_of(run)
        return found_rollouts(cohort, run.producer, run.settings(), progress=self.progress)

    def sheet(self, run: Run, scoring: ScoreSettings | None = None) -> ScoreSheet:
        """The scores of a run: what `scoring` asks for, or what all sheets of the study have."""
        cohort, scoring = self.cohort_of(run), scoring or self.scoring
        return kept_sheet(cohort, run.producer, run.settings(), scoring, self.progress)

    def sheets(self, runs: Sequence[Run], scoring: ScoreSettings | None = None) -> list[ScoreSheet]:
        """One sheet a run."""
        return [self.sheet(run, scoring) for run in runs]

    def predictions(self, asked: OpenLoop) -> Predictions:
        """What a producer says of the next event."""
        return kept_predictions(
            self.cohort_of(asked),
            asked.producer,
            launches=asked.launches,
            vocabulary=asked.vocabulary,
            device=asked.device,
            progress=self.progress,
        )

    def cohort_of(self, run: Run | OpenLoop) -> Cohort:
        """The cohort a run is on; refused where there is none."""
        cohort = self.cohort(run.cohort)
        if cohort is None:
            raise BadCohortError(
                f"there is no {run.cohort} cohort beside this one. {self.advice(run.cohort)}"
            )
        return cohort

    def advice(self, role: Role) -> str:
        """What to do about a cohort that is not there."""
        named = "--cohort" if role == "extended" else f"--{role}"
        return f"Make it with `{self.absent(role)}` and name it with {named}."


def _related(role: Role) -> Related:
    assert role != "main", "the main cohort is there"
    return role
