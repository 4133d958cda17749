"""From rows in the order of a log to stays and events: one case is one stay.

Arrival is the first event of a case, and its length of stay ends with the last. Events are sorted
by time; those of one time keep the order of the log.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from edsim.errors import BadInputError
from edsim.sources.assemble import in_minutes

if TYPE_CHECKING:
    import polars as pl

OLDEST = 130
"""An age above this is not an age."""


def text(values: pl.Series) -> pl.Series:
    """Any column as text, the same for every form a log can be written in.

    Blank is null. Whole numbers that a program has turned into decimals throughout (`90.0`) are
    whole again, and truth values are small letters, since CSV, Parquet and XES differ in both.
    """
    import polars as pl

    if values.dtype.is_nested() or values.dtype in (pl.Binary, pl.Object):
        raise BadInputError(f"the column '{values.name}' holds {values.dtype}, not text.")
    plain = values.cast(pl.String).str.strip_chars()
    plain = plain.set(plain == "", None)
    present = plain.drop_nulls()
    if present.is_empty():
        return plain
    if _all_match(present, r"^-?\d+\.0$"):
        return plain.str.strip_suffix(".0")
    if _all_match(present, r"^(?i:true|false)$"):
        return plain.str.to_lowercase()
    return plain


def _all_match(values: pl.Series, pattern: str) -> bool:
    """Whether all values match; as a rule the first few tell that they do not."""
    return values.head(64).str.contains(pattern).all() and values.str.contains(pattern).all()


def as_enum(values: pl.Series) -> pl.Series:
    """Text with its distinct values, sorted, as the categories: one log, one coding."""
    import polars as pl

    return values.cast(pl.Enum(values.drop_nulls().unique().sort()))


def refuse_null(rows: pl.DataFrame, role: str, column: str) -> None:
    """Every event has a case and an activity."""
    missing = rows[role].is_null()
    if missing.any():
        raise BadInputError(
            f"{int(missing.sum())} of {rows.height} events have no {role} (column '{column}'), "
            f"first in data row {int(missing.arg_true()[0]) + 1}."
        )


def stays_of(rows: pl.DataFrame, attributes: Sequence[str]) -> pl.DataFrame:
    """One row a case, from rows sorted by time within their case.

    `rows` has stay_id, subject_id, time (UTC) and `attributes` as text. An attribute is the first
    one recorded in its case, the disposition the last one.
    """
    import polars as pl

    first = [pl.col(a).drop_nulls().first() for a in attributes if a != "disposition"]
    last = [pl.col(a).drop_nulls().last() for a in attributes if a == "disposition"]
    length = (pl.col("time").last() - pl.col("time").first()).dt.total_microseconds()
    stays = rows.group_by("stay_id", maintain_order=True).agg(
        pl.col("subject_id").drop_nulls().first(),
        pl.col("time").first().alias("arrival"),
        length.alias("length"),
        *first,
        *last,
    )
    return stays.with_columns(in_minutes(pl.col("length")).alias("los_minutes")).drop("length")


def check_subjects(rows: pl.DataFrame, column: str) -> None:
    """Every case is of exactly one patient."""
    import polars as pl

    patients = rows.group_by("stay_id").agg(pl.col("subject_id").drop_nulls().n_unique().alias("n"))
    for wrong, what in (
        (patients["n"] == 0, "no patient"),
        (patients["n"] > 1, "several patients"),
    ):
        if wrong.any():
            raise BadInputError(
                f"{int(wrong.sum())} of {patients.height} cases have {what} in the column "
                f"'{column}'. A case is one visit of one patient: is it the right column?"
            )


def with_numbers(stays: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """Acuity and age as numbers; what is no such number becomes null and is counted."""
    import polars as pl

    notices = []
    limits = {"acuity": (1, 5), "age": (0, OLDEST)}
    for name, (low, high) in limits.items():
        if name not in stays.columns:
            continue
        number = stays[name].cast(pl.Float64, strict=False).floor()
        number = number.set(~number.is_between(low, high), None)
        n_lost = number.null_count() - stays[name].null_count()
        if n_lost:
            notices.append(
                f"{name}: {n_lost} of {stays.height} stays have a value that is not a number from "
                f"{low} to {high}; it counts as not recorded."
            )
        stays = stays.with_columns(number.cast(pl.Int16).alias(name))
    return stays, notices
