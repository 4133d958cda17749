"""`edsim cohort check`: is a cohort directory whole, unchanged, and true to its own rules?

Each check is named and stands alone, so that a damaged cohort tells all that is wrong with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from edsim.cohort.content import coded, content_hash
from edsim.cohort.manifest import ARTIFACTS, MANIFEST_FILE, hash_file, read_manifest
from edsim.encoding.encode import encode
from edsim.errors import EdsimError
from edsim.lab.cohort import Cohort
from edsim.lab.facts import split_places, stay_ids, vocabulary_facts
from edsim.lab.launching import draw_stored_sets, launch_stays
from edsim.privacy import open_to_others
from edsim.progress import Progress, silent
from edsim.tables.facts import VocabularyFacts
from edsim.tables.visits import SPLITS


@dataclass(frozen=True, slots=True)
class Finding:
    """One check: its name, whether it passed, and what it saw."""

    name: str
    passed: bool
    detail: str = ""


def check_cohort(directory: Path | str, progress: Progress = silent) -> list[Finding]:
    """All checks; those that need readable tables are left out where the files are damaged."""
    directory = Path(directory)
    try:
        cohort = Cohort(directory, read_manifest(directory))
    except EdsimError as error:
        return [Finding("manifest", False, str(error))]
    findings = [Finding("manifest", True, f"{MANIFEST_FILE} is as it was written")]
    for check in (_files, _permissions):
        findings += _run(check, cohort, progress)
    if all(finding.passed for finding in findings):
        for check in (_tables, _subjects, _encodings, _launches):
            findings += _run(check, cohort, progress)
    return findings


def _run(
    check: Callable[[Cohort, Progress], Iterator[Finding]], cohort: Cohort, progress: Progress
) -> list[Finding]:
    name = check.__name__.strip("_")
    progress.stage(f"checking {name}")
    try:
        return list(check(cohort, progress))
    except EdsimError as error:
        return [Finding(name, False, str(error))]
    except OSError as error:
        return [Finding(name, False, f"cannot be read: {error.strerror}")]


def _files(cohort: Cohort, progress: Progress) -> Iterator[Finding]:
    """Every file there, none besides, each with its hash."""
    promised = cohort.manifest.files
    below = [path.relative_to(cohort.directory) for path in cohort.directory.rglob("*")]
    there = {
        path.as_posix()
        for path in below
        if (cohort.directory / path).is_file() and path.parts[0] not in (MANIFEST_FILE, ARTIFACTS)
    }
    missing, strange = sorted(promised.keys() - there), sorted(there - promised.keys())
    changed = [
        name
        for name in sorted(promised.keys() & there)
        if hash_file(cohort.directory / name) != promised[name]
    ]
    for what, names in (("missing", missing), ("changed", changed), ("not of it", strange)):
        if names:
            yield Finding("files", False, f"{what}: {', '.join(names)}")
    if not (missing or changed or strange):
        yield Finding("files", True, f"{len(promised)} files, each with its hash")


def _permissions(cohort: Cohort, progress: Progress) -> Iterator[Finding]:
    """Restricted data are for their owner alone."""
    if not cohort.manifest.restricted:
        return
    loose = open_to_others(cohort.directory)
    yield Finding(
        "permissions",
        not loose,
        f"{len(loose)} files or folders are open to others: run chmod -R go= on the directory"
        if loose
        else "for the owner alone",
    )


def _tables(cohort: Cohort, progress: Progress) -> Iterator[Finding]:
    """The tables say what the manifest says, in the promised order."""
    stays, events = cohort.stays(), cohort.events()
    ids = stays["stay_id"]
    n_events = stays["n_events"].to_numpy()
    yield Finding(
        "stays", ids.is_sorted() and ids.n_unique() == len(ids), "sorted by id, each once"
    )
    identified = cohort.scan_events().select("stay_id", "position").collect()
    begins = np.concatenate([[0], np.cumsum(n_events, dtype=np.int64)])[:-1]
    position = np.arange(events.height) - np.repeat(begins, n_events) + 1
    codes, texts = coded(identified["stay_id"])
    in_order = (
        texts == sorted(ids.to_list(), key=str.encode)
        and bool((codes == events["stay"].to_numpy()).all())
        and bool((identified["position"].to_numpy() == position).all())
    )
    yield Finding("events", in_order, "in the order of the stays, positions from 1")
    same_stay = np.diff(events["stay"].to_numpy().astype(np.int64)) == 0
    backwards = int((same_stay & (np.diff(events["minutes"].to_numpy()) < 0)).sum())
    yield Finding("time", backwards == 0, f"{backwards} events before the event they follow")
    same = content_hash(stays, events) == cohort.manifest.content_hash
    yield Finding("content", same, "the content hash is that of the tables")


def _subjects(cohort: Cohort, progress: Progress) -> Iterator[Finding]:
    """No subject is in two parts of the split."""
    import polars as pl

    stays = cohort.stays()
    parts = stays.group_by("subject_id").agg(pl.col("split").n_unique().alias("n"))
    torn = int((parts["n"] > 1).sum())
    known = bool(stays["split"].is_in(list(SPLITS)).all())
    yield Finding("split", torn == 0 and known, f"{torn} subjects in more than one part")


def _encodings(cohort: Cohort, progress: Progress) -> Iterator[Finding]:
    """Encoding the events again gives the arrays that are stored."""
    stays, events = cohort.stays(), cohort.events()
    for name in cohort.manifest.vocabularies:
        stored = cohort.visits(name)
        vocabulary = cohort.vocabulary(name)
        made, _ = encode(events, stays.height, vocabulary)
        same = all(
            np.array_equal(getattr(stored, part), getattr(made, part))
            for part in ("tokens", "minutes", "offsets", "start")
        )
        yield Finding(f"encoded {name}", same, "as its vocabulary encodes the events")
        found = VocabularyFacts.open(cohort.encoded(name))
        facts = vocabulary_facts(vocabulary, made, split_places(stays) == 0)
        same = np.array_equal(found.transitions, facts.transitions) and found.sha256 == facts.sha256
        yield Finding(f"facts {name}", same, "transitions as the training split has them")
    visits = cohort.visits()
    same = all(
        stored is not None and np.array_equal(stored, made)
        for stored, made in (
            (visits.stay_ids, stay_ids(stays)),
            (visits.split, split_places(stays)),
        )
    )
    yield Finding("encoded ids and split", same, "as the stays have them")


def _launches(cohort: Cohort, progress: Progress) -> Iterator[Finding]:
    """Drawing the launch sets again gives the sets that are stored."""
    stays = cohort.stays()
    facts = launch_stays(stays, cohort.events(), cohort.manifest.triage_activity)
    made = draw_stored_sets(facts)
    for name, launches in made.items():
        said = cohort.manifest.launches.get(name, {})
        if isinstance(launches, str):
            yield Finding(f"launches {name}", said.get("absent") == launches, launches)
            continue
        same = np.array_equal(launches, cohort.launches(name))
        yield Finding(f"launches {name}", same, "as drawn again from the stays")
