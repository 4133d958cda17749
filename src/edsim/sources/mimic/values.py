"""What the fields of the MIMIC files mean: activities, times, acuity, vital-sign flags.

Expressions over columns of text, the same for the six tables and for mimicel.csv. What cannot be
used becomes null; `refuse` and `unusable` say how much of it there was.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from edsim.errors import BadInputError
from edsim.sources.moments import parsed
from edsim.sources.vital_limits import Limits, is_abnormal, n_not_numbers, n_outside_valid, number

if TYPE_CHECKING:
    import polars as pl

ENTER = "Enter the ED"
VITAL = "Vital sign check"
TRIAGE = "Triage in the ED"
RECONCILIATION = "Medicine reconciliation"
DISPENSATION = "Medicine dispensations"
DISCHARGE = "Discharge from the ED"

ACTIVITIES = (ENTER, VITAL, TRIAGE, RECONCILIATION, DISPENSATION, DISCHARGE)
"""In the order in which rows of one time stand: the tie rule of the MIMIC family."""


def activity_type() -> pl.Enum:
    """The activities as an Enum, which sorts by the tie rule."""
    import polars as pl

    return pl.Enum(ACTIVITIES)


def text(column: str) -> pl.Expr:
    """A text without blanks around it; null where nothing is left."""
    import polars as pl

    return pl.col(column).str.strip_chars().replace("", None)


def label(value: pl.Expr) -> pl.Expr:
    """A text that recurs, by its number: a `detail` or a `flag`."""
    import polars as pl

    return value.cast(pl.Categorical)


def activity() -> pl.Expr:
    """The activity; null where it is none of the six."""
    import polars as pl

    return pl.col("activity").str.strip_chars().cast(activity_type(), strict=False)


def instant(column: str) -> pl.Expr:
    """A time written YYYY-MM-DD HH:MM:SS; null where it is empty, impossible or not written so."""
    import polars as pl

    return parsed(pl.col(column), "%Y-%m-%d %H:%M:%S")


def refuse_bad_times(times: pl.Series, name: str, column: str) -> None:
    """Refuse times that `instant` could not read."""
    refuse(
        times.is_null(),
        name,
        "have a time that is empty, impossible or not written YYYY-MM-DD HH:MM:SS (column "
        f"{column})",
    )


def acuity() -> pl.Expr:
    """The level 1 to 5 as a digit; null where it is not recorded or no such level."""
    import polars as pl

    levels = {float(level): f"{level}" for level in range(1, 6)}
    return number("acuity").replace_strict(levels, default=None, return_dtype=pl.String)


def vital_flag(limits: Mapping[str, Limits]) -> pl.Expr:
    """Whether a vital-sign check is normal or abnormal; for rows `with_measured`."""
    import polars as pl

    return pl.when(is_abnormal(limits)).then(pl.lit("abnormal")).otherwise(pl.lit("normal"))


def unusable_vitals(limits: Mapping[str, Limits]) -> list[pl.Expr]:
    """Two counts over rows of checks `with_measured`: no numbers, and impossible ones."""
    return [
        n_not_numbers(limits).alias("vital_text"),
        n_outside_valid(limits).alias("vital_outside"),
    ]


def unusable_acuity() -> pl.Expr:
    """How many rows have an acuity that is no level."""
    return (text("acuity").is_not_null() & acuity().is_null()).sum().alias("acuity")


def unusable_notices(counts: Iterable[pl.DataFrame], name: str) -> list[str]:
    """Sentences about the counts of `unusable_vitals` and `unusable_acuity`, summed up."""
    sums: dict[str, int] = {}
    for frame in counts:
        for key, value in frame.row(0, named=True).items():
            sums[key] = sums.get(key, 0) + int(value)
    sentences = {
        "vital_text": "vital-sign values of {} are not numbers and count as not recorded.",
        "vital_outside": "vital-sign values of {} lie outside the valid range and count as not "
        "recorded.",
        "acuity": "acuity values of {} are not levels 1 to 5 and count as not recorded.",
    }
    return [f"{n} {sentences[key].format(name)}" for key, n in sums.items() if n]


def refuse(bad: pl.Series, name: str, what: str) -> None:
    """Raise if any row is bad: how many of how many, the first, and `what` is wrong with them."""
    n_bad = int(bad.sum())
    if n_bad:
        raise BadInputError(
            f"{n_bad} of {len(bad)} rows of {name} {what}, first in data row "
            f"{int(bad.arg_true()[0]) + 1}."
        )
