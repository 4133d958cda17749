"""A table that is one JSON file: written whole, and every value looked at when it is read."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

from edsim.errors import BadTableError
from edsim.tables.from_json import object_from_json
from edsim.tables.whole_file import whole_file

T = TypeVar("T")


def write_json_table(table: Any, path: Path, *, restricted: bool, indent: int | None = 1) -> None:
    """Write a dataclass, whole or not at all; for the owner alone where the data are restricted."""
    separators = (",", ":") if indent is None else None
    text = json.dumps(
        asdict(table), ensure_ascii=False, allow_nan=False, indent=indent, separators=separators
    )
    with whole_file(path, restricted=restricted) as file:
        file.write(text.encode() + b"\n")


def read_json_table(kind: type[T], path: Path, *, what: str, version: int, again: str) -> T:
    """The dataclass that a file holds; `what` names it in messages, `again` is how to make one."""
    try:
        content = path.read_bytes()
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        raise BadTableError(f"'{path}' cannot be read: {reason}. {again}") from None
    return json_table(kind, content, f"'{path.name}'", what=what, version=version, again=again)


def json_table(
    kind: type[T], content: bytes, name: str, *, what: str, version: int, again: str
) -> T:
    """The dataclass of a file's content; `name` is what messages call the file."""
    try:
        said = json.loads(content)
    except (ValueError, RecursionError):
        raise BadTableError(f"{name} is not JSON. {again}") from None
    found = said.pop("schema_version", None) if isinstance(said, dict) else None
    if found != version or isinstance(found, bool):
        raise BadTableError(
            f"{name} is no {what} of schema version {version}, which this edsim reads. {again}"
        )
    try:
        return object_from_json(kind, said, name)
    except BadTableError as error:
        raise BadTableError(f"{error} {again}") from None
