"""Opening a log whatever its form: what columns it has, and the rows of those that are wanted.

Delimited text is looked at by `sources.files`; Parquet and XES have their own ways of being
broken. Rows keep the order of the file.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from edsim.errors import BadInputError
from edsim.progress import Progress
from edsim.sources.files import look_at, open_table
from edsim.sources.plain_bytes import opened
from edsim.tables.extract import RawFile

if TYPE_CHECKING:
    import polars as pl

SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t", "bar": "|"}


@dataclass(frozen=True, slots=True)
class OpenLog:
    """A log that was looked at: its columns, and `rows(columns)` to read some of them."""

    raw: RawFile
    columns: tuple[str, ...]
    rows: Callable[[Sequence[str]], pl.DataFrame]
    notices: tuple[str, ...] = ()


def open_log(path: Path, separator: str | None, progress: Progress) -> OpenLog:
    """The log at `path`, by what the file is and not only by how it is called."""
    name, head = path.name.lower(), _head(path)
    if head.startswith(b"PAR1") or name.endswith((".parquet", ".pq")):
        return _open_parquet(path, progress)
    if head.startswith(b"PK\x03\x04"):
        raise BadInputError(
            f"{path.name} is an Excel workbook or a zip archive. Save the sheet as CSV, or unpack "
            "the archive."
        )
    if head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"{", b"["):
        raise BadInputError(
            f"{path.name} is JSON. Export the log as CSV, Parquet or XES; of an OCEL log, flatten "
            "it to one type of object first."
        )
    is_markup = head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"<")
    if is_markup or name.endswith((".xes", ".xes.gz")):
        from edsim.sources.eventlog.xes import open_xes

        return open_xes(path, progress)
    return _open_text(path, separator, progress)


def _open_text(path: Path, separator: str | None, progress: Progress) -> OpenLog:
    if separator is not None and separator not in {*SEPARATORS, *SEPARATORS.values()}:
        raise BadInputError(
            f"--separator is one of {', '.join(SEPARATORS)}, or the character itself."
        )
    table = open_table(
        path,
        role="event log",
        required=(),
        progress=progress,
        separator=None if separator is None else SEPARATORS.get(separator, separator),
    )
    return OpenLog(
        table.raw,
        table.columns,
        lambda wanted: table.collect(table.scan(wanted)),
        table.notices,
    )


def _open_parquet(path: Path, progress: Progress) -> OpenLog:
    import polars as pl

    raw = look_at(path, role="event log", progress=progress)
    try:
        lazy = pl.scan_parquet(path, glob=False)
        schema = lazy.collect_schema()
    except (pl.exceptions.PolarsError, OSError) as error:
        raise _not_parquet(path, error) from None

    def rows(wanted: Sequence[str]) -> pl.DataFrame:
        nested = [column for column in wanted if schema[column].is_nested()]
        if nested:
            raise BadInputError(
                f"the column '{nested[0]}' of {path.name} holds lists or structures. Take one "
                "value of each row into a column of its own."
            )
        try:
            return lazy.select(wanted).collect()
        except (pl.exceptions.PolarsError, OSError) as error:
            raise _not_parquet(path, error) from None

    return OpenLog(raw, tuple(schema.names()), rows)


def _not_parquet(path: Path, error: Exception) -> BadInputError:
    return BadInputError(
        f"{path.name} cannot be read as Parquet ({type(error).__name__}): it is damaged, cut short "
        "or something else. Export it again."
    )


def _head(path: Path) -> bytes:
    """The first bytes of a file, unzipped where it is gzip; empty where it cannot be read."""
    try:
        with opened(path) as stream:
            head = stream.read(4096)
            if head[:2] != b"\x1f\x8b":
                return head
            stream.seek(0)
            return gzip.GzipFile(fileobj=stream).read(64)
    except (OSError, EOFError, zlib.error):
        return b""  # whoever opens the file in earnest has the better message
