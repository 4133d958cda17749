"""Rollouts as long comma-separated text, one row an event, for any tool to write or read.

Columns: stay_id, prefix_length, draw, position (1, 2, ... from the launch on), activity (token
name; END is a row), minutes (gap before the event). The text has no place for a header: ours lies
beside it as `NAME.json`; a foreign file gets one from whoever converts it.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from edsim.errors import BadTableError
from edsim.tables.rollouts import Rollouts, RolloutsHeader
from edsim.tables.rollouts_header import SEE, header_from_json, header_to_json
from edsim.tables.rollouts_long import Long, counted, together
from edsim.tables.rollouts_rows import Ids, Rows, in_order
from edsim.tables.visits import END
from edsim.tables.whole_file import whole_file

if TYPE_CHECKING:
    import polars as pl

COLUMNS = ("stay_id", "prefix_length", "draw", "position", "activity", "minutes")
_NUMBERS = ("prefix_length", "draw", "position")
_CHECKSUM = "csv_sha256"
_ROLLOUTS_A_PIECE = 50_000


def header_path(path: Path) -> Path:
    """Where the header of a CSV lies: beside it, with `.json` behind its name."""
    return path.with_name(f"{path.name}.json")


def write_csv(rollouts: Rollouts, path: Path, stay_ids: Ids) -> None:
    """Write rollouts as text, compressed if the name ends in .gz, and their header beside it."""
    header = rollouts.header
    if not header.tokens:
        raise BadTableError("the rollouts do not name their tokens, so no activity can be written.")
    with (
        whole_file(path, restricted=header.restricted) as file,
        whole_file(header_path(path), restricted=header.restricted) as beside,
    ):
        digest = hashlib.sha256()
        with _packed(file, path) as stream:
            for text in _pieces(in_order(rollouts), stay_ids):
                digest.update(text)
                stream.write(text)
        said = json.loads(header_to_json(header)) | {_CHECKSUM: digest.hexdigest()}
        beside.write((json.dumps(said, indent=1, ensure_ascii=False) + "\n").encode())


def read_csv_rows(path: Path, foreign: RolloutsHeader | None = None) -> Rows:
    """The rows as they stand in the file.

    A header beside the file is used; otherwise `foreign`, which has to name the tokens and the
    cap; its number of draws is the file's own.
    """
    header = header_beside(path)
    if header is None and foreign is None:
        raise BadTableError(
            f"{path.name} has no header beside it ({header_path(path).name}), so nobody can say "
            f"which vocabulary its activities belong to. Name the cohort. {SEE}"
        )
    names = (header or cast(RolloutsHeader, foreign)).tokens
    events = _read(path, names)
    _check_values(events, path, names)
    if header is None:
        draws = max(int(events["draw"].to_numpy().max()) + 1, 1)
        header = replace(cast(RolloutsHeader, foreign), draws=draws)
    ids, stay = _distinct(events["stay_id"])
    long = Long(
        ids=ids,
        stay=stay,
        prefix_length=events["prefix_length"].to_numpy(),
        draw=events["draw"].to_numpy(),
        position=events["position"].to_numpy(),
        tokens=events["activity"].to_numpy(),
        minutes=events["minutes"].to_numpy(),
    )
    return together(long, header, path.name)


def header_beside(path: Path) -> RolloutsHeader | None:
    """The header that lies beside a CSV; None where there is none. A foreign one is refused."""
    beside = header_path(path)
    if not beside.exists() or not path.exists():
        return None
    text = beside.read_bytes()
    header = header_from_json(_without_checksum(text), beside.name)
    if _CHECKSUM in json.loads(text):
        with _plain_messages(path), _content(path) as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
        if digest != json.loads(text)[_CHECKSUM]:
            raise BadTableError(
                f"{beside.name} is not the header of {path.name}, which has changed since. Remove "
                "the header and name the cohort, or write both again."
            )
    return header


def _without_checksum(text: bytes) -> bytes:
    try:
        said = json.loads(text)
    except ValueError:
        return text
    if isinstance(said, dict):
        said.pop(_CHECKSUM, None)
    return json.dumps(said).encode()


def _pieces(rollouts: Rollouts, stay_ids: Ids) -> Iterator[bytes]:
    import polars as pl

    yield (",".join(COLUMNS) + "\n").encode()
    generated = rollouts.generated
    names = pl.Series(rollouts.header.tokens, dtype=pl.String)
    for first in range(0, len(rollouts), _ROLLOUTS_A_PIECE):
        some = slice(first, first + _ROLLOUTS_A_PIECE)
        offsets = generated.offsets[first : first + _ROLLOUTS_A_PIECE + 1]
        lengths = np.diff(offsets)
        events = slice(int(offsets[0]), int(offsets[-1]))
        stays, place = np.unique(rollouts.launches[some, 0], return_inverse=True)
        ids = pl.Series([bytes(name).decode() for name in stay_ids[stays]], dtype=pl.String)
        frame = pl.DataFrame(
            {
                "stay_id": ids.gather(np.repeat(place, lengths)),
                "prefix_length": np.repeat(rollouts.launches[some, 1], lengths),
                "draw": np.repeat(rollouts.draw[some], lengths),
                "position": np.arange(events.start, events.stop)
                - np.repeat(offsets[:-1], lengths)
                + 1,
                "activity": names.gather(generated.tokens[events]),
                "minutes": generated.minutes[events],
            }
        )
        yield frame.write_csv(include_header=False).encode()


@contextmanager
def _packed(file: BinaryIO, path: Path) -> Iterator[BinaryIO]:
    if path.suffix == ".gz":
        with gzip.GzipFile(
            filename="", fileobj=file, mode="wb", mtime=0, compresslevel=6
        ) as packed:
            yield cast(BinaryIO, packed)
    else:
        yield file


@contextmanager
def _content(path: Path) -> Iterator[io.BufferedIOBase]:
    with gzip.GzipFile(path) if path.suffix == ".gz" else path.open("rb") as stream:
        yield stream


@contextmanager
def _plain_messages(path: Path) -> Iterator[None]:
    """What cannot be read, without the parser's own words: it quotes the rows."""
    import zlib

    import polars as pl

    try:
        yield
    except FileNotFoundError:
        raise BadTableError(f"there is no rollouts table at '{path}'.") from None
    except (OSError, EOFError, ValueError, zlib.error, pl.exceptions.PolarsError) as error:
        raise BadTableError(
            f"{path.name} cannot be read as comma-separated UTF-8 text ({type(error).__name__}): "
            "a row has more fields than the header, a quotation mark is not closed, or the file "
            "is damaged or cut off. Write it again."
        ) from None


