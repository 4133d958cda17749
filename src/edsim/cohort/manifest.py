"""cohort.json: where a cohort came from, what was done to it, and the hash of every file in it.

The text of the file is canonical (one way to write the same content) and holds its own hash, so
that a change of a single byte anywhere in the directory is found by `edsim cohort check`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from edsim.errors import BadCohortError
from edsim.tables.extract import RawFile, Step

MANIFEST_FILE = "cohort.json"
ARTIFACTS = "artifacts"
"""Folder of a cohort for what is made from it; no part of the cohort itself."""
SCHEMA_VERSION = 1
_HASHED_BLANK = '"manifest_sha256": ""'


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """Everything about a cohort that is not a row."""

    cohort_id: str
    content_hash: str
    source: str
    source_version: str
    source_options: Mapping[str, Any]
    raw_files: tuple[RawFile, ...]
    notices: tuple[str, ...]
    attrition: tuple[Step, ...]
    split: Mapping[str, Any]
    """The rule, its sentence, and stays, subjects and events of each part."""
    restricted: bool
    open_data: str | None
    """The licence that lifted the restriction, in the user's words."""
    cap: int
    cap_rule: str
    triage_activity: str | None
    time_of_day: bool
    discharges: tuple[str, ...]
    """Activities that the builder named as discharges."""
    complaint_groups: tuple[str, ...]
    vocabularies: Mapping[str, Mapping[str, Any]]
    launches: Mapping[str, Mapping[str, Any]]
    """Launch sets by name: number of launches, or why there are none."""
    n_stays: int
    n_subjects: int
    n_events: int
    code_version: str
    schema_version: int = SCHEMA_VERSION
    files: Mapping[str, str] = field(default_factory=dict)
    """SHA-256 of every other file of the directory, by relative path."""
    manifest_sha256: str = ""


def write_manifest(manifest: Manifest, directory: Path) -> None:
    """Write cohort.json with its own hash."""
    blank = _render({**asdict(manifest), "manifest_sha256": ""})
    own = hashlib.sha256(blank.encode()).hexdigest()
    (directory / MANIFEST_FILE).write_text(
        blank.replace(_HASHED_BLANK, f'"manifest_sha256": "{own}"'), encoding="utf-8"
    )


def read_manifest(directory: Path) -> Manifest:
    """Read cohort.json, refuse what is not one, and what was changed since it was written."""
    path = directory / MANIFEST_FILE
    try:
        raw = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        raise BadCohortError(
            f"'{directory}' is not a cohort: it holds no {MANIFEST_FILE}. "
            "Make one with `edsim cohort build SOURCE --out DIR`."
        ) from None
    except OSError as error:
        raise BadCohortError(
            f"'{path}' cannot be read: {error.strerror or type(error).__name__}."
        ) from None
    damaged = BadCohortError(
        f"{MANIFEST_FILE} of '{directory}' was changed after it was written. "
        "Build the cohort again."
    )
    try:
        text = raw.decode()
        content = json.loads(text)
        own = content["manifest_sha256"]
        version = content["schema_version"]
    except (ValueError, KeyError, TypeError):
        raise damaged from None
    if version != SCHEMA_VERSION:
        raise BadCohortError(
            f"'{directory}' was written with schema {version} of {MANIFEST_FILE}; this version of "
            f"edsim reads schema {SCHEMA_VERSION}. Build the cohort again."
        )
    blank = _render({**content, "manifest_sha256": ""})
    if (
        hashlib.sha256(blank.encode()).hexdigest() != own
        or text != blank.replace(_HASHED_BLANK, f'"manifest_sha256": "{own}"')
        or set(content) != {f.name for f in fields(Manifest)}
    ):
        raise damaged
    content["raw_files"] = tuple(RawFile(**row) for row in content["raw_files"])
    content["attrition"] = tuple(Step(**row) for row in content["attrition"])
    for name in ("notices", "complaint_groups", "discharges"):
        content[name] = tuple(content[name])
    return Manifest(**content)


def hash_files(directory: Path) -> dict[str, str]:
    """SHA-256 of every file below the directory but cohort.json, by relative path."""
    paths = sorted(p for p in directory.rglob("*") if p.is_file() and p.name != MANIFEST_FILE)
    return {path.relative_to(directory).as_posix(): hash_file(path) for path in paths}


def hash_file(path: Path) -> str:
    """SHA-256 of one file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _render(content: Mapping[str, Any]) -> str:
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
