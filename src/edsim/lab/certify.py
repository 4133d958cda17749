"""`edsim check`: a producer by name, or a rollouts file, through the conformance suite."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from edsim.conformance.rollouts import check_rollouts
from edsim.conformance.verdicts import Verdict
from edsim.errors import BadInputError, BadTableError
from edsim.lab.beside_truth import expected_of
from edsim.lab.cohort import Cohort
from edsim.lab.few_people import sayable
from edsim.lab.launch_sets import found_launch_set
from edsim.lab.producers import find_producer, kind_of
from edsim.lab.rollouts_files import is_file, read_rows_of, vocabulary_of
from edsim.progress import Progress, silent
from edsim.rollout.settings import refuse_settings
from edsim.tables.facts import VocabularyFacts
from edsim.tables.rollouts_check import checked, find_faults
from edsim.tables.visits import Launches

FILE = "file"
"""The check that a file can be read at all and fits the cohort."""


def certify(
    cohort: Cohort,
    producer: str,
    launches: str | None = None,
    vocabulary: str | None = None,
    cap: int | None = None,
    progress: Progress = silent,
    *,
    clock: str | None = None,
    device: str = "cpu",
) -> list[Verdict]:
    """One verdict a check, of a producer's name or a rollouts file's path.

    Of restricted data the sentences hold no small count, and of few people no number at all.
    """
    progress.stage(f"checking {producer}")
    if cap is not None:
        refuse_settings(cap=cap)
    if is_file(producer):
        if not Path(producer).exists():
            raise BadInputError(f"there is no rollouts file '{producer}'.")
        if clock is not None:
            raise BadInputError("--clock is for producers; the clock of a file is what it was.")
        return _file(cohort, Path(producer), launches, vocabulary, cap)
    if launches is not None:
        raise BadInputError(
            "--launches is for rollouts files, which have to hold a launch set in full. A producer "
            "is checked on launches that the check chooses."
        )
    verdicts = _simulator(cohort, producer, vocabulary, cap, progress, clock, device)
    return _sayable(cohort, verdicts)


def _simulator(
    cohort: Cohort,
    producer: str,
    vocabulary: str | None,
    cap: int | None,
    progress: Progress,
    clock: str | None,
    device: str,
) -> list[Verdict]:
    found = find_producer(producer, cohort, vocabulary, clock=clock, device=device)
    visits = cohort.visits(found.vocabulary)
    facts = VocabularyFacts.open(cohort.encoded(found.vocabulary))
    cap = cohort.manifest.cap if cap is None else cap
    made = found.make(progress)
    if kind_of(made) == "process":
        from edsim.conformance.process import check_process

        return check_process(made, visits, facts, cap=cap)
    from edsim.conformance.simulator import check_simulator

    return check_simulator(found.make, visits, facts, cap=cap)


def _sayable(
    cohort: Cohort, verdicts: list[Verdict], launches: Launches | None = None
) -> list[Verdict]:
    """The verdicts with what may be said of the people behind these launches."""
    return [
        replace(verdict, sentence=sayable(verdict.sentence, cohort, launches))
        for verdict in verdicts
    ]


def _file(
    cohort: Cohort, path: Path, launches: str | None, vocabulary: str | None, cap: int | None
) -> list[Verdict]:
    try:
        rows = read_rows_of(path, cohort, vocabulary, cap)
    except BadTableError as error:
        return _sayable(cohort, [Verdict(FILE, "fail", str(error))])
    if cap not in (None, rows.header.cap):
        raise BadInputError(
            f"--cap is for producers, and for text that says nothing of itself; the header of "
            f"'{path.name}' says {rows.header.cap}. Leave --cap out."
        )
    name = vocabulary_of(rows, cohort, vocabulary)
    said = launches or rows.header.launches
    try:
        wanted = np.asarray(cohort.launches(said)) if said else None
    except BadInputError:
        if launches is not None:
            raise
        unknown = (
            "the header names a launch set that the cohort does not have. Name the one that the "
            "table holds with --launches, or leave it out of the header."
        )
        return _sayable(cohort, [Verdict(f"{FILE}: launch_set", "fail", unknown)])
    expected = expected_of(cohort, name, wanted)
    faults = find_faults(rows, expected)
    if faults:
        found = [Verdict(f"{FILE}: {fault.name}", "fail", fault.sentence) for fault in faults]
        return _sayable(cohort, found)
    table = checked(rows, expected)
    if wanted is None and found_launch_set(table.launches[table.draw == 0], cohort):
        wanted = table.launches
    facts = VocabularyFacts.open(cohort.encoded(name))
    read = Verdict(FILE, "pass", f"{len(table):,} rollouts that fit the cohort")
    verdicts = [read, *check_rollouts(table, cohort.visits(name), facts, wanted)]
    return _sayable(cohort, verdicts, table.launches)
