"""`edsim check`: a producer by name, or a rollouts file, through the conformance suite."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from edsim.conformance.rollouts import check_rollouts
from edsim.conformance.verdicts import Verdict
from edsim.errors import BadInputError, BadTableError
from edsim.lab.cohort import Cohort
from edsim.lab.few_people import sayable
from edsim.lab.launch_sets import found_launch_set
from edsim.lab.producers import find_producer, kind_of
from edsim.lab.rollouts import expected_of
from edsim.lab.rollouts_files import is_file, read_rows_of, vocabulary_of
from edsim.progress import Progress, silent
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
    if cap is not None and cap < 1:
        raise BadInputError(f"--cap must be at least 1; it is {cap}.")
    if is_file(producer):
        if not Path(producer).exists():
            raise BadInputError(f"there is no rollouts file '{producer}'.")
        return _file(cohort, Path(producer), launches, vocabulary, cap)
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
    name = vocabulary_of(rows, cohort, vocabulary)
    said = launches or rows.header.launches
    wanted = np.asarray(cohort.launches(said)) if said else None
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
