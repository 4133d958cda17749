"""MEDS trajectories read: exactly where our columns are there, as well as it goes where not."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from edsim.errors import BadTableError
from edsim.tables.parquet_columns import (
    check_columns,
    check_nulls,
    distinct,
    int32,
    is_integer,
    is_text,
    plain_messages,
)
from edsim.tables.rollouts import RolloutsHeader
from edsim.tables.rollouts_header import SEE, header_from_json
from edsim.tables.rollouts_long import Long, counted, together
from edsim.tables.rollouts_meds import (
    HEADER_FILE,
    ID_MAP_FILE,
    MICROSECONDS,
    OWN_COLUMNS,
    LossyTrajectoriesWarning,
    Times,
)
from edsim.tables.rollouts_rows import Ids, Rows
from edsim.tables.visits import Launches

if TYPE_CHECKING:
    import pyarrow as pa


def _is_time(kind: Any) -> bool:
    import pyarrow.types as is_

    return bool(is_.is_timestamp(kind) and kind.tz is None)


def _is_number(kind: Any) -> bool:
    import pyarrow.types as is_

    return bool(is_.is_floating(kind))


_OWN = {
    "stay_id": ("text", is_text),
    "code": ("text", is_text),
    "prefix_length": ("int32", is_integer),
    "draw": ("int32", is_integer),
    "position": ("int32", is_integer),
    "minutes": ("float32", _is_number),
}
_SCHEMA = {
    "code": ("text", is_text),
    "subject_id": ("int64", is_integer),
    "time": ("a timestamp without time zone", _is_time),
    "prediction_time": ("a timestamp without time zone", _is_time),
}


def read_meds_rows(directory: Path) -> Rows:
    """The rollouts that `write_meds` wrote, with its further columns and header."""
    files = _files(directory)
    header_file = directory / HEADER_FILE
    if not header_file.exists() or not has_own_columns(directory):
        raise BadTableError(
            f"'{directory}' has no {HEADER_FILE}, or its trajectories lack some of the columns "
            f"{', '.join(OWN_COLUMNS)}, so their launches have to be found by time. Name the "
            "cohort."
        )
    header = header_from_json(header_file.read_bytes(), header_file.name)
    table = _joined(files, _OWN)
    name = directory.name
    ids, stay = distinct(table["stay_id"])
    long = Long(
        ids=ids,
        stay=stay,
        prefix_length=int32(table, "prefix_length", name),
        draw=int32(table, "draw", name),
        position=int32(table, "position", name),
        tokens=_tokens(table, header.tokens, name),
        minutes=table["minutes"].to_numpy().astype(np.float32, copy=False),
    )
    return together(long, header, name)


def has_own_columns(directory: Path) -> bool:
    """Whether all files have the columns that make the trajectories lossless."""
    import pyarrow.parquet as pq

    for path in _files(directory):
        with plain_messages(path):
            if not set(OWN_COLUMNS) <= set(pq.read_schema(path).names):
                return False
    return True


def read_foreign_meds(
    directory: Path,
    header: RolloutsHeader,
    *,
    stay_ids: Ids,
    launches: Launches,
    subjects: NDArray[np.int64],
    launched: Times,
) -> Rows:
    """Trajectories of another tool: codes are token names, launches are found by their time.

    `subjects` is the number of each stay's subject and `launched` the time of each launch. A
    subject's trajectories from one time are its draws, in the order of the files.
    """
    table = _joined(_files(directory), _SCHEMA)
    subject = table["subject_id"].to_numpy().astype(np.int64)
    prediction, time = (_microseconds(table[name]) for name in ("prediction_time", "time"))
    order = np.lexsort((table["file"].to_numpy(), prediction, subject))
    columns = (subject, prediction, time, table["file"].to_numpy())
    subject, prediction, time, file = (values[order] for values in columns)
    moment = _changes(subject, prediction)
    begins = moment | _changes(file)
    found = _launch_of(
        subject[moment], prediction[moment], launches, subjects, launched, directory.name
    )
    number = np.cumsum(begins) - 1  # of the trajectory
    of_moment = np.cumsum(moment) - 1
    draw = number - number[moment][of_moment]
    first = np.flatnonzero(begins)
    since = np.diff(time, prepend=0)
    since[first] = time[first] - prediction[first]
    launch = launches[found[of_moment]]
    long = Long(
        ids=stay_ids[np.unique(launch[:, 0])],
        stay=np.unique(launch[:, 0], return_inverse=True)[1].astype(np.int32),
        prefix_length=launch[:, 1].astype(np.int32),
        draw=draw.astype(np.int32),
        position=(np.arange(len(time)) - first[number] + 1).astype(np.int32),
        tokens=_tokens(table, header.tokens, directory.name)[order],
        minutes=(since / MICROSECONDS).astype(np.float32),
    )
    return together(long, replace(header, draws=int(draw.max()) + 1), directory.name)


def _files(directory: Path) -> list[Path]:
    if not directory.is_dir():
        raise BadTableError(f"there is no folder of trajectories at '{directory}'.")
    files = sorted(path for path in directory.rglob("*.parquet") if path.name != ID_MAP_FILE)
    if not files:
        raise BadTableError(f"the folder '{directory}' has no Parquet with trajectories. {SEE}")
    return files


def _joined(files: Sequence[Path], wanted: Any) -> pa.Table:
    """The events of all files, each with the number of its file."""
    import pyarrow as pa

    table = pa.concat_tables(_each(files, wanted))
    if not table.num_rows:
        raise BadTableError("the trajectories have no rows.")
    return table.unify_dictionaries()


def _each(files: Sequence[Path], wanted: Any) -> Iterator[pa.Table]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    for number, path in enumerate(files):
        with plain_messages(path):
            check_columns(pq.read_schema(path), wanted, path.name)
            texts = [name for name in ("stay_id", "code") if name in wanted]
            table = pq.ParquetFile(path, read_dictionary=texts).read(columns=list(wanted))
            table = table.select(list(wanted)).replace_schema_metadata(None)
            check_nulls(table, path.name)
        text = pa.dictionary(pa.int32(), pa.string())
        plain = pa.schema([(f.name, text if f.name in texts else f.type) for f in table.schema])
        yield table.cast(plain).append_column(
            "file", pa.array(np.full(table.num_rows, number, dtype=np.int32))
        )


def _tokens(table: pa.Table, names: tuple[str, ...], name: str) -> NDArray[np.int16]:
    codes, place = distinct(table["code"])
    numbers = {token.encode(): number for number, token in enumerate(names)}
    token_of_code = np.array([numbers.get(bytes(code), -1) for code in codes], dtype=np.int16)
    tokens = token_of_code[place]
    if (token_of_code < 0).any():
        n = np.count_nonzero(token_of_code < 0)
        raise BadTableError(
            counted(
                name,
                tokens < 0,
                f"have a code that is no token of the vocabulary ({n} different codes), {{first}}. "
                f"Write the names of the tokens as codes; a visit ends with {names[0]}.",
            )
        )
    return tokens


def _microseconds(column: pa.ChunkedArray) -> NDArray[np.int64]:
    return np.asarray(column.to_numpy().astype("datetime64[us]").astype(np.int64))


def _changes(*columns: NDArray[Any]) -> NDArray[np.bool_]:
    """Where any of the columns differs from the row before."""
    changes = np.ones(len(columns[0]), dtype=bool)
    changes[1:] = np.logical_or.reduce([c[1:] != c[:-1] for c in columns])
    return changes


def _launch_of(
    subject: NDArray[np.int64],
    prediction: NDArray[np.int64],
    launches: Launches,
    subjects: NDArray[np.int64],
    launched: Times,
    name: str,
) -> NDArray[np.int64]:
    """The launch of each (subject, time): of several the one with the longest prefix."""
    at = launched.astype("datetime64[us]").astype(np.int64)
    known = subjects[launches[:, 0]]
    order = np.lexsort((launches[:, 1], at, known))
    known, at = known[order], at[order]
    new = _changes(known, at)
    begins = np.flatnonzero(new)
    last = np.append(begins[1:], len(order)) - 1
    first_of = zip(known[begins].tolist(), at[begins].tolist(), strict=True)
    moments = {moment: place for place, moment in enumerate(first_of)}
    asked = zip(subject.tolist(), prediction.tolist(), strict=True)
    place = np.array([moments.get(moment, -1) for moment in asked])
    lost = place < 0
    if lost.any():
        raise BadTableError(
            f"{np.count_nonzero(lost):,} of {len(place):,} subjects and prediction times of {name} "
            "are those of no launch of the launch set. Take them from the cohort's MEDS dataset "
            "and name the launch set they were made for."
        )
    chosen = np.count_nonzero(last[place] > begins[place])
    if chosen:
        warnings.warn(
            f"{chosen:,} of {len(place):,} prediction times are those of several launches (events "
            "at the same time); the one with the longest prefix was taken for each.",
            LossyTrajectoriesWarning,
            stacklevel=3,
        )
    return np.asarray(order[last[place]])
