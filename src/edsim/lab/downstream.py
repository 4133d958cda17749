"""Downstream prediction of a cohort, and of another one that the classifiers are taken to."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from edsim import __version__
from edsim.lab.cohort import Cohort, subjects_of
from edsim.lab.downstream_tasks import READINESS, TASKS, Asked, Department, Task
from edsim.lab.scores import cohort_facts
from edsim.metrics.discrimination import judged
from edsim.metrics.downstream import (
    FEATURES,
    MODELS,
    Predict,
    Shares,
    gap_features,
    platt,
    recalibrated,
)
from edsim.metrics.features import Features
from edsim.metrics.resampling import RESAMPLES
from edsim.privacy import small
from edsim.progress import Progress, silent
from edsim.tables.downstream import Downstream, DownstreamRow

INTERNAL = "internal"
AS_FITTED, RECALIBRATED = "as fitted", "recalibrated"
NO_RECALIBRATION = "the validation split's outcomes determine no recalibration"
FLAT = "all predictions are equal, or right without error, so that no slope is defined"
NO_DISCHARGE = "the vocabulary names no discharge token"
ONE_OUTCOME = "all outcomes of the {split} split are the same"
FEW = "fewer than 10 subjects have one of the outcomes"


def downstream(
    cohort: Cohort,
    target: Cohort | None = None,
    *,
    vocabulary: str | None = None,
    target_vocabulary: str | None = None,
    resamples: int = RESAMPLES,
    progress: Progress = silent,
) -> Downstream:
    """Fit on the cohort's training split; judge on its test split, and on the target's.

    A long stay is longer than nine in ten of the cohort's training stays, on the target too.
    """
    home = Department.of(cohort, vocabulary, subjects_of(cohort))
    places = {INTERNAL: (cohort, home)}
    if target is not None:
        away = Department.of(target, target_vocabulary, subjects_of(target))
        places[f"to {target.manifest.source}"] = (target, away)
    long_minutes = home.long_minutes()
    progress.stage("fitting and judging classifiers", len(TASKS), "tasks")
    rows: list[DownstreamRow] = []
    for task in TASKS.values():
        fitted = _fitted(task, home, long_minutes)
        for name, (place, department) in places.items():
            restricted = place.manifest.restricted
            rows += _on_target(task, fitted, name, department, long_minutes, resamples, restricted)
        progress.advance(1)
    return Downstream(
        cohort=cohort_facts(cohort, cohort.vocabulary_name(vocabulary)),
        target=None
        if target is None
        else cohort_facts(target, target.vocabulary_name(target_vocabulary)),
        long_minutes=long_minutes,
        resamples=resamples,
        rows=tuple(rows),
        code_version=__version__,
    )


Fitted = dict[tuple[str, str], Predict] | str
"""By model and features; why there is none, where there is none."""


def _fitted(task: Task, home: Department, long_minutes: float) -> Fitted:
    if task.name == READINESS and not home.discharges:
        return NO_DISCHARGE
    asked = task.rows(home, "train", long_minutes)
    if len(np.unique(asked.outcome)) < 2:
        return ONE_OUTCOME.format(split="training")
    features = _features(home, asked)
    return {
        (model, chosen): fit(features[:, columns], asked.outcome)
        for model, fit in MODELS.items()
        for chosen, columns in FEATURES.items()
    }


def _features(department: Department, asked: Asked) -> Features:
    return gap_features(department.visits.prefixes(asked.launches))


def _on_target(
    task: Task,
    fitted: Fitted,
    target: str,
    department: Department,
    long_minutes: float,
    resamples: int,
    restricted: bool,
) -> Iterator[DownstreamRow]:
    """A row for each model, features and calibration."""
    test, validation = (task.rows(department, split, long_minutes) for split in ("test", "val"))
    why = fitted if isinstance(fitted, str) else _cannot(task, department, test, restricted)
    shown = (
        {}
        if why
        else {
            name: _features(department, one) for name, one in (("test", test), ("val", validation))
        }
    )
    for model, chosen in product(MODELS, FEATURES):
        row = DownstreamRow(
            target=target,
            task=task.name,
            landmark=task.landmark,
            on_outcome=task.on_outcome,
            model=model,
            features=chosen,
            calibration=AS_FITTED,
            note=why,
        )
        if why or isinstance(fitted, str):
            yield from (row, replace(row, calibration=RECALIBRATED))
            continue
        columns, predict = FEATURES[chosen], fitted[model, chosen]
        said = predict(shown["test"][:, columns])
        yield _judged(row, said, test, department, resamples)
        row = replace(row, calibration=RECALIBRATED)
        if len(np.unique(validation.outcome)) < 2:
            yield replace(row, note=ONE_OUTCOME.format(split="validation"))
            continue
        intercept, slope = platt(predict(shown["val"][:, columns]), validation.outcome)
        if not math.isfinite(slope):
            yield replace(row, note=NO_RECALIBRATION)
            continue
        yield _judged(row, recalibrated(said, intercept, slope), test, department, resamples)


def _cannot(task: Task, department: Department, test: Asked, restricted: bool) -> str:
    """Why the test rows cannot be judged, empty where they can."""
    if task.name == READINESS and not department.discharges:
        return NO_DISCHARGE
    if len(np.unique(test.outcome)) < 2:
        return ONE_OUTCOME.format(split="test")
    stays = test.launches[:, 0]
    people = [len(np.unique(department.subject[stays[test.outcome == one]])) for one in (0, 1)]
    return FEW if restricted and any(small(n) for n in people) else ""


def _judged(
    row: DownstreamRow,
    said: Shares,
    test: Asked,
    department: Department,
    resamples: int,
) -> DownstreamRow:
    stays = test.launches[:, 0]
    found = judged(said, test.outcome, stays, resamples)
    numbers: dict[str, Any] = {
        f"{name}{part}": value if math.isfinite(value) else None
        for name, one in found.items()
        for part, value in (("", one.value), ("_low", one.low), ("_high", one.high))
    }
    return replace(
        row,
        prevalence=float(test.outcome.mean()),
        n_rows=len(stays),
        n_stays=len(np.unique(stays)),
        n_subjects=len(np.unique(department.subject[stays])),
        note="" if math.isfinite(found["slope"].value) else FLAT,
        **numbers,
    )