def _read(path: Path, names: tuple[str, ...]) -> pl.DataFrame:
    """All events in narrow types; null is what was missing or could not be understood."""
    import polars as pl

    with _plain_messages(path):
        events = (
            _scan(path)
            .select(
                pl.col("stay_id").cast(pl.Categorical),
                *(pl.col(name).cast(pl.Int32, strict=False) for name in _NUMBERS),
                pl.col("activity").cast(pl.Enum(names), strict=False).to_physical().cast(pl.Int16),
                pl.col("minutes").cast(pl.Float32, strict=False),
            )
            .collect(engine="streaming")
        )
    if not events["stay_id"].null_count():
        return events
    blank = events.select(pl.all_horizontal(pl.all().is_null())).to_series().to_numpy()
    return events.head(len(blank) - int(np.argmin(np.append(blank[::-1], False))))


def _scan(path: Path) -> pl.LazyFrame:
    """The file as a lazy frame of text columns."""
    import polars as pl

    with _content(path) as stream:
        header = stream.readline(1 << 16).decode("utf-8-sig")
        if not header.strip():
            raise BadTableError(f"{path.name} is empty, or its first line is. {SEE}")
        columns = _columns(header, path.name)
        if not stream.read(1):
            raise BadTableError(f"{path.name} has a header and no rows.")
    return pl.scan_csv(path, has_header=False, skip_lines=1, schema=columns, glob=False)


def _columns(header: str, name: str) -> dict[str, Any]:
    """The file's columns, all read as text, once those needed are found."""
    import polars as pl

    found = _fields(header, ",")
    missing = [column for column in COLUMNS if column not in found]
    if missing:
        for separator, called in ((";", "semicolons"), ("\t", "tabs")):
            if set(COLUMNS) <= set(_fields(header, separator)):
                raise BadTableError(
                    f"{name} is separated by {called}; expected commas, and decimal points in the "
                    "minutes. Write it again (in R: write.csv, not write.csv2)."
                )
        raise BadTableError(
            f"{name} has no column {', '.join(missing)}. It needs {', '.join(COLUMNS)}. {SEE}"
        )
    if len(set(found)) < len(found):
        repeated = sorted({c for c in COLUMNS if found.count(c) > 1})
        if repeated:
            raise BadTableError(f"{name} has the column {', '.join(repeated)} more than once.")
        found = [c if c not in found[:i] else f"{c}#{i}" for i, c in enumerate(found)]
    return dict.fromkeys(found, pl.String)


def _fields(header: str, separator: str) -> list[str]:
    return [field.strip('"') for field in header.rstrip("\r\n").split(separator)]


def _check_values(events: pl.DataFrame, path: Path, names: tuple[str, ...]) -> None:
    if not events.height:
        raise BadTableError(f"{path.name} has a header and no rows.")
    wanted = {
        "stay_id": ("have no stay_id", "Every row names its launch."),
        **{
            name: (f"have no whole number as {name}", "Write it without a decimal point.")
            for name in _NUMBERS
        },
        "minutes": (
            "have no number as minutes",
            "Write minutes with a decimal point; END has a gap as well (0 if none).",
        ),
    }
    for name, (what, advice) in wanted.items():
        bad = events[name].is_null().to_numpy()
        if bad.any():
            raise BadTableError(counted(path.name, bad, f"{what}, {{first}}. {advice}"))
    unknown = events["activity"].is_null().to_numpy()
    if unknown.any():
        n = _n_unknown_names(path, names)
        raise BadTableError(
            counted(
                path.name,
                unknown,
                f"have an activity that is no token of the vocabulary ({n} different names), "
                f"{{first}}. Write the {len(names)} names as the prefixes have them, a visit ends "
                f"with {names[END]}; or say with --vocabulary which other one they are of.",
            )
        )


def _n_unknown_names(path: Path, names: tuple[str, ...]) -> int:
    import polars as pl

    with _plain_messages(path):
        found = _scan(path).select(pl.col("activity").unique()).collect(engine="streaming")
    return len(set(found["activity"].fill_null("")) - set(names))


def _distinct(ids: pl.Series) -> tuple[Ids, NDArray[np.int32]]:
    """The distinct ids as UTF-8, sorted, and the place of each row's own."""
    import polars as pl

    distinct = ids.unique()
    codes = distinct.to_physical().to_numpy()
    names = np.array([text.encode() for text in distinct.cast(pl.String)], dtype=np.bytes_)
    order = np.argsort(names)
    place = np.empty(int(codes.max()) + 1, dtype=np.int32)
    place[codes[order]] = np.arange(len(names))
    return names[order], place[ids.to_physical().to_numpy()]
