"""Raw text files, opened with suspicion: every way a file can be broken has one clear message.

All of a file is looked at (`plain_bytes`: SHA-256, UTF-8, gzip to its end; `records`: rows and
fields) before or while it is parsed, so that a parser never meets what it cannot report well.
Columns stay text; empty means missing, and nothing else does.
"""

from __future__ import annotations

import gzip
import hashlib
import io
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TypeVar, cast

from edsim.errors import BadInputError
from edsim.progress import Progress, silent
from edsim.sources.plain_bytes import CHUNK, GZIP, PlainBytes, opened
from edsim.sources.records import DELIMITERS, Piece, Records
from edsim.tables.extract import RawFile

if TYPE_CHECKING:
    import polars as pl

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class TextTable:
    """A comma-separated text file that was looked at from end to end."""

    path: Path
    raw: RawFile
    columns: tuple[str, ...]
    n_rows: int
    separator: str = ","
    n_blank: int = 0
    """Blank lines at the end, which a parser would take for rows."""
    notices: tuple[str, ...] = ()

    def scan(self, columns: Sequence[str] | None = None) -> pl.LazyFrame:
        """The file as a lazy frame of text columns, only `columns` where they are given."""
        import polars as pl

        # A name that comes twice (never one that is required) still takes its place in the row.
        names = [c if c not in self.columns[:i] else f"{c}#{i}" for i, c in enumerate(self.columns)]
        frame = pl.scan_csv(
            self.path,
            has_header=False,
            skip_lines=1,
            schema=dict.fromkeys(names, pl.String),
            separator=self.separator,
            glob=False,
        )
        if self.n_blank:
            frame = frame.head(self.n_rows)
        return frame if columns is None else frame.select(columns)

    def collect(self, lazy: pl.LazyFrame) -> pl.DataFrame:
        """Run a query over `scan`, with a parser's complaint turned into a message."""
        import polars as pl

        try:
            return lazy.collect(engine="streaming")
        except pl.exceptions.PolarsError as error:
            raise _unparsable(self.raw.name, self.separator, error) from None


def find(directory: Path, name: str) -> Path | None:
    """`NAME.csv` or `NAME.csv.gz` of a directory; both at once are refused."""
    found = [p for p in (directory / f"{name}.csv", directory / f"{name}.csv.gz") if p.exists()]
    if len(found) == 2:
        raise BadInputError(
            f"both {name}.csv and {name}.csv.gz are in the folder. Remove one: they may differ."
        )
    return found[0] if found else None


def need(directory: Path, name: str) -> Path:
    """Like `find`, and missing is an error."""
    if not directory.is_dir():
        raise BadInputError(f"there is no folder at '{directory}'.")
    path = find(directory, name)
    if path is None:
        raise BadInputError(f"neither {name}.csv nor {name}.csv.gz is in the folder '{directory}'.")
    return path


def open_table(
    path: Path,
    *,
    role: str,
    required: Sequence[str],
    progress: Progress = silent,
    allow_empty: bool = False,
    separator: str | None = ",",
) -> TextTable:
    """Look at a delimited file from end to end; it is parsed later, by `scan`.

    `separator` None takes the delimiter that cuts the header into the most columns.
    """
    text, records = _begin(path, required, separator)
    progress.stage(f"looking at {path.name}", path.stat().st_size, "bytes")
    n_read = 0
    for _ in records:
        progress.advance(text.n_bytes - n_read)
        n_read = text.n_bytes
    return _end(text, records, role=role, allow_empty=allow_empty)


def parse_table(
    path: Path,
    *,
    role: str,
    required: Sequence[str],
    convert: Callable[[pl.DataFrame], T],
    progress: Progress = silent,
    allow_empty: bool = False,
) -> tuple[TextTable, list[T]]:
    """Look at a comma-separated file and parse it in the same reading, in little memory.

    `convert` makes of each piece (the `required` columns as text, rows in the order of the file)
    what is to be kept. The next piece is read and checked in a second thread meanwhile.
    """
    text, records = _begin(path, required, ",")
    progress.stage(f"reading {path.name}", path.stat().st_size, "bytes")
    parts: list[T] = []
    n_read = 0
    with ThreadPoolExecutor(1) as ahead:
        for piece in _one_ahead(iter(records), ahead):
            parts.append(convert(_parsed(piece, records, required)))
            progress.advance(text.n_bytes - n_read)
            n_read = text.n_bytes
    return _end(text, records, role=role, allow_empty=allow_empty), parts


