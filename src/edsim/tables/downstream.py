"""What can be told from observed delays alone: one row a task, landmark, model and calibration.

In memory `Downstream`, on disk `*.downstream.json`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from edsim.tables.json_table import read_json_table, write_json_table

SCHEMA_VERSION = 1
SUFFIX = ".downstream.json"
_AGAIN = "`edsim downstream --cohort C --json FILE` writes one."


@dataclass(frozen=True, slots=True, kw_only=True)
class DownstreamRow:
    """One classifier on the test split of a target."""

    target: str
    """`internal`, or the transported target's source."""
    task: str
    landmark: str
    """Such as `25 %` of the visit's events, `1 h` after arrival, or `every row`."""
    on_outcome: bool
    """Whether the landmark is known only once the visit is over."""
    model: str
    features: str
    """`gaps` or `elapsed alone`."""
    calibration: str
    """`as fitted`, or `recalibrated` on the target's validation split."""
    auroc: float | None = None
    auroc_low: float | None = None
    auroc_high: float | None = None
    brier: float | None = None
    brier_low: float | None = None
    brier_high: float | None = None
    slope: float | None = None
    slope_low: float | None = None
    slope_high: float | None = None
    """Calibration slope: 1 is calibrated, below 1 predictions are too extreme."""
    prevalence: float | None = None
    n_rows: int = 0
    n_stays: int = 0
    n_subjects: int = 0
    note: str = ""
    """Why numbers are null."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Downstream:
    """All rows of one fitting cohort, on its own test split and on that of a target."""

    cohort: Mapping[str, Any]
    """As in a score sheet: whose training split the classifiers were fitted on."""
    target: Mapping[str, Any] | None = None
    """The other cohort, where there is one."""
    long_minutes: float
    """The training split's 90th percentile of the length of stay."""
    resamples: int
    rows: tuple[DownstreamRow, ...]
    code_version: str = ""
    schema_version: int = SCHEMA_VERSION


def write_downstream(found: Downstream, path: Path) -> None:
    """Write the JSON file, whole or not at all; for the owner alone where the data are."""
    sides = [found.cohort, found.target or {"restricted": False}]
    restricted = any(bool(one.get("restricted", True)) for one in sides)
    write_json_table(found, path, restricted=restricted)


def read_downstream(path: Path) -> Downstream:
    """Read and check what `write_downstream` wrote."""
    return read_json_table(
        Downstream, path, what="downstream table", version=SCHEMA_VERSION, again=_AGAIN
    )
