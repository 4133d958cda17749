"""`*.rollouts.parquet`: one row per launch and draw, the header as JSON in the file's metadata.

Rules of the content are in `rollouts_check`; here is only what can be wrong with a Parquet.
"""

from __future__ import annotations

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
    is_list_of_integers,
    is_list_of_numbers,
    is_text,
    plain_messages,
)
from edsim.tables.rollouts import Rollouts, RolloutsHeader
from edsim.tables.rollouts_check import checked
from edsim.tables.rollouts_header import SEE, header_from_json, header_to_json
from edsim.tables.rollouts_rows import Expected, Ids, Rows, in_order
from edsim.tables.whole_file import whole_file

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

HEADER = b"edsim.rollouts"
COLUMNS = ("stay_id", "prefix_length", "draw", "tokens", "minutes", "stop")
STOPS = ("end", "cap")

_WANTED = {
    "stay_id": ("text", is_text),
    "prefix_length": ("int32", is_integer),
    "draw": ("int32", is_integer),
    "tokens": ("list of int16", is_list_of_integers),
    "minutes": ("list of float32", is_list_of_numbers),
    "stop": ("text ('end' or 'cap')", is_text),
}
"""What each column holds. Wider numbers are taken too; they are checked and made narrow."""

_ROWS_A_GROUP = 1 << 17


def write_rollouts(rollouts: Rollouts, path: Path | str, stay_ids: Ids) -> None:
    """Write a rollouts table; `stay_ids` are the cohort's, one per stay row.

    The file is there whole or not at all, and the same rollouts give the same bytes.
    """
    import pyarrow.parquet as pq

    rollouts = in_order(rollouts)
    schema = _schema()
    with (
        whole_file(Path(path), restricted=rollouts.header.restricted) as stream,
        pq.ParquetWriter(
            stream,
            schema,
            compression="zstd",
            compression_level=1,
            use_dictionary=["stay_id", "stop", "draw", "minutes.list.element"],
            store_schema=False,  # plain types for every reader: ids are text, not categories
        ) as writer,
    ):
        for first in range(0, max(len(rollouts), 1), _ROWS_A_GROUP):
            some = slice(first, first + _ROWS_A_GROUP)
            writer.write_table(_table(rollouts, some, stay_ids, schema))
        writer.add_key_value_metadata({HEADER: header_to_json(rollouts.header).encode()})


def read_header(path: Path) -> RolloutsHeader:
    """What a rollouts table says about itself, without its rows."""
    with plain_messages(path):
        return _header(_opened(path), path.name)


def read_rows(path: Path, header: RolloutsHeader | None = None) -> Rows:
    """The rows as they stand in the file. `header` is for a file that has none of its own."""
    with plain_messages(path):
        file = _opened(path)
        if header is None or HEADER in (file.metadata.metadata or {}):
            header = _header(file, path.name)
        check_columns(file.schema_arrow, _WANTED, path.name)
        table = file.read(columns=list(COLUMNS))
        check_nulls(table, path.name)
        return _rows(table, header, path.name)


def read_rollouts(path: Path | str, expected: Expected | None = None) -> Rollouts:
    """A rollouts table, checked; joined to the stay rows of a cohort where one is `expected`."""
    return checked(read_rows(Path(path)), expected)


def _schema() -> pa.Schema:
    import pyarrow as pa

    text = pa.dictionary(pa.int32(), pa.string())
    return pa.schema(
        [
            pa.field("stay_id", text, nullable=False),
            pa.field("prefix_length", pa.int32(), nullable=False),
            pa.field("draw", pa.int32(), nullable=False),
            pa.field("tokens", _list_of(pa.int16()), nullable=False),
            pa.field("minutes", _list_of(pa.float32()), nullable=False),
            pa.field("stop", text, nullable=False),
        ]
    )


def _list_of(item: pa.DataType) -> pa.DataType:
    import pyarrow as pa

    return pa.list_(pa.field("element", item, nullable=False))


