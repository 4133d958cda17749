"""Some visits to be looked at one by one: what was observed, and how a producer continued them.

In memory `ShownVisits`, on disk `*.visits.json` beside the producer's scores. Rows of single
patients: never made for restricted cohorts.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from edsim.errors import BadTableError
from edsim.tables.from_json import object_from_json
from edsim.tables.whole_file import whole_file

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
    text = json.dumps(asdict(visits), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    with whole_file(path, restricted=False) as file:
        file.write(text.encode() + b"\n")


def read_visits(path: Path) -> ShownVisits:
    """Read and check what `write_visits` wrote."""
    try:
        said = json.loads(path.read_bytes())
    except OSError as error:
        raise BadTableError(
            f"'{path.name}' cannot be read ({type(error).__name__}). {_AGAIN}"
        ) from None
    except ValueError:
        raise BadTableError(f"'{path.name}' is not JSON. {_AGAIN}") from None
    version = said.get("schema_version") if isinstance(said, dict) else None
    if version != SCHEMA_VERSION:
        raise BadTableError(
            f"'{path.name}' is no file of visits of schema version {SCHEMA_VERSION}. {_AGAIN}"
        )
    visits = object_from_json(ShownVisits, said, f"'{path.name}'")
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
