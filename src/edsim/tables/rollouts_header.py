"""The header of a rollouts table as JSON, and back with every value looked at."""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from typing import Any

from edsim.errors import BadTableError
from edsim.tables.rollouts import SCHEMA_VERSION, RolloutsHeader

SEE = "See docs/rollouts-from-anywhere.md."

_KINDS: dict[str, tuple[type, ...]] = {
    "str": (str,),
    "int": (int,),
    "int | None": (int, type(None)),
    "bool": (bool,),
    "Mapping[str, Any]": (dict,),
    "tuple[str, ...]": (list,),
}


def header_to_json(header: RolloutsHeader, *, indent: int | None = None) -> str:
    """The header as text; the same header gives the same text."""
    return json.dumps(
        asdict(header), sort_keys=True, ensure_ascii=False, allow_nan=False, indent=indent
    )


def header_from_json(text: str | bytes, name: str) -> RolloutsHeader:
    """The header that `header_to_json` wrote, or another tool; `name` is the file it stands in.

    Only `schema_version` and `producer` have to be there.
    """
    try:
        said = json.loads(text)
    except (ValueError, UnicodeDecodeError):
        raise BadTableError(f"the header of {name} is not JSON. {SEE}") from None
    if not isinstance(said, dict):
        raise BadTableError(f"the header of {name} is not a JSON object. {SEE}")
    _check_version(said.get("schema_version"), name)
    kinds = {field.name: _KINDS[str(field.type)] for field in fields(RolloutsHeader)}
    unknown = len(said.keys() - kinds.keys())
    if unknown:
        raise BadTableError(
            f"the header of {name} has {unknown} fields that are not known. It may have "
            f"{', '.join(kinds)}; what else there is to say belongs into `recipe`."
        )
    if not said.get("producer"):
        raise BadTableError(f"the header of {name} does not name its `producer`. {SEE}")
    wrong = [field for field, value in said.items() if not _fits(value, kinds[field])]
    if wrong:
        raise BadTableError(
            f"the header of {name} has a value of the wrong type in {', '.join(sorted(wrong))}. "
            f"{SEE}"
        )
    if not all(isinstance(token, str) for token in said.get("tokens", [])):
        raise BadTableError(f"the `tokens` in the header of {name} are not all texts. {SEE}")
    header = RolloutsHeader(**{**said, "tokens": tuple(said.get("tokens", ()))})
    if header.cap < 1 or header.draws < 1:
        raise BadTableError(f"the header of {name} has a `cap` or `draws` below 1. {SEE}")
    return header


def _fits(value: Any, kinds: tuple[type, ...]) -> bool:
    return isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool))


def _check_version(version: Any, name: str) -> None:
    if version == SCHEMA_VERSION and not isinstance(version, bool):
        return
    if version is None:
        raise BadTableError(f"the header of {name} has no `schema_version`. {SEE}")
    if isinstance(version, int) and version > SCHEMA_VERSION:
        raise BadTableError(
            f"{name} has schema version {version}; this edsim reads version {SCHEMA_VERSION}. "
            "Update edsim-bench, or write the table again."
        )
    raise BadTableError(
        f"{name} has a schema version that this edsim does not read (it reads "
        f"{SCHEMA_VERSION}). Write the table again."
    )
