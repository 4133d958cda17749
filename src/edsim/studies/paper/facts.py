"""What tables say of cohorts and models that is no score: counts of launches, coverage, sizes.

Each answers with the number, or with nothing and the reason in words.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from edsim.errors import BadCohortError, BadInputError
from edsim.lab.producers import checkpoint_path, coverage_of, is_trained
from edsim.metrics.termination import holds_any
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


def launch_counts(book: Book) -> tuple[int, int, int]:
    """Launches of the test split, those that end at triage, and test stays."""
    cohort = book.cohort("main")
    n_stays = int(cohort.manifest.split["parts"]["test"]["stays"])
    n_triage = int(cohort.manifest.launches.get("triage", {}).get("n") or 0)
    return len(cohort.launches("all")), n_triage, n_stays


def share_longer_than(book: Book, n_events: int, cohort: Role) -> tuple[float | None, str]:
    """Share of a cohort's visits that have more events, END not counted."""
    return book.tried(
        lambda: float((book.cohort(cohort).stays()["n_events"].to_numpy() > n_events).mean())
    )


def cap_of(book: Book, role: Role) -> tuple[float | None, str]:
    """The most events a rollout of the cohort is given."""
    return book.tried(lambda: float(book.cohort(role).manifest.cap))


def discharged_before(book: Book, run: Run) -> tuple[int | None, str]:
    """Launches of a run whose prefix holds a discharge already."""

    def counted() -> int:
        cohort = book.cohort(run.cohort)
        name = cohort.vocabulary_name(run.vocabulary)
        prefixes = cohort.visits(name).prefixes(np.asarray(cohort.launches(run.launches)))
        discharges = cohort.vocabulary(name).discharges
        seen = Suffixes(prefixes.tokens, prefixes.minutes, prefixes.offsets)
        return int(holds_any(seen, discharges).sum())

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
        prefixes = cohort.visits(name).prefixes(np.asarray(cohort.launches(run.launches)))
        seen = np.asarray(facts.transitions) > 0
        seen[:, END] = False
        last = prefixes.tokens[prefixes.offsets[1:] - 1]
        goes_on = np.asarray(seen.any(axis=1))
        return int((~goes_on[last]).sum())

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
