"""Predictions of a cohort: made by any simulator, kept in the store, put beside the truth."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from edsim import __version__
from edsim.errors import BadInputError, BadTableError
from edsim.lab.beside_truth import expected_of
from edsim.lab.cohort import Cohort
from edsim.lab.producers import (
    Producer,
    always_the_same,
    decided_by,
    find_producer,
    is_trained,
    kind_of,
    trained_on,
    version_of,
)
from edsim.lab.store import Asked, cohort_inputs, store_of
from edsim.progress import Progress, silent
from edsim.tables.facts import VocabularyFacts
from edsim.tables.predictions import SUFFIX, Predicted, Predictions, PredictionsHeader
from edsim.tables.predictions_file import read_predictions, write_predictions


def predict(
    cohort: Cohort,
    producer: str,
    *,
    launches: str = "all",
    vocabulary: str | None = None,
    device: str = "cpu",
    progress: Progress = silent,
) -> Predictions:
    """What a simulator says of the next event at every launch of a set; nothing is fed back.

    A neural simulator's clock is never asked: densities of gaps are those of its heads.
    """
    found = find_producer(producer, cohort, vocabulary, device=device)
    made = found.make(progress)
    if kind_of(made) != "simulator":
        raise BadInputError(
            f"'{producer}' runs by itself and says nothing of a next event: only simulators that "
            "propose can be asked for predictions."
        )
    from edsim.rollout import open_loop

    at = np.asarray(cohort.launches(launches))
    progress.stage(f"predicting with {found.name}", len(at), "launches")
    header = _header(cohort, found, made, launches)
    return open_loop.predict(made, cohort.visits(found.vocabulary), at, header, progress=progress)


def kept_predictions(
    cohort: Cohort,
    producer: str,
    *,
    launches: str = "all",
    vocabulary: str | None = None,
    device: str = "cpu",
    progress: Progress = silent,
) -> Predictions:
    """Predictions from the cohort's store, made where they are missing, cut out of a larger set's.

    Code from outside may change under its name: its predictions are made every time.
    """
    name = cohort.vocabulary_name(vocabulary)
    if not always_the_same(producer):
        return predict(
            cohort, producer, launches=launches, vocabulary=name, device=device, progress=progress
        )
    store = store_of(cohort)
    asked = predictions_asked(cohort, producer, launches, name)
    whole = predictions_asked(cohort, producer, "all", name)
    nested = launches != "all" and not launches.startswith("val-")
    if nested and store.holds(whole) and not store.holds(asked):
        found = read_predictions(store.path(whole), expected_of(cohort, name))
        return _subset(found, np.asarray(cohort.launches(launches)), launches)
    path = predictions_path(cohort, producer, launches, name, progress, device=device)
    return read_predictions(path, expected_of(cohort, name))


def predictions_path(
    cohort: Cohort,
    producer: str,
    launches: str,
    vocabulary: str,
    progress: Progress = silent,
    *,
    device: str = "cpu",
) -> Path:
    """The file of predictions in the cohort's store, found or made."""

    def make(path: Path) -> None:
        made = predict(
            cohort,
            producer,
            launches=launches,
            vocabulary=vocabulary,
            device=device,
            progress=progress,
        )
        write(made, path, cohort)

    asked = predictions_asked(cohort, producer, launches, vocabulary)
    return store_of(cohort).get(asked, make, progress)


def write(predictions: Predictions, path: Path | str, cohort: Cohort) -> None:
    """Write predictions of a cohort as a file."""
    stay_ids = cohort.visits(predictions.header.vocabulary).stay_ids
    assert stay_ids is not None
    write_predictions(predictions, path, stay_ids)


def read(path: Path | str, cohort: Cohort) -> Predictions:
    """The predictions of a file, which has to fit the cohort."""
    said = read_predictions(path).header.vocabulary
    return read_predictions(path, expected_of(cohort, said))


def beside_truth(predictions: Predictions, cohort: Cohort) -> Predicted:
    """Predictions with what was observed; refused where the events that followed are others."""
    visits = cohort.visits(predictions.header.vocabulary)
    observed = visits.suffixes(predictions.launches)
    other = observed.tokens[observed.offsets[:-1]] != predictions.token
    if other.any():
        raise BadTableError(
            f"{other.sum():,} of {len(other):,} predictions are about an event that did not follow "
            "in the cohort. Were they made for another one?"
        )
    return Predicted(predictions, observed.total_minutes())


def _header(cohort: Cohort, found: Producer, made: Any, launches: str) -> PredictionsHeader:
    facts = VocabularyFacts.open(cohort.encoded(found.vocabulary))
    recipe, seed = trained_on(found, cohort)
    return PredictionsHeader(
        producer=found.label,
        producer_version=version_of(made),
        recipe=recipe,
        training_seed=seed,
        clock=str(getattr(made, "clock", "own")),
        vocabulary=facts.name,
        vocabulary_sha256=facts.sha256,
        tokens=facts.tokens,
        cohort_id=cohort.manifest.cohort_id,
        content_hash=cohort.manifest.content_hash,
        launches=launches,
        device=str(getattr(made, "device", "cpu")),
        restricted=cohort.manifest.restricted,
        code_version=__version__,
    )


def predictions_asked(cohort: Cohort, producer: str, launches: str, vocabulary: str) -> Asked:
    """Predictions, by all that decides them."""
    return Asked(
        kind="predictions",
        name=f"{Path(producer).stem if is_trained(producer) else producer}-{vocabulary}-{launches}",
        inputs={
            "producer": producer,
            "decided_by": decided_by(producer, cohort, vocabulary),
            "launches": launches,
            "code_version": __version__,
            **cohort_inputs(cohort, vocabulary),
        },
        ending=SUFFIX,
        units=float(cohort.n_launches(launches)),
        counted=producer.partition("@")[0],
    )


def _subset(predictions: Predictions, launches: np.ndarray[Any, Any], name: str) -> Predictions:
    """The rows of a launch set; both are sorted by stay row and prefix length."""
    width = int(predictions.launches[:, 1].max()) + 1
    keys, wanted = (
        at[:, 0].astype(np.int64) * width + at[:, 1] for at in (predictions.launches, launches)
    )
    some = predictions.take(np.flatnonzero(np.isin(keys, wanted)))
    return replace(some, header=replace(some.header, launches=name))
