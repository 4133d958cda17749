"""What tables say of cohorts and models that is no score: counts of launches, coverage, sizes.

Each answers with the number, or with nothing and the reason in words. Of restricted data nothing
is counted that so few subjects have, or have not, that they could be known.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from edsim.errors import BadCohortError, BadInputError
from edsim.lab.cohort import Cohort, subjects_of
from edsim.lab.few_people import few_people
from edsim.lab.producers import checkpoint_path, coverage_of, is_trained
from edsim.metrics.small_cells import SMALL
from edsim.metrics.termination import holds_any
from edsim.privacy import hidden_parts, small
from edsim.studies.paper.book import Book
from edsim.studies.runs import Role, Run
from edsim.tables.facts import VocabularyFacts
from edsim.tables.visits import END, Suffixes

if TYPE_CHECKING:
    from edsim.models.neural.checkpoint import Checkpoint


@dataclass(frozen=True, slots=True)
class Covered:
    """A count model of one order: what it stores, and what of the test split it has met."""

    share: float
    n_contexts: int
    n_contexts_marked: int
    megabytes: float


def coverage(
    book: Book, orders: int, vocabulary: str | None = None, cohort: Role = "main"
) -> tuple[dict[int, Covered], str]:
    """By order, from 1."""

    def counted() -> dict[int, Covered]:
        found = coverage_of(book.cohort(cohort), orders, vocabulary, book.results.progress)
        return {
            line.order: Covered(line.share, line.n_contexts, line.n_contexts_marked, size)
            for line, size in found
        }

    made, why = book.tried(counted)
    return made or {}, why


def figure(covered: dict[int, Covered], order: int, name: str) -> float | None:
    """One number of an order, by the field's name; None where there is none."""
    line = covered.get(order)
    return None if line is None else float(getattr(line, name))


@dataclass(frozen=True, slots=True)
class LaunchCounts:
    """Of the test split; None where it may not be said."""

    launches: int | None
    triage: int | None
    """Launches that end at triage, one a stay."""
    stays: int | None
    note: str = ""
    """Why one of them is None."""


def launch_counts(book: Book) -> LaunchCounts:
    """Launches of the test split, those that end at triage, and test stays."""
    cohort = book.cohort("main")
    if few_people(cohort):
        return LaunchCounts(None, None, None, SMALL)
    launches = np.asarray(cohort.launches("all"))
    n_stays = int(cohort.manifest.split["parts"]["test"]["stays"])
    said = cohort.manifest.launches.get("triage", {})
    if not said.get("n"):
        return LaunchCounts(len(launches), 0, n_stays)
    tested = np.unique(launches[:, 0])
    at_triage = np.isin(tested, np.asarray(cohort.launches("triage"))[:, 0])
    n_triage, why = book.tried(lambda: _number_of(cohort, tested, at_triage))
    return LaunchCounts(len(launches), n_triage, n_stays, why)


def split_shares(book: Book) -> tuple[dict[str, float | None], str]:
    """Percent of the subjects in each part of the main cohort's split."""
    manifest = book.cohort("main").manifest
    parts = manifest.split["parts"]
    hidden = hidden_parts(parts, restricted=manifest.restricted)
    shares = {
        part: None if part in hidden else 100 * counts["subjects"] / manifest.n_subjects
        for part, counts in parts.items()
    }
    return shares, SMALL if hidden else ""


def stays_before_eligibility(cohort: Cohort) -> tuple[int | None, str]:
    """Stays of the first step of a cohort's attrition; None where few of them were left out."""
    manifest = cohort.manifest
    if not manifest.attrition:
        return None, "the cohort does not say whom it left out"
    first = manifest.attrition[0]
    lost = (first.n_stays - manifest.n_stays, first.n_subjects - manifest.n_subjects)
    if manifest.restricted and any(small(n) for n in lost):
        return None, SMALL
    return first.n_stays, ""


def share_longer_than(book: Book, n_events: int, cohort: Role) -> tuple[float | None, str]:
    """Share of a cohort's visits that have more events, END not counted."""

    def counted() -> float:
        found = book.cohort(cohort)
        longer = found.stays()["n_events"].to_numpy() > n_events
        return _number_of(found, np.arange(len(longer)), longer) / len(longer)

    return book.tried(counted)


def _number_of(cohort: Cohort, stays: NDArray[np.integer], has: NDArray[np.bool_]) -> int:
    """How many rows have something; refused where so few subjects have it, or have it not.

    `stays` are the stays of the rows.
    """
    if cohort.manifest.restricted:
        subjects = subjects_of(cohort)[stays]
        if any(small(len(np.unique(subjects[side]))) for side in (has, ~has)):
            raise BadCohortError(SMALL)
    return int(has.sum())


def cap_of(book: Book, role: Role) -> tuple[float | None, str]:
    """The most events a rollout of the cohort is given."""
    return book.tried(lambda: float(book.cohort(role).manifest.cap))


def discharged_before(book: Book, run: Run) -> tuple[int | None, str]:
    """Launches of a run whose prefix holds a discharge already."""

    def counted() -> int:
        cohort = book.cohort(run.cohort)
        name = cohort.vocabulary_name(run.vocabulary)
        launches = np.asarray(cohort.launches(run.launches))
        prefixes = cohort.visits(name).prefixes(launches)
        discharges = cohort.vocabulary(name).discharges
        seen = Suffixes(prefixes.tokens, prefixes.minutes, prefixes.offsets)
        return _number_of(cohort, launches[:, 0], holds_any(seen, discharges))

    return book.tried(counted)


def share_discharged_before(book: Book, run: Run) -> float:
    """The same as a share of the run's launches."""
    cohort = book.cohort(run.cohort)
    n, why = discharged_before(book, run)
    if n is None:
        raise BadCohortError(why)
    return n / len(cohort.launches(run.launches))


def only_end_allowed(book: Book, run: Run) -> tuple[int | None, str]:
    """Launches of a run after whose last event the process mask allows END alone."""

    def counted() -> int:
        cohort = book.cohort(run.cohort)
        name = cohort.vocabulary_name(run.vocabulary)
        facts = VocabularyFacts.open(cohort.encoded(name))
        launches = np.asarray(cohort.launches(run.launches))
        prefixes = cohort.visits(name).prefixes(launches)
        seen = np.asarray(facts.transitions) > 0
        seen[:, END] = False
        last = prefixes.tokens[prefixes.offsets[1:] - 1]
        goes_on = np.asarray(seen.any(axis=1))
        return _number_of(cohort, launches[:, 0], ~goes_on[last])

    return book.tried(counted)


def parameters(book: Book, model: str) -> tuple[float | None, str]:
    """Parameters of a trained model, in millions."""
    return book.tried(lambda: _checkpoint(book, model).manifest.n_parameters / 1e6)


def checkpoint_megabytes(book: Book, model: str) -> tuple[float | None, str]:
    """The size of a trained model's file."""
    return book.tried(lambda: _checkpoint_path(book, model).stat().st_size / 1e6)


def _checkpoint_path(book: Book, model: str) -> Path:
    cohort, producer = book.cohort("main"), book.run(model).producer
    if not is_trained(producer):
        raise BadInputError(f"'{producer}' is not trained: it has no parameters.")
    return Path(checkpoint_path(producer, cohort, progress=book.results.progress))


def _checkpoint(book: Book, model: str) -> Checkpoint:
    from edsim.models.neural.checkpoint import read_checkpoint

    return read_checkpoint(_checkpoint_path(book, model))
