"""Dataclasses from JSON that somebody else may have written: every value is looked at."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from edsim.errors import BadTableError

T = TypeVar("T")


def object_from_json(kind: type[T], said: Any, name: str) -> T:
    """The dataclass `kind` that a JSON object says; `name` is the file or part it stands in.

    Fields with a default may be missing. Fields may be texts, numbers, truths, None, mappings,
    tuples of them, and further dataclasses.
    """
    if not isinstance(said, dict):
        raise BadTableError(f"{name} is not a JSON object where one was expected.")
    hints = _hints(kind)  # type: ignore[arg-type]
    unknown = said.keys() - hints.keys()
    if unknown:
        raise BadTableError(
            f"{name} has {len(unknown)} fields that are not known. It may have {', '.join(hints)}."
        )
    needed = [one.name for one in fields(kind) if _has_no_default(one) and one.name not in said]  # type: ignore[arg-type]
    if needed:
        raise BadTableError(f"{name} lacks {', '.join(needed)}.")
    return kind(
        **{field: _value(hints[field], value, field, name) for field, value in said.items()}
    )


@cache
def _hints(kind: Hashable) -> dict[str, Any]:
    return get_type_hints(kind)


def _has_no_default(field: Field[Any]) -> bool:
    return field.default is MISSING and field.default_factory is MISSING


def _value(kind: Any, value: Any, field: str, name: str) -> Any:
    if isinstance(kind, UnionType):
        allowed = get_args(kind)
        if value is None and NoneType in allowed:
            return None
        return _value(next(one for one in allowed if one is not NoneType), value, field, name)
    origin = get_origin(kind)
    if origin is tuple:
        return _tuple(get_args(kind)[0], value, field, name)
    if is_dataclass(kind) and isinstance(kind, type):
        return object_from_json(kind, value, f"`{field}` of {name}")
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if kind is Any or (origin in (dict, Mapping) and isinstance(value, dict)):
        return value
    plain = isinstance(kind, type) and origin is None and isinstance(value, kind)
    if not plain or (isinstance(value, bool) and kind is not bool) or not _is_finite(value):
        raise BadTableError(f"{name} has a value of the wrong type in {field}.")
    return value


def _tuple(kind: Any, values: Any, field: str, name: str) -> tuple[Any, ...]:
    if not isinstance(values, list):
        raise BadTableError(f"`{field}` in {name} is not a list.")
    if {type(one) for one in values} == {kind} and all(map(_is_finite, values)):
        return tuple(values)  # long runs of plain values
    if is_dataclass(kind) and isinstance(kind, type):
        return tuple(
            object_from_json(kind, one, f"{name}, {field} {i}") for i, one in enumerate(values)
        )
    return tuple(_value(kind, one, field, name) for one in values)


def _is_finite(value: Any) -> bool:
    """JSON knows no other numbers, but Python reads them."""
    return not isinstance(value, float) or math.isfinite(value)
