"""Rollouts in parts: a large launch set is divided, its parts made anywhere, and then joined.

A part is kept like everything else, so that processes and machines can share the work of one
table. How it was divided changes no row. Once the whole is there its parts are removed.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from edsim.lab.beside_truth import expected_of
from edsim.lab.cohort import Cohort
from edsim.lab.references import rollouts_asked
from edsim.lab.rollouts import RolloutSettings, roll_out_to
from edsim.lab.store import Asked, store_of
from edsim.progress import Progress, silent
from edsim.tables.rollouts import Rollouts
from edsim.tables.rollouts_file import read_rollouts, write_rollouts
from edsim.tables.visits import Suffixes

PART_ROWS = 65_536
"""Rollouts of a part: minutes of work for a neural simulator on one core, a second on a GPU."""


def parts_of(
    cohort: Cohort, settings: RolloutSettings, rows: int = PART_ROWS
) -> list[RolloutSettings]:
    """The settings of each part, of nearly equal size; none where one part would be all."""
    n = cohort.n_launches(settings.launches)
    n_parts = -(-n * settings.draws // rows)
    if n_parts < 2:
        return []
    bounds = np.linspace(0, n, min(n, n_parts) + 1).astype(int).tolist()
    return [replace(settings, part=(begin, end)) for begin, end in pairwise(bounds)]


def part_asked(cohort: Cohort, producer: str, settings: RolloutSettings) -> Asked:
    """One part, by all that decides it."""
    assert settings.part is not None
    begin, end = settings.part
    whole = rollouts_asked(cohort, producer, settings)
    return replace(
        whole,
        kind="parts",
        name=f"{whole.name}-{begin}-{end}",
        inputs={**whole.inputs, "part": [begin, end]},
        units=float((end - begin) * settings.draws),
    )


def part_path(
    cohort: Cohort, producer: str, settings: RolloutSettings, progress: Progress = silent
) -> Path:
    """The file of one part, found or made."""

    def make(path: Path) -> None:
        roll_out_to(cohort, producer, path, settings, progress)

    return store_of(cohort).get(part_asked(cohort, producer, settings), make, progress)


def joined_asked(cohort: Cohort, producer: str, settings: RolloutSettings) -> Asked:
    """The whole table; the work it took is counted with its parts."""
    return replace(rollouts_asked(cohort, producer, settings), units=0.0, counted="joined")


def joined_path(
    cohort: Cohort,
    producer: str,
    parts: list[RolloutSettings],
    progress: Progress = silent,
) -> Path:
    """The file of the whole, joined of its parts; those that are missing are made."""
    settings = replace(parts[0], part=None)
    store = store_of(cohort)

    def make(path: Path) -> None:
        expected = expected_of(cohort, settings.vocabulary)
        tables = [
            read_rollouts(part_path(cohort, producer, part, progress), expected) for part in parts
        ]
        stay_ids = cohort.visits(settings.vocabulary).stay_ids
        assert stay_ids is not None
        write_rollouts(_joined(tables), path, stay_ids)

    path = store.get(joined_asked(cohort, producer, settings), make, progress)
    for part in parts:
        store.path(part_asked(cohort, producer, part)).unlink(missing_ok=True)
    return path


def _joined(tables: list[Rollouts]) -> Rollouts:
    """Parts that follow each other are sorted as the whole is."""
    return Rollouts(
        tables[0].header,
        np.concatenate([one.launches for one in tables]),
        np.concatenate([one.draw for one in tables]),
        Suffixes.join([one.generated for one in tables]),
    )
