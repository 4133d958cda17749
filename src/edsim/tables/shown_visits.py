"""Some visits to be looked at one by one: what was observed, and how a producer continued them.

In memory `ShownVisits`, on disk `*.visits.json` beside the producer's scores. Rows of single
patients: never made for restricted cohorts.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from edsim.errors import BadTableError
from edsim.tables.json_table import read_json_table, write_json_table

SCHEMA_VERSION = 1
SUFFIX = ".visits.json"
MOST_LAUNCHES = 300
"""Launches that one file, and one page, may hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownDraw:
    """One generated continuation."""

    tokens: tuple[int, ...]
    minutes: tuple[float, ...]
    """Gap before each event."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownLaunch:
    """A launch point and what was generated from it."""

    prefix_length: int
    draws: tuple[ShownDraw, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownVisit:
    """A whole observed visit, END included, and its launch points."""

    stay_id: str
    tokens: tuple[int, ...]
    minutes: tuple[float, ...]
    launches: tuple[ShownLaunch, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownVisits:
    """Visits continued by one producer."""

    producer: str
    rule: str
    clock: str
    content_hash: str
    """Of the cohort."""
    vocabulary_sha256: str
    tokens: tuple[str, ...]
    cap: int
    visits: tuple[ShownVisit, ...]
    schema_version: int = SCHEMA_VERSION

    @property
    def n_launches(self) -> int:
        return sum(len(visit.launches) for visit in self.visits)


def write_visits(visits: ShownVisits, path: Path) -> None:
    """Write the JSON file, whole or not at all."""
    write_json_table(visits, path, restricted=False, indent=None)


def read_visits(path: Path) -> ShownVisits:
    """Read and check what `write_visits` wrote."""
    visits = read_json_table(
        ShownVisits, path, what="file of visits", version=SCHEMA_VERSION, again=_AGAIN
    )
    _check(visits, path.name)
    return visits


_AGAIN = "Write it again with `edsim score --out`."


def _check(visits: ShownVisits, name: str) -> None:
    """Lengths that belong together, and tokens that have a name."""
    n_tokens = len(visits.tokens)
    for visit in visits.visits:
        runs: list[ShownVisit | ShownDraw] = [visit]
        runs += [draw for launch in visit.launches for draw in launch.draws]
        lengths = all(len(run.tokens) == len(run.minutes) for run in runs)
        named = all(0 <= token < n_tokens for run in runs for token in run.tokens)
        inside = all(0 < launch.prefix_length < len(visit.tokens) for launch in visit.launches)
        if not (lengths and named and inside):
            raise BadTableError(
                f"'{name}' has a visit whose events, minutes and launches do not fit. {_AGAIN}"
            )
