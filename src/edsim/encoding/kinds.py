"""The distinct kinds of event of a cohort: rows are many, kinds are few.

A kind is a distinct (activity, detail, flag). Rules are matched against kinds; a row only carries
the number of its kind. So no text is looked at once per row, whatever the size of the cohort.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from edsim.encoding.vocabulary.rules import FIELDS

if TYPE_CHECKING:
    import polars as pl

_SMALL = 1 << 27
"""Up to so many possible pairs of codes, a table of all of them is faster than sorting."""


@dataclass(frozen=True, slots=True)
class Kinds:
    """`table`: activity, detail, flag as text, n rows each; `of_row`: each event's place in it."""

    table: pl.DataFrame
    of_row: NDArray[np.int32]

    def counted(self, rows: NDArray[np.bool_]) -> pl.DataFrame:
        """The kinds that are among `rows` (the training split, say), with their numbers there."""
        import polars as pl

        n = np.bincount(self.of_row[rows], minlength=len(self.table))
        return self.table.with_columns(n=pl.Series(n)).filter(pl.col("n") > 0)


def find_kinds(events: pl.DataFrame) -> Kinds:
    """The kinds of an events frame, in order of their first row."""
    import polars as pl

    codes = np.zeros(len(events), dtype=np.int32)
    n_codes = 1
    for name in FIELDS:
        column, size = _codes(events[name])
        codes, n_codes = _pairs(codes, n_codes, column, size)
    first = np.full(n_codes, len(events), dtype=np.int64)
    first[codes[::-1]] = np.arange(len(events) - 1, -1, -1)
    order = np.argsort(first)
    number = np.empty(n_codes, dtype=np.int32)
    number[order] = np.arange(n_codes, dtype=np.int32)
    of_row = number[codes]
    table = events.select(pl.col(name).gather(first[order]).cast(pl.String) for name in FIELDS)
    n = np.bincount(of_row, minlength=n_codes)
    return Kinds(table.with_columns(n=pl.Series(n, dtype=pl.Int64)), of_row)


def _codes(column: pl.Series) -> tuple[NDArray[np.int64], int]:
    """A number for each text of a column, 0 for a missing one; and how many there can be."""
    import polars as pl

    if column.dtype == pl.String:
        column = column.cast(pl.Enum(column.drop_nulls().unique()))
    codes = column.to_physical().cast(pl.Int64) + 1
    found = codes.fill_null(0).to_numpy()
    return found, int(found.max(initial=0)) + 1


def _pairs(
    left: NDArray[np.int32], n_left: int, right: NDArray[np.int64], n_right: int
) -> tuple[NDArray[np.int32], int]:
    """Pairs of codes as new codes without holes, and how many there are."""
    pairs = left * np.int64(n_right) + right
    possible = n_left * n_right
    if possible > max(_SMALL, 4 * len(pairs)):
        distinct, codes = np.unique(pairs, return_inverse=True)
        return codes.astype(np.int32), len(distinct)
    present = np.zeros(possible, dtype=np.bool_)
    present[pairs] = True
    number = np.cumsum(present, dtype=np.int32) - 1
    return number[pairs], int(present.sum())