def _table(rollouts: Rollouts, some: slice, stay_ids: Ids, schema: pa.Schema) -> pa.Table:
    """One group of rows, without a copy of the events."""
    import pyarrow as pa

    launches = rollouts.launches[some]
    stays, place = np.unique(launches[:, 0], return_inverse=True)
    names = pa.array([bytes(name).decode() for name in stay_ids[stays]], pa.string())
    generated = rollouts.generated
    offsets = generated.offsets[some.start : some.stop + 1]
    begin, end = (int(offsets[0]), int(offsets[-1])) if len(offsets) else (0, 0)
    local = pa.array((offsets - begin).astype(np.int32))
    stop = np.where(rollouts.terminated()[some], STOPS.index("end"), STOPS.index("cap"))
    events = [
        pa.ListArray.from_arrays(local, pa.array(values[begin:end]), type=_list_of(kind))
        for values, kind in (
            (generated.tokens, pa.int16()),
            (generated.minutes, pa.float32()),
        )
    ]
    return pa.table(
        [
            pa.DictionaryArray.from_arrays(place.astype(np.int32), names),
            pa.array(np.ascontiguousarray(launches[:, 1])),
            pa.array(rollouts.draw[some]),
            *events,
            pa.DictionaryArray.from_arrays(stop.astype(np.int32), pa.array(STOPS)),
        ],
        schema=schema,
    )


def _rows(table: pa.Table, header: RolloutsHeader, name: str) -> Rows:
    ids, stay = distinct(table["stay_id"])
    tokens, offsets = _flat(table["tokens"], name)
    minutes, minutes_offsets = _flat(table["minutes"], name)
    return Rows(
        header=header,
        ids=ids,
        stay=stay,
        prefix_length=int32(table, "prefix_length", name),
        draw=int32(table, "draw", name),
        tokens=tokens,
        offsets=offsets,
        minutes=_float32(minutes),
        minutes_offsets=minutes_offsets,
        ended=_ended(table["stop"], name),
        name=name,
    )


def _opened(path: Path) -> pq.ParquetFile:
    """The file; its texts will be read as categories, which is faster by far."""
    import pyarrow.parquet as pq

    metadata = pq.read_metadata(path)
    texts = [name for name in ("stay_id", "stop") if name in metadata.schema.names]
    return pq.ParquetFile(path, metadata=metadata, read_dictionary=texts)


def _header(file: pq.ParquetFile, name: str) -> RolloutsHeader:
    metadata = file.metadata.metadata or {}
    if HEADER not in metadata:
        raise BadTableError(
            f"{name} has no header ('{HEADER.decode()}' in the Parquet metadata), so nobody can "
            f"say what made it. {SEE}"
        )
    return header_from_json(metadata[HEADER], name)


def _flat(column: pa.ChunkedArray, name: str) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The elements of all rows one after the other, and where each row begins."""
    import pyarrow.compute as pc

    lengths = pc.list_value_length(column).to_numpy()
    elements = pc.list_flatten(column)
    if elements.null_count:
        raise BadTableError(
            f"{elements.null_count:,} of {len(elements):,} events of {name} have a null in their "
            "`tokens` or `minutes`. Every event needs both."
        )
    offsets = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    return elements.to_numpy(), offsets


def _float32(values: NDArray[Any]) -> NDArray[np.float32]:
    with np.errstate(over="ignore"):  # becomes infinite, which is then found
        return values.astype(np.float32, copy=False)


def _ended(column: pa.ChunkedArray, name: str) -> NDArray[np.bool_]:
    import pyarrow as pa
    import pyarrow.compute as pc

    text = column.cast(pa.string())
    known = pc.is_in(text, pa.array(STOPS))
    n = len(text) - (pc.sum(known).as_py() or 0)
    if n:
        first = pc.index(known, False).as_py() + 1
        raise BadTableError(
            f"{n:,} of {len(text):,} rows of {name} have a `stop` other than 'end' and 'cap', "
            f"first row {first:,}."
        )
    return np.asarray(pc.equal(text, "end").to_numpy())
