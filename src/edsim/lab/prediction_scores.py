"""Scores of predictions: accuracies and surprises, beside those of the order-3 model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from edsim import __version__
from edsim.errors import BadTableError
from edsim.lab.cohort import Cohort, subjects_of
from edsim.lab.populations import POPULATIONS
from edsim.lab.predictions import beside_truth, kept_predictions
from edsim.lab.references import REFERENCE
from edsim.lab.scores import EVERY, cohort_facts, population_rows
from edsim.lab.scoring_facts import scoring_facts
from edsim.metrics.figures import Group, PredictedTable
from edsim.metrics.open_loop import OPEN_LOOP, OPEN_LOOP_BY_GROUP
from edsim.metrics.registry import measures_named
from edsim.metrics.resampling import RESAMPLES, resample_weights, stays_of
from edsim.metrics.score_rows import group_rows
from edsim.progress import Progress, silent
from edsim.tables.predictions import Predictions
from edsim.tables.scores import ScoreRow, ScoreSheet

RULE = "open loop"
"""What stands in a score sheet where rollouts have their decoding rule."""


def score_predictions(
    tables: Sequence[Predictions],
    cohort: Cohort,
    *,
    metrics: Sequence[str] | None = None,
    populations: Sequence[str] = (),
    resamples: int = RESAMPLES,
    progress: Progress = silent,
) -> list[ScoreSheet]:
    """A sheet for each table: accuracies and surprises beside those of the order-3 model."""
    measures = measures_named(metrics or list(OPEN_LOOP), OPEN_LOOP)
    of_groups = [one for one in measures if metrics or one.name in OPEN_LOOP_BY_GROUP]
    sheets = []
    for predictions in tables:
        progress.stage(f"scoring {predictions.header.producer}")
        group = _group(predictions, cohort, resamples, progress)
        rows = group_rows(group, measures)
        for name in (name for name in POPULATIONS if {name, EVERY} & set(populations)):
            rows += population_rows(group, cohort, predictions.header.vocabulary, name, of_groups)
        sheets.append(_sheet(predictions, cohort, rows))
    return sheets


def _group(predictions: Predictions, cohort: Cohort, resamples: int, progress: Progress) -> Group:
    header = predictions.header
    stays, _ = stays_of(predictions.launches)
    return Group(
        table=PredictedTable(beside_truth(predictions, cohort)),
        facts=scoring_facts(cohort, header.vocabulary),
        weights=resample_weights(len(stays), resamples),
        subject_of_stay=subjects_of(cohort)[stays],
        reference=_reference(predictions, cohort, progress),
        restricted=cohort.manifest.restricted,
    )


def _reference(
    predictions: Predictions, cohort: Cohort, progress: Progress
) -> PredictedTable | None:
    """The order-3 model's predictions of the same launches; None without torch."""
    header = predictions.header
    try:
        found = kept_predictions(
            cohort,
            REFERENCE,
            launches=header.launches or "all",
            vocabulary=header.vocabulary,
            progress=progress,
        )
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        return None
    if not np.array_equal(found.launches, predictions.launches):
        raise BadTableError(
            f"the predictions of '{header.producer}' are not of every launch of the set "
            f"'{header.launches or 'all'}': {len(predictions):,} of {len(found):,}. Make them "
            "again with `edsim predict`."
        )
    return PredictedTable(beside_truth(found, cohort))


def _sheet(predictions: Predictions, cohort: Cohort, rows: Sequence[ScoreRow]) -> ScoreSheet:
    header = predictions.header
    return ScoreSheet(
        producer=header.producer,
        producer_version=header.producer_version,
        recipe=header.recipe,
        training_seed=header.training_seed,
        rule=RULE,
        clock=header.clock,
        launches=header.launches,
        cap=cohort.manifest.cap,
        draws=0,
        rollout_seed=0,
        privileged=False,
        vocabulary=header.vocabulary,
        vocabulary_sha256=header.vocabulary_sha256,
        tokens=header.tokens,
        cohort=cohort_facts(cohort, header.vocabulary),
        code_version=__version__,
        rows=tuple(rows),
    )
