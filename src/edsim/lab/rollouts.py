"""Rollouts of a cohort, made by any producer; `beside_truth` puts them beside what was observed."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from edsim import __version__
from edsim.errors import BadInputError
from edsim.lab.cohort import Cohort
from edsim.lab.processes import run_process
from edsim.lab.producers import (
    Producer,
    decided_by,
    find_producer,
    kind_of,
    source_hash,
    trained_on,
    version_of,
)
from edsim.progress import Progress, silent
from edsim.rollout.settings import refuse_settings
from edsim.tables.facts import VocabularyFacts
from edsim.tables.rollouts import Rollouts, RolloutsHeader
from edsim.tables.rollouts_file import write_rollouts
from edsim.tables.visits import Launches, Suffixes

if TYPE_CHECKING:
    from edsim.rollout.decoding import Rule
    from edsim.rollout.shards import Work

PROCESS_ROWS = 65_536
"""Rows a process is asked for at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RolloutSettings:
    """What decides rollouts beside the producer and the cohort."""

    launches: str = "matched-100k"
    rule: str = "vanilla"
    seed: int = 0
    draws: int = 1
    cap: int | None = None
    """The cohort's own where it is None."""
    vocabulary: str | None = None
    """The cohort's first where it is None."""
    batch: int | None = None
    """Rows that run side by side, by default what suits; changes speed and memory only."""
    clock: str | None = None
    """Of a neural simulator; its own default where it is None."""
    device: str = "cpu"
    """Where the model runs, such as cuda; changes speed, and the last digits."""
    workers: int = 1
    """Processes that share the work, where there is a work folder; changes speed only."""
    part: tuple[int, int] | None = None
    """From which launch of the set to which (not included); all where it is None."""


def roll_out(
    cohort: Cohort,
    producer: str,
    settings: RolloutSettings | None = None,
    progress: Progress = silent,
    *,
    at: Launches | None = None,
    work_folder: Path | None = None,
) -> Rollouts:
    """Continue the launches of a set, or those given as `at`, with a producer.

    With a work folder, finished shards are kept in it, so that a run that was stopped goes on where
    it was; several workers share them.
    """
    settings = settings or RolloutSettings()
    _refuse(settings)
    found = find_producer(
        producer, cohort, settings.vocabulary, clock=settings.clock, device=settings.device
    )
    made = found.make(progress)
    whole = cohort.launches(settings.launches) if at is None else at
    launches = np.asarray(whole)[slice(*(settings.part or (None,)))]
    header = _header(cohort, found, made, settings)
    if kind_of(made) == "simulator":
        return _driven(found, made, cohort, launches, header, settings, work_folder, progress)
    progress.stage(f"rolling out {found.name}", len(launches) * settings.draws, "rollouts")
    return _by_itself(made, cohort, launches, header, settings, progress)


def _refuse(settings: RolloutSettings) -> None:
    """Under the names that the user gave them."""
    given = {"cap": settings.cap, "batch": settings.batch}
    refuse_settings(
        draws=settings.draws,
        workers=settings.workers,
        **{name: value for name, value in given.items() if value is not None},
    )


def _header(
    cohort: Cohort, found: Producer, made: Any, settings: RolloutSettings
) -> RolloutsHeader:
    facts = VocabularyFacts.open(cohort.encoded(found.vocabulary))
    recipe, training_seed = trained_on(found, cohort)
    return RolloutsHeader(
        producer=found.label,
        producer_version=version_of(made),
        recipe=recipe,
        training_seed=training_seed,
        clock=str(getattr(made, "clock", "own")),
        cap=cohort.manifest.cap if settings.cap is None else settings.cap,
        seed=settings.seed,
        draws=settings.draws,
        vocabulary=facts.name,
        vocabulary_sha256=facts.sha256,
        tokens=facts.tokens,
        cohort_id=cohort.manifest.cohort_id,
        content_hash=cohort.manifest.content_hash,
        launches=settings.launches,
        device=str(getattr(made, "device", "cpu")),
        privileged=bool(getattr(made, "privileged", False)),
        restricted=cohort.manifest.restricted,
        code_version=__version__,
    )


