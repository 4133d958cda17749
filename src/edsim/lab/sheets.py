"""Score sheets that are kept: a sheet is found by its rollouts and what was asked of them, or made.

Measures change as the code does, so the text of the code that scores is one of the inputs: a sheet
of an older edsim is never mistaken for today's.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

from edsim.lab.cohort import Cohort
from edsim.lab.oracle import PRODUCER as ORACLE
from edsim.lab.references import (
    REFERENCE,
    REFERENCE_SEED,
    found_rollouts,
    has_oracle,
    rollouts_asked,
)
from edsim.lab.rollouts import RolloutSettings
from edsim.lab.scores import ScoreSettings, score_all
from edsim.lab.store import Asked, store_of
from edsim.metrics.registry import SHARED
from edsim.progress import Progress, silent
from edsim.tables.from_json import object_from_json
from edsim.tables.scores import SUFFIX, ScoreRow, ScoreSheet, read_sheet, write_sheet
from edsim.tables.whole_file import whole_file

SCORING_CODE = (
    "metrics",
    "lab/beside_truth.py",
    "lab/compare.py",
    "lab/populations.py",
    "lab/scores.py",
    "lab/scoring_facts.py",
    "lab/whole_tables.py",
)
"""Of the package: what decides a number beside the rollouts."""


def kept_sheet(
    cohort: Cohort,
    producer: str,
    settings: RolloutSettings | None = None,
    scoring: ScoreSettings | None = None,
    progress: Progress = silent,
) -> ScoreSheet:
    """The scores of a producer's rollouts, from the cohort's store."""
    settings, scoring = settings or RolloutSettings(), scoring or ScoreSettings()
    return read_sheet(sheet_path(cohort, producer, settings, scoring, progress))


def sheet_path(
    cohort: Cohort,
    producer: str,
    settings: RolloutSettings,
    scoring: ScoreSettings,
    progress: Progress = silent,
) -> Path:
    """The file of a sheet, found or made; the rollouts it is of are found or made first."""

    def make(path: Path) -> None:
        rollouts = found_rollouts(cohort, producer, settings, progress=progress)
        write_sheet(score_all([rollouts], cohort, scoring, progress)[0], path)

    asked = sheet_asked(cohort, producer, settings, scoring)
    return store_of(cohort).get(asked, make, progress)


def sheet_asked(
    cohort: Cohort, producer: str, settings: RolloutSettings, scoring: ScoreSettings
) -> Asked:
    """A sheet by all that decides it."""
    rollouts = rollouts_asked(cohort, producer, settings)
    measures = scoring.measures()
    n_measures = len(measures) + len(scoring.beyond())
    return Asked(
        kind="scores",
        name=rollouts.name,
        inputs={
            "rollouts": rollouts.key,
            "beside": beside(cohort, settings),
            "measures": [f"{one.name} {one.group}".rstrip() for one in measures],
            "beyond": scoring.beyond(),
            "of_groups": [one.name for one in scoring.measures_of_groups()],
            "populations": scoring.chosen_populations(),
            "resamples": scoring.resamples,
            "code": scoring_code(),
        },
        ending=SUFFIX,
        units=float(cohort.n_launches(settings.launches) * n_measures),
        counted="scores",
    )


def beside(cohort: Cohort, settings: RolloutSettings) -> dict[str, str]:
    """The rollouts a sheet's numbers stand beside: the reference's, and the oracle's if there is
    one. Without torch only those that are there already."""
    settings = compared_with(settings)
    names = [REFERENCE, *([ORACLE] if has_oracle(cohort) else [])]
    asked = {name: rollouts_asked(cohort, name, settings) for name in names}
    can_make = find_spec("torch") is not None
    store = store_of(cohort)
    return {name: one.key for name, one in asked.items() if can_make or store.holds(one)}


def compared_with(settings: RolloutSettings) -> RolloutSettings:
    """How the reference and the oracle are rolled out beside these rollouts."""
    return RolloutSettings(
        launches=settings.launches,
        seed=REFERENCE_SEED,
        draws=settings.draws,
        cap=settings.cap,
        vocabulary=settings.vocabulary,
    )


@dataclass(frozen=True, slots=True)
class Rolled:
    """Rollouts by what they are asked for with."""

    producer: str
    settings: RolloutSettings


def shared_path(
    cohort: Cohort, tables: Sequence[Rolled], resamples: int, progress: Progress = silent
) -> Path:
    """The file of duration ratios of several tables, on the launches where all of them end."""

    def make(path: Path) -> None:
        rollouts = [
            found_rollouts(cohort, one.producer, one.settings, progress=progress) for one in tables
        ]
        scoring = ScoreSettings(metrics=["duration_ratio"], resamples=resamples)
        sheets = score_all(rollouts, cohort, scoring, progress)
        rows = [[asdict(row) for row in sheet.rows if row.metric == SHARED] for sheet in sheets]
        with whole_file(path, restricted=cohort.manifest.restricted) as stream:
            stream.write(json.dumps(rows, allow_nan=False).encode())

    return store_of(cohort).get(shared_asked(cohort, tables, resamples), make, progress)


def shared_asked(cohort: Cohort, tables: Sequence[Rolled], resamples: int) -> Asked:
    """Duration ratios on shared launches, by all that decides them."""
    return Asked(
        kind="scores",
        name="shared-durations",
        inputs={
            "rollouts": [rollouts_asked(cohort, one.producer, one.settings).key for one in tables],
            "beside": beside(cohort, tables[0].settings),
            "resamples": resamples,
            "code": scoring_code(),
        },
        ending=".json",
        units=float(len(tables)),
        counted="shared durations",
    )


def read_shared(path: Path) -> list[list[ScoreRow]]:
    """The rows of each table."""
    said = json.loads(path.read_bytes())
    return [
        [object_from_json(ScoreRow, row, f"'{path.name}'") for row in of_table] for of_table in said
    ]


@cache
def scoring_code() -> str:
    """SHA-256 of the text of the code that scores."""
    digest = hashlib.sha256()
    for name in SCORING_CODE:
        place = files("edsim").joinpath(name)
        texts = [place] if place.is_file() else sorted(place.iterdir(), key=lambda one: one.name)
        for text in texts:
            if text.name.endswith(".py"):
                digest.update(text.name.encode() + text.read_bytes())
    return digest.hexdigest()