def look_at(path: Path, *, role: str, progress: Progress = silent) -> RawFile:
    """Size and SHA-256 of a file that is not text."""
    digest = hashlib.sha256()
    with opened(path) as stream:
        n_bytes = path.stat().st_size
        progress.stage(f"looking at {path.name}", n_bytes, "bytes")
        while chunk := stream.read(CHUNK):
            digest.update(chunk)
            progress.advance(len(chunk))
    return RawFile(role=role, name=path.name, n_bytes=n_bytes, sha256=digest.hexdigest())


def _begin(
    path: Path, required: Sequence[str], separator: str | None
) -> tuple[PlainBytes, Records]:
    """The file's rows, not yet read, once its header is found to hold what is needed."""
    text = PlainBytes(path)
    records = Records(text, name=path.name, separator=separator)
    columns = records.columns
    missing = [column for column in required if column not in columns]
    if missing:
        wanted = f"{DELIMITERS[records.separator]}s"
        other = [d for d in DELIMITERS if len(columns) == 1 and d in columns[0]]
        if other:
            raise BadInputError(
                f"{path.name} is separated by {DELIMITERS[other[0]]}s; expected {wanted}. "
                f"Export it again with {wanted}."
            )
        raise BadInputError(
            f"{path.name} has no column {', '.join(missing)}. It needs {', '.join(required)}."
        )
    repeated = sorted({column for column in required if columns.count(column) > 1})
    if repeated:
        raise BadInputError(f"{path.name} has the column {', '.join(repeated)} more than once.")
    return text, records


def _end(text: PlainBytes, records: Records, *, role: str, allow_empty: bool) -> TextTable:
    name = text.path.name
    if not records.n_rows and not allow_empty:
        raise BadInputError(f"{name} has a header and no rows.")
    mark = f"{name} begins with a byte-order mark, which was left out."
    return TextTable(
        path=text.path,
        raw=RawFile(role=role, name=name, n_bytes=text.n_bytes, sha256=text.sha256),
        columns=records.columns,
        n_rows=records.n_rows,
        separator=records.separator,
        n_blank=records.n_blank,
        notices=(mark,) if text.had_mark else (),
    )


def _one_ahead(pieces: Iterator[Piece], ahead: ThreadPoolExecutor) -> Iterator[Piece]:
    """The same pieces, each fetched by the thread of `ahead` while the last is worked on."""
    coming = ahead.submit(next, pieces, None)
    while (piece := coming.result()) is not None:
        coming = ahead.submit(next, pieces, None)
        yield piece


def _parsed(piece: Piece, records: Records, columns: Sequence[str]) -> pl.DataFrame:
    """One piece as a frame of text columns."""
    import polars as pl

    names = [f"{place}" for place in range(len(records.columns))]
    lazy = pl.scan_csv(
        io.BytesIO(piece.text),
        has_header=False,
        schema=dict.fromkeys(names, pl.String),
        separator=records.separator,
    )
    try:
        frame = lazy.select(
            pl.col(names[records.columns.index(column)]).alias(column) for column in columns
        ).collect()
    except pl.exceptions.PolarsError as error:
        raise _unparsable(records.name, records.separator, error) from None
    if frame.height != piece.n_rows:
        raise _unparsable(records.name, records.separator)
    return frame


def _unparsable(name: str, separator: str, error: Exception | None = None) -> BadInputError:
    """A message in place of the parser's own, which quotes the rows it could not read."""
    kind = f" ({type(error).__name__})" if error else ""
    return BadInputError(
        f"{name} cannot be parsed as {DELIMITERS[separator]}-separated text{kind}, although every "
        "row has its fields. Compare the file with its published checksum."
    )


@contextmanager
def open_binary(path: Path) -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """A file as it lies on the disk and as its content is (unzipped), for formats without rows."""
    with opened(path) as raw:
        zipped = raw.read(2) == GZIP
        raw.seek(0)
        yield raw, cast("BinaryIO", gzip.GzipFile(fileobj=raw)) if zipped else raw
