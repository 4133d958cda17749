"""Which moments can be: not the year 1 or 9999 of a placeholder, not the sixtieth second."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

YEARS = (1900, 2300)
"""Data that were shifted for privacy lie between about 2110 and 2270, all others before."""
BETWEEN = f"between {YEARS[0]} and {YEARS[1]}"


def possible(moment: pl.Expr) -> pl.Expr:
    """Whether a time without a zone lies in a year that can be; null where there is none."""
    import polars as pl

    first, last = (pl.datetime(year, 1, 1) for year in YEARS)
    return moment.is_between(first, last)


def parsed(text: pl.Expr, form: str) -> pl.Expr:
    """The moment a text says; null where it is missing, not of this form or cannot be.

    polars takes a sixtieth second for the next minute.
    """
    import polars as pl

    # Nearly every time is new to the parser: its cache would cost more than it saves.
    moment = text.str.to_datetime(form, time_unit="us", strict=False, cache=False)
    return pl.when(possible(moment) & ~text.str.contains(":60", literal=True)).then(moment)
