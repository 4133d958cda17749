"""Which vital signs are normal, and which values can be vital signs at all.

The numbers are in `vital_limits.toml`, or in a file of the user's in the same form. Text that is no
number and values outside the valid range count as not recorded: an SpO2 of 980 says nothing about
the patient, and taking it as abnormal would file typing errors among the findings.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from edsim.errors import BadInputError

if TYPE_CHECKING:
    import polars as pl

DEFAULT_LIMITS = Path(__file__).parent / "vital_limits.toml"
VITAL_SIGNS = ("temperature", "heartrate", "resprate", "o2sat", "sbp", "dbp")

CELSIUS = (25.0, 45.0)
"""A temperature in this range is in Celsius, any other in Fahrenheit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Of one vital sign; both ends of a range belong to it."""

    normal: tuple[float, float]
    valid: tuple[float, float]


def read_limits(path: Path | None = None) -> dict[str, Limits]:
    """The limits by vital sign, from the user's file or the package's."""
    path = path or DEFAULT_LIMITS
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadInputError(f"'{path}' cannot be read: {error.strerror}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        raise BadInputError(
            f"{path.name} is not a TOML file. Start from a copy of the package's vital_limits.toml."
        ) from None
    unknown = sorted(set(table) - set(VITAL_SIGNS))
    if unknown or not table:
        raise BadInputError(
            f"{path.name} has {'the section ' + ', '.join(unknown) if unknown else 'no section'}; "
            f"its sections are one or more of {', '.join(VITAL_SIGNS)}."
        )
    return {
        name: Limits(
            normal=_span(section, "normal", f"{path.name}, section {name}"),
            valid=_span(section, "valid", f"{path.name}, section {name}"),
        )
        for name, section in table.items()
    }


def _span(section: Any, key: str, where: str) -> tuple[float, float]:
    span: Any = section.get(key) if isinstance(section, Mapping) else None
    numbers = [end for end in span if type(end) in (int, float)] if isinstance(span, list) else []
    if len(numbers) != 2 or len(span) != 2 or numbers[0] > numbers[1]:
        raise BadInputError(f"{where}: '{key}' is a pair of numbers, the lower one first.")
    return float(numbers[0]), float(numbers[1])


def number(column: str) -> pl.Expr:
    """A text column as numbers; null where there is none."""
    return _as_written(column).fill_nan(None)


def _as_written(column: str) -> pl.Expr:
    """As numbers, with nan and inf where they are written; those are in no valid range."""
    import polars as pl

    return pl.col(column).str.strip_chars().cast(pl.Float64, strict=False)


def with_measured(rows: pl.DataFrame, limits: Mapping[str, Limits]) -> pl.DataFrame:
    """The rows and, for each vital sign, a column of numbers in the unit of its limits."""
    import polars as pl

    rows = rows.with_columns(_as_written(name).alias(_measured(name)) for name in limits)
    if "temperature" not in limits:
        return rows
    recorded = pl.col(_measured("temperature"))
    # Rounded, or 100.4 F would be a hair above 38 C.
    converted = ((recorded - 32) / 1.8).round(3)
    return rows.with_columns(
        pl.when(recorded.is_between(*CELSIUS)).then(recorded).otherwise(converted)
    )


def is_abnormal(limits: Mapping[str, Limits]) -> pl.Expr:
    """Whether any usable vital sign of a row lies outside its normal range; never null."""
    import polars as pl

    return pl.any_horizontal(
        pl.col(_measured(name)).is_between(*limit.valid)
        & ~pl.col(_measured(name)).is_between(*limit.normal)
        for name, limit in limits.items()
    ).fill_null(False)


def n_not_numbers(limits: Mapping[str, Limits]) -> pl.Expr:
    """How many recorded values are no numbers."""
    import polars as pl

    return pl.sum_horizontal(
        ((pl.col(name).str.strip_chars() != "") & pl.col(_measured(name)).is_null()).sum()
        for name in limits
    )


def n_outside_valid(limits: Mapping[str, Limits]) -> pl.Expr:
    """How many recorded numbers cannot be such a vital sign."""
    import polars as pl

    return pl.sum_horizontal(
        (~pl.col(_measured(name)).is_between(*limit.valid)).sum() for name, limit in limits.items()
    )


def _measured(name: str) -> str:
    return f"{name} measured"
