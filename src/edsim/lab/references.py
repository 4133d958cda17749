"""Rollouts that are kept: the reference, the oracle, and whatever a study asks for.

Each table is made once, found again by all that decides it, and cut out of a larger set's table
where there is one.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from edsim import __version__
from edsim.errors import BadCohortError
from edsim.lab.beside_truth import expected_of
from edsim.lab.cohort import Cohort
from edsim.lab.oracle import PRODUCER as ORACLE
from edsim.lab.producers import always_the_same, decided_by
from edsim.lab.rollouts import RolloutSettings, roll_out, roll_out_to
from edsim.lab.store import Asked, Store, cohort_inputs, store_of
from edsim.progress import Progress, silent
from edsim.sources import SOURCES
from edsim.tables.rollouts import Rollouts
from edsim.tables.rollouts_file import read_rollouts
from edsim.tables.visits import Launches

REFERENCE = "ngram:3"
"""The train-only order-3 count model that every divergence is a multiple of."""
REFERENCE_SEED = 0


def has_oracle(cohort: Cohort) -> bool:
    """Whether the process behind the cohort's visits is known."""
    source = SOURCES.get(cohort.manifest.source)
    return source is not None and source.branch is not None


def kept_rollouts(
    cohort: Cohort,
    producer: str,
    *,
    launches: str = "matched-100k",
    vocabulary: str | None = None,
    cap: int | None = None,
    draws: int = 1,
    clock: str | None = None,
    device: str = "cpu",
    progress: Progress = silent,
) -> Rollouts:
    """Vanilla rollouts with the reference's seed, kept in the cohort's store.

    Code from outside may change under its name, so its rollouts are made every time and not kept.
    """
    settings = RolloutSettings(
        launches=launches,
        seed=REFERENCE_SEED,
        draws=draws,
        cap=cap,
        vocabulary=vocabulary,
        clock=clock,
        device=device,
    )
    if not always_the_same(producer):
        return roll_out(cohort, producer, settings, progress)
    return found_rollouts(cohort, producer, settings, progress=progress)


def found_rollouts(
    cohort: Cohort,
    producer: str,
    settings: RolloutSettings,
    *,
    store: Store | None = None,
    progress: Progress = silent,
) -> Rollouts:
    """Rollouts from the store, made where they are missing; a larger set's table is used too."""
    store = store or store_of(cohort)
    asked = rollouts_asked(cohort, producer, settings)
    larger = larger_asked(cohort, producer, settings)
    if larger is not None and store.holds(larger) and not store.holds(asked):
        wanted = np.asarray(cohort.launches(settings.launches))
        return _subset(_read(store.path(larger), cohort, settings), wanted, settings.launches)
    path = rollouts_path(cohort, producer, settings, store=store, progress=progress)
    return _read(path, cohort, settings)


def larger_asked(cohort: Cohort, producer: str, settings: RolloutSettings) -> Asked | None:
    """The rollouts of all test launches, out of which these can be cut; None where they cannot."""
    if settings.launches == "all" or settings.launches.startswith("val-"):
        return None
    return rollouts_asked(cohort, producer, replace(settings, launches="all"))


def rollouts_path(
    cohort: Cohort,
    producer: str,
    settings: RolloutSettings,
    *,
    store: Store | None = None,
    progress: Progress = silent,
) -> Path:
    """The file of the rollouts, found or made."""
    if producer == ORACLE and not has_oracle(cohort):
        raise BadCohortError(
            f"a cohort of the source '{cohort.manifest.source}' has no oracle: the process behind "
            "its visits is not known."
        )

    def make(path: Path) -> None:
        roll_out_to(cohort, producer, path, settings, progress)

    asked = rollouts_asked(cohort, producer, settings)
    return (store or store_of(cohort)).get(asked, make, progress)


def rollouts_asked(cohort: Cohort, producer: str, settings: RolloutSettings) -> Asked:
    """Rollouts by all that decides them; batch, workers, device and parts do not."""
    vocabulary = cohort.vocabulary_name(settings.vocabulary)
    inputs: dict[str, Any] = {
        "producer": producer,
        "decided_by": decided_by(producer, cohort, vocabulary),
        "rule": _written(settings.rule),
        "launches": settings.launches,
        "cap": settings.cap or cohort.manifest.cap,
        "seed": settings.seed,
        "draws": settings.draws,
        "code_version": __version__,
        **cohort_inputs(cohort, vocabulary),
    }
    parts = [Path(producer).stem if producer.endswith(".npz") else producer, vocabulary]
    parts.append(settings.launches)
    if settings.clock is not None:
        inputs["clock"] = settings.clock
        parts.append(settings.clock)
    return Asked(
        kind="rollouts",
        name="-".join(parts if inputs["rule"] == "vanilla" else [*parts, inputs["rule"]]),
        inputs=inputs,
        ending=".rollouts.parquet",
        units=float(cohort.n_launches(settings.launches) * settings.draws),
        counted=producer.partition("@")[0],
    )


def _written(rule: str) -> str:
    """A rule as it is recorded, whatever the order in which its parts were asked for."""
    if rule == "vanilla":
        return rule  # known without torch
    from edsim.rollout.decoding import parse_rule

    return str(parse_rule(rule))


def _read(path: Path, cohort: Cohort, settings: RolloutSettings) -> Rollouts:
    return read_rollouts(path, expected_of(cohort, settings.vocabulary))


def _subset(rollouts: Rollouts, launches: Launches, name: str) -> Rollouts:
    """The rows of a launch set; both are sorted by stay row and prefix length."""
    width = int(rollouts.launches[:, 1].max()) + 1
    keys = rollouts.launches[:, 0].astype(np.int64) * width + rollouts.launches[:, 1]
    wanted = launches[:, 0].astype(np.int64) * width + launches[:, 1]
    rows = np.flatnonzero(np.isin(keys, wanted))
    return Rollouts(
        replace(rollouts.header, launches=name),
        rollouts.launches[rows],
        rollouts.draw[rows],
        rollouts.generated.take(rows),
    )
