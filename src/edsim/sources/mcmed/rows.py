"""Rows of a file: trimmed, checked while they are read, with the number of their visit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from edsim.errors import BadInputError
from edsim.progress import Progress
from edsim.sources.files import need, parse_table
from edsim.sources.mcmed.clock import instant, is_bad_time, refuse_bad_times
from edsim.tables.extract import RawFile

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """The folder of the tables, and what was read and found odd on the way."""

    path: Path
    progress: Progress
    raw_files: list[RawFile] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)

    def rows(
        self,
        name: str,
        columns: Sequence[str],
        convert: Callable[[pl.DataFrame], pl.DataFrame],
        *,
        allow_empty: bool = True,
    ) -> tuple[pl.DataFrame, str]:
        """What `convert` keeps of a table, and the name of its file.

        `convert` sees the file in pieces: the columns without blanks around their text, null where
        nothing is left, and `row`, which counts through the file.
        """
        import polars as pl

        n_seen = 0

        def piece(texts: pl.DataFrame) -> pl.DataFrame:
            nonlocal n_seen
            trimmed = texts.with_columns(pl.all().str.strip_chars().replace("", None))
            kept = convert(trimmed.with_row_index("row", offset=n_seen))
            n_seen += texts.height
            return kept

        table, parts = parse_table(
            need(self.path, name),
            role=name,
            required=columns,
            convert=piece,
            progress=self.progress,
            allow_empty=allow_empty,
        )
        self.raw_files.append(table.raw)
        self.notices.extend(table.notices)
        if not table.n_rows:
            self.notices.append(
                f"{table.raw.name} has a header and no rows: no event of it is in the cohort. Was "
                "its download broken off?"
            )
        nothing = piece(pl.DataFrame(schema=dict.fromkeys(columns, pl.String)))
        return pl.concat([nothing, *parts]), table.raw.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Events:
    """The event files of a folder, beside the visits they belong to."""

    folder: Folder
    visits: pl.DataFrame
    drop_unknown: bool

    def rows(
        self, name: str, *, columns: Sequence[str], clocks: Sequence[str], keep: Sequence[pl.Expr]
    ) -> pl.DataFrame:
        """`visit`, `row`, the times of `clocks` and the expressions of `keep`, in file order."""
        import polars as pl

        bad = [is_bad_time(clock).alias(f"bad {clock}") for clock in clocks]
        times = [instant(clock) for clock in clocks]
        rows, file = self.folder.rows(
            name, columns, lambda piece: piece.select("row", "CSN", *bad, *times, *keep)
        )
        for clock in clocks:
            is_bad = rows[f"bad {clock}"]
            refuse_bad_times(int(is_bad.sum()), rows.height, is_bad.arg_max() or 0, clock, file)
            self._report_missing(rows[clock], clock, file)
        return self.number(rows.drop(pl.selectors.starts_with("bad ")), file, pl.len())

    def number(self, rows: pl.DataFrame, file: str, n_rows: pl.Expr) -> pl.DataFrame:
        """`rows` with the number of their visit in place of its CSN, in the order of the file.

        Rows of a visit that visits.csv does not hold are refused or, if so wished, left out.
        `n_rows` says how many rows of the file one row stands for.
        """
        import polars as pl

        index = self.visits.select("visit", CSN="stay_id")
        rows = rows.join(index, on="CSN", how="left").drop("CSN").sort("row")
        unknown = rows.filter(pl.col("visit").is_null())
        if unknown.is_empty():
            return rows
        n_unknown, n_all = unknown.select(n_rows).item(), rows.select(n_rows).item()
        counted = f"{n_unknown} of {n_all} rows of {file} belong to a visit that visits.csv does"
        if not self.drop_unknown:
            raise BadInputError(
                f"{counted} not hold, first in data row {unknown['row'][0] + 1}. Do all files come "
                "from the same release? --drop-unknown leaves such rows out."
            )
        self.folder.notices.append(f"{counted} not hold: left out.")
        return rows.filter(pl.col("visit").is_not_null())

    def _report_missing(self, times: pl.Series, clock: str, file: str) -> None:
        """Only a medicine that was given has a First_admin_time: its absence is no oddity."""
        if times.null_count() and clock != "First_admin_time":
            self.folder.notices.append(
                f"{times.null_count()} of {len(times)} rows of {file} have no {clock} and make no "
                "event of it."
            )
