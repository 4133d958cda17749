"""Times of MC-MED: ISO 8601 text such as 2262-01-09T03:16:07Z, taken as it stands.

The `Z` is part of the form and not a zone: each patient's clock was shifted by a random amount,
so nothing is converted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from edsim.errors import BadInputError
from edsim.sources.moments import BETWEEN, parsed

if TYPE_CHECKING:
    import polars as pl

_FORM = "%Y-%m-%dT%H:%M:%S%.fZ"


def instant(column: str) -> pl.Expr:
    """The time of a text column; null where the text is missing or is no time that can be."""
    import polars as pl

    return parsed(pl.col(column), _FORM)


def is_bad_time(column: str) -> pl.Expr:
    """Whether there is text that is no time."""
    import polars as pl

    return pl.col(column).is_not_null() & instant(column).is_null()


def refuse_bad_times(n_bad: int, n_rows: int, first_row: int, column: str, name: str) -> None:
    """Raise if any time of a column could not be read; `first_row` counts data rows from 0."""
    if n_bad:
        raise BadInputError(
            f"{n_bad} of {n_rows} rows of {name} hold text in {column} that is no time, first in "
            f"data row {first_row + 1}. MC-MED writes times as 2262-01-09T03:16:07Z, and none can "
            f"be but {BETWEEN}; was the file opened and saved by a spreadsheet?"
        )