def _driven(
    found: Producer,
    simulator: Any,
    cohort: Cohort,
    launches: Launches,
    header: RolloutsHeader,
    settings: RolloutSettings,
    work_folder: Path | None,
    progress: Progress,
) -> Rollouts:
    """Run by the loop; the header says what the bound rule says it applied."""
    import torch

    from edsim.rollout import shards
    from edsim.rollout.decoding import parse_rule

    rule = parse_rule(settings.rule)
    bound = rule.bind(VocabularyFacts.open(cohort.encoded(header.vocabulary)))
    header = replace(header, rule=str(bound), rule_settings=bound.settings())
    work = _work(found, simulator, cohort, launches, header, rule)
    if header.device == "cpu":
        torch.set_num_threads(1)  # steps are short: more threads wait for each other; see --workers
    with ExitStack() as closing:
        folder = work_folder or Path(closing.enter_context(TemporaryDirectory(prefix="edsim-")))
        shards.roll_out_shards(
            work,
            folder,
            workers=settings.workers,
            slots=settings.batch,
            progress=progress,
        )
        return shards.assemble(folder, header)


def _work(
    found: Producer,
    made: Any,
    cohort: Cohort,
    launches: Launches,
    header: RolloutsHeader,
    rule: Rule,
) -> Work:
    """The work of a simulator in a form that other processes can take part in."""
    from edsim.rollout.shards import Work

    return Work(
        load=found.make,
        encoded=cohort.encoded(header.vocabulary),
        launches=launches,
        rule=rule,
        cap=header.cap,
        seed=header.seed,
        draws=header.draws,
        identity={
            "producer": header.producer,
            "version": header.producer_version,
            "source": source_hash(made),
            "decided_by": decided_by(found.name, cohort, found.vocabulary),
            "clock": header.clock,
            "cohort": header.content_hash,
        },
    )


def _by_itself(
    process: Any,
    cohort: Cohort,
    launches: Launches,
    header: RolloutsHeader,
    settings: RolloutSettings,
    progress: Progress,
) -> Rollouts:
    """A process continues the visits by its own means; no rule can be applied to it."""
    if settings.rule != "vanilla":
        raise BadInputError(
            f"'{header.producer}' runs by itself: no decoding rule can be applied to it. "
            "Leave --rule out."
        )
    visits = cohort.visits(header.vocabulary)
    at_a_time = max(1, PROCESS_ROWS // header.draws)
    parts = []
    for first in range(0, len(launches), at_a_time):
        prefixes = visits.prefixes(launches[first : first + at_a_time])
        parts.append(run_process(process, prefixes, header))
        progress.advance(len(prefixes) * header.draws)
    return Rollouts(
        header=header,
        launches=np.repeat(launches, header.draws, axis=0).astype(np.int32),
        draw=np.tile(np.arange(header.draws, dtype=np.int32), len(launches)),
        generated=Suffixes.join(parts),
    )


def roll_out_to(
    cohort: Cohort,
    producer: str,
    path: Path,
    settings: RolloutSettings | None = None,
    progress: Progress = silent,
) -> Rollouts:
    """Roll out and write the file; a run that was stopped goes on where it was."""
    from edsim.rollout.work_folder import remove_work_folder

    folder = path.with_name(f".{path.name}.shards")
    begun_before = folder.exists()
    try:
        rollouts = roll_out(cohort, producer, settings, progress, work_folder=folder)
    except BaseException:
        if not begun_before and not any(folder.glob("shard-*")):  # nothing to go on from
            remove_work_folder(folder)
        raise
    write_of(cohort, rollouts, path)
    remove_work_folder(folder)
    return rollouts


def write_of(cohort: Cohort, rollouts: Rollouts, path: Path) -> None:
    """Write rollouts of the cohort's visits as a file."""
    stay_ids = cohort.visits(rollouts.header.vocabulary).stay_ids
    assert stay_ids is not None
    write_rollouts(rollouts, path, stay_ids)
