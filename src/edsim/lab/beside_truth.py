"""Rollouts beside what was observed at their launches, and what they have to fit for that."""

from __future__ import annotations

import numpy as np

from edsim.errors import BadTableError
from edsim.lab.cohort import Cohort
from edsim.tables.facts import VocabularyFacts
from edsim.tables.rollouts import Ensemble, Rollouts, Scored
from edsim.tables.rollouts_rows import Expected
from edsim.tables.visits import Launches


def expected_of(
    cohort: Cohort, vocabulary: str | None = None, launches: Launches | None = None
) -> Expected:
    """What a rollouts table of the cohort has to fit."""
    name = cohort.vocabulary_name(vocabulary)
    return Expected.of(
        cohort.visits(name),
        VocabularyFacts.open(cohort.encoded(name)),
        cohort_id=cohort.manifest.cohort_id,
        content_hash=cohort.manifest.content_hash,
        launches=launches,
        restricted=cohort.manifest.restricted,
    )


def beside_truth(rollouts: Rollouts, cohort: Cohort, *, draw: int = 0) -> Scored:
    """One draw of every launch, with what was observed there."""
    rows = np.flatnonzero(rollouts.draw == draw)
    launches = rollouts.launches[rows]
    return Scored(
        generated=rollouts.generated.take(rows),
        observed=cohort.visits(rollouts.header.vocabulary).suffixes(launches),
        launches=launches,
        n_tokens=len(rollouts.header.tokens),
        cap=rollouts.header.cap,
    )


def ensemble_of(rollouts: Rollouts, cohort: Cohort) -> Ensemble:
    """All draws of every launch, with what was observed there."""
    check_draws(rollouts)
    draws = rollouts.header.draws
    launches = rollouts.launches[::draws]
    return Ensemble(
        generated=rollouts.generated,
        observed=cohort.visits(rollouts.header.vocabulary).suffixes(launches),
        launches=launches,
        draws=draws,
        n_tokens=len(rollouts.header.tokens),
        cap=rollouts.header.cap,
    )


def check_draws(rollouts: Rollouts) -> None:
    """Refuse rollouts that lack draws of some launch, have others, or do not have them in order."""
    draws = rollouts.header.draws
    launches = rollouts.launches[::draws]
    numbers = np.tile(np.arange(draws), len(launches))
    whole = len(rollouts) == len(numbers) and (rollouts.draw == numbers).all()
    if not (whole and (rollouts.launches == np.repeat(launches, draws, axis=0)).all()):
        raise BadTableError(
            f"the rollouts of '{rollouts.header.producer}' do not have {draws} draws of every "
            "launch, as their header says. `edsim check` says which are missing."
        )
