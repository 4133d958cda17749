"""Text tables written a piece at a time, for every layout of the synthetic visits."""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from edsim.errors import OutputError

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, slots=True)
class RawFiles:
    """Open files by name, their headers written; frames are appended to them."""

    columns: Mapping[str, Sequence[str]]
    time_format: str
    streams: Mapping[str, BinaryIO]

    def append(self, name: str, frame: pl.DataFrame) -> None:
        """More rows of one file; of the frame only the file's columns count."""
        text = frame.select(self.columns[name]).write_csv(
            include_header=False, datetime_format=self.time_format
        )
        self.streams[name].write(text.encode())


@contextmanager
def raw_files(
    directory: Path, columns: Mapping[str, Sequence[str]], *, time_format: str, compress: bool
) -> Iterator[RawFiles]:
    """New files `DIRECTORY/NAME.csv` (or `.csv.gz`) with these columns, open for appending."""
    suffix = ".csv.gz" if compress else ".csv"
    try:
        with ExitStack() as closing:
            streams = {}
            for name, header in columns.items():
                path = directory / (name + suffix)
                path.parent.mkdir(parents=True, exist_ok=True)
                stream = closing.enter_context(path.open("xb"))
                streams[name] = _packed(stream, closing) if compress else stream
                streams[name].write((",".join(header) + "\n").encode())
            yield RawFiles(columns, time_format, streams)
    except OSError as error:
        raise OutputError(
            f"the files cannot be written to '{directory}': {error.strerror or error}."
        ) from None


def _packed(stream: BinaryIO, closing: ExitStack) -> BinaryIO:
    """Gzip without name and time in its header: same visits, same bytes."""
    packed = gzip.GzipFile(filename="", mode="wb", compresslevel=3, fileobj=stream, mtime=0)
    closing.callback(packed.close)
    return cast("BinaryIO", packed)
