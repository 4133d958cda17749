"""A census: how many patients were there at every hour, in truth and in the draws of simulators.

In memory and as `*.census.json`. Of the test stays that arrive in a period only: arrivals are given
and not forecast.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from edsim.tables.json_table import read_json_table, write_json_table

SCHEMA_VERSION = 1
SUFFIX = ".census.json"
_AGAIN = "`edsim census PRODUCER --cohort C --json FILE` writes one."


@dataclass(frozen=True, slots=True, kw_only=True)
class CensusHour:
    """One hour of one producer: what was there, and what its draws say."""

    time: str
    """ISO, the moment that is counted at."""
    observed: int | None
    """Patients there; null where so few that restricted data may not tell."""
    mean: float
    low: float
    median: float
    high: float
    """Mean, and the 5th, 50th and 95th percentile, of the draws."""
    p_exceed: float | None = None
    """Share of draws with more patients than beds; null where no beds were named."""
    crps: float | None = None
    """In patients, the fair form; 0 is best. Null where the observed is: it would give it away."""
    warm_up: bool = False
    """Whether the department is still filling, so that the hour counts in no summary."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CensusOf:
    """What one producer makes of the period; summaries leave the warm-up out."""

    producer: str
    producer_version: str = ""
    rule: str = "vanilla"
    clock: str = "own"
    privileged: bool = False
    crps: float | None
    crps_low: float | None = None
    crps_high: float | None = None
    """Mean over hours, and its 95 % interval over resampled days."""
    bias: float | None
    """Mean of the draws less the observed, patients."""
    within: float | None
    """Share of hours whose observed census lies from the 5th to the 95th percentile."""
    exceed_brier: float | None = None
    """Squared error of p_exceed, freed of what few draws add."""
    capped: float = 0.0
    """Share of draws that the cap stopped, which stay to the end of the period."""
    hours: tuple[CensusHour, ...] = ()
    """None where the stays are so few that restricted data may not tell of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Census:
    """The period, the stays, and what each producer makes of them."""

    cohort: Mapping[str, Any]
    """As in a score sheet."""
    vocabulary: str
    begin: str
    end: str
    """ISO; hours are counted from the one up to the other."""
    warm_up_hours: int
    draws: int
    cap: int
    seed: int
    beds: int | None
    n_stays: int | None
    """Test stays that arrived; null where so few that restricted data may not tell."""
    mean_observed: float | None
    exceeded: float | None
    """Share of hours, after the warm-up, with more patients than beds in truth."""
    producers: tuple[CensusOf, ...]
    code_version: str = ""
    schema_version: int = SCHEMA_VERSION


def write_census(census: Census, path: Path) -> None:
    """Write the JSON file, whole or not at all; for the owner alone where the data are."""
    write_json_table(census, path, restricted=bool(census.cohort.get("restricted", True)))


def read_census(path: Path) -> Census:
    """Read and check what `write_census` wrote."""
    return read_json_table(Census, path, what="census", version=SCHEMA_VERSION, again=_AGAIN)
