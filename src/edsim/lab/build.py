"""From a source to a cohort directory: the one place where all the steps stand in order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from edsim import __version__
from edsim.cohort.cap import cap_by_rule
from edsim.cohort.card import CARD_FILE, card_of
from edsim.cohort.complaints import group_complaints
from edsim.cohort.content import content_hash
from edsim.cohort.contract import check_extract
from edsim.cohort.manifest import MANIFEST_FILE, Manifest, hash_files, write_manifest
from edsim.cohort.splits import SplitRule, divide
from edsim.cohort.tables import STAYS_COLUMNS, write_events, write_stays
from edsim.encoding.caught import write_caught
from edsim.encoding.encode import encode_each, write_encoded
from edsim.encoding.kinds import find_kinds
from edsim.encoding.vocabulary import Specification, load
from edsim.errors import BadInputError
from edsim.lab.directory import whole_directory
from edsim.lab.facts import vocabulary_facts, write_stay_arrays
from edsim.lab.launching import draw_stored_sets, launch_stays, write_launches
from edsim.privacy import set_permissions
from edsim.progress import Progress, silent
from edsim.sources.source import Source
from edsim.tables.extract import Extract
from edsim.tables.visits import SPLITS

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, slots=True, kw_only=True)
class CohortSettings:
    """What decides a cohort beside the source and its options."""

    split: SplitRule = field(default_factory=SplitRule)
    vocabularies: tuple[str, ...] = ()
    """Names of packaged vocabularies or paths of files; empty asks for the source's own."""
    open_data: str | None = None
    """The licence of data that are not under a use agreement, which lifts the restriction."""

    def __post_init__(self) -> None:
        if self.open_data is not None and not self.open_data.strip():
            raise BadInputError(
                "--open-data needs the name of the licence that the data are under, such as "
                '"CC BY 4.0"; without one the data stay restricted.'
            )


def build_cohort(
    source: Source,
    options: Any,
    out: Path | str,
    *,
    settings: CohortSettings | None = None,
    overwrite: bool = False,
    progress: Progress = silent,
) -> Manifest:
    """Read, check, divide, encode and write a cohort; `out` is there whole or not at all."""
    settings = settings or CohortSettings()
    names = settings.vocabularies or source.vocabularies
    specifications = [load(name) for name in names]
    with whole_directory(out, overwrite=overwrite, known_by=MANIFEST_FILE) as directory:
        extract = source.read(options, progress)
        return _write(directory, extract, source, specifications, settings, progress)


def _write(
    directory: Path,
    extract: Extract,
    source: Source,
    specifications: Sequence[Specification],
    settings: CohortSettings,
    progress: Progress,
) -> Manifest:
    check_extract(extract)
    rule = settings.split.chosen(extract.stays)
    stays, events, split_steps = divide(extract.stays, extract.events, rule)
    stays, complaint_groups = _finished_stays(stays, events)
    write_stays(stays, directory)
    write_events(events, stays, directory, progress)
    progress.stage("encoding", len(specifications), "vocabularies")
    vocabularies = _encode_all(
        directory, specifications, stays, events, extract.discharges, progress
    )
    write_stay_arrays(
        directory / "encoded",
        stays,
        events,
        triage_activity=extract.triage_activity,
        time_of_day=extract.time_of_day,
    )
    progress.stage("choosing launches")
    facts = launch_stays(stays, events, extract.triage_activity)
    launches = write_launches(directory / "launches", draw_stored_sets(facts))
    progress.stage("hashing")
    hashed = content_hash(stays, events)
    cap, cap_rule = _cap(extract, stays)
    manifest = Manifest(
        cohort_id=f"{source.name}-{hashed[:12]}",
        content_hash=hashed,
        source=source.name,
        source_version=extract.version,
        source_options=dict(extract.options),
        raw_files=extract.raw_files,
        notices=extract.notices,
        attrition=extract.steps + split_steps,
        split={"rule": rule.sentence(), "parts": _count_parts(stays)},
        restricted=source.restricted and settings.open_data is None,
        open_data=settings.open_data,
        cap=cap,
        cap_rule=cap_rule,
        triage_activity=extract.triage_activity,
        time_of_day=extract.time_of_day,
        discharges=extract.discharges,
        complaint_groups=tuple(complaint_groups),
        vocabularies=vocabularies,
        launches=launches,
        n_stays=stays.height,
        n_subjects=stays["subject_id"].n_unique(),
        n_events=events.height,
        code_version=__version__,
    )
    (directory / CARD_FILE).write_text(card_of(manifest, source.title), encoding="utf-8")
    manifest = replace(manifest, files=hash_files(directory))
    write_manifest(manifest, directory)
    set_permissions(directory, restricted=manifest.restricted)
    return manifest


def _finished_stays(stays: pl.DataFrame, events: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """The stays with the columns of stays.parquet, and the complaint groups."""
    import polars as pl

    groups, names = group_complaints(stays)
    n_events = np.bincount(events["stay"].to_numpy(), minlength=stays.height).astype(np.int32)
    return stays.with_columns(groups, pl.Series("n_events", n_events)).select(STAYS_COLUMNS), names


def _encode_all(
    directory: Path,
    specifications: Sequence[Specification],
    stays: pl.DataFrame,
    events: pl.DataFrame,
    discharges: tuple[str, ...],
    progress: Progress,
) -> dict[str, Mapping[str, Any]]:
    """Write `encoded/<vocabulary>/` for every vocabulary; what the manifest says of each."""
    kinds = find_kinds(events)
    trains = (stays["split"] == "train").to_numpy()
    training = kinds.counted(trains[events["stay"].to_numpy()])
    vocabularies = [s.resolve(training, discharges=discharges) for s in specifications]
    subjects = stays["subject_id"].rank("dense").to_numpy().astype(np.int32) - 1
    encoded = encode_each(events, stays.height, vocabularies, kinds=kinds, subjects=subjects)
    said: dict[str, Mapping[str, Any]] = {}
    for vocabulary, (visits, caught) in zip(vocabularies, encoded, strict=True):
        folder = directory / "encoded" / vocabulary.name
        write_encoded(folder, visits, vocabulary)
        write_caught(folder, caught)
        vocabulary_facts(vocabulary, visits, trains).save(folder)
        said[vocabulary.name] = {
            "sha256": vocabulary.sha256,
            "n_tokens": len(vocabulary.tokens),
            "discharges": [vocabulary.tokens[token] for token in vocabulary.discharges],
            "share_other": caught.share_other,
        }
        progress.advance(1)
    return said


def _count_parts(stays: pl.DataFrame) -> dict[str, dict[str, int]]:
    """Stays, subjects and events of each part of the split."""
    parts = {part: stays.filter(stays["split"] == part) for part in SPLITS}
    return {
        part: {
            "stays": rows.height,
            "subjects": rows["subject_id"].n_unique(),
            "events": int(rows["n_events"].sum()),
        }
        for part, rows in parts.items()
    }


def _cap(extract: Extract, stays: pl.DataFrame) -> tuple[int, str]:
    if extract.cap is not None:
        return extract.cap, "declared by the source"
    training = stays.filter(stays["split"] == "train")["n_events"].to_numpy()
    return (
        cap_by_rule(training),
        "99.9th percentile of training lengths, END counted, rounded up to a power of two",
    )
