"""Rollouts as MEDS trajectories: the `GeneratedTrajectorySchema` of MEDS_trajectory_evaluation.

One row an event: subject_id (a number), time, code (the token's name), prediction_time (when the
last event of the prefix was). The schema asks for separate files where a subject has several
trajectories from one prediction time, so a file holds one draw, and of launches at the same time
one. Further columns, an id map and the header make it lossless in both directions.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from edsim.errors import BadTableError
from edsim.tables.rollouts import Rollouts
from edsim.tables.rollouts_header import header_to_json
from edsim.tables.rollouts_rows import Ids, in_order
from edsim.tables.visits import Launches, Offsets
from edsim.tables.whole_file import whole_file

if TYPE_CHECKING:
    import pyarrow as pa

Times = NDArray[np.datetime64]

HEADER_FILE = "header.json"
ID_MAP_FILE = "id_map.parquet"
SCHEMA_COLUMNS = ("subject_id", "time", "code", "prediction_time")
OWN_COLUMNS = ("stay_id", "prefix_length", "draw", "position", "minutes", "stop")

MICROSECONDS = 60_000_000
_LONGEST_MINUTES = 1e9
"""Some 1,900 years: a time beyond cannot be counted on to fit into a timestamp."""
_ROLLOUTS_A_GROUP = 50_000


class LossyTrajectoriesWarning(UserWarning):
    """Trajectories were written or read without what makes them lossless."""


def launch_times(
    arrival: Times, minutes: NDArray[np.float64], offsets: Offsets, launches: Launches
) -> Times:
    """When the last event of each prefix was, to the microsecond of the record.

    `minutes` since arrival of all events of all stays (the events table's), `offsets` where each
    stay's events begin in it.
    """
    last = minutes[offsets[launches[:, 0]] + launches[:, 1] - 1]
    return _later(arrival[launches[:, 0]].astype("datetime64[us]"), last)


def write_meds(
    rollouts: Rollouts,
    directory: Path,
    stay_ids: Ids,
    *,
    subjects: NDArray[np.int64],
    launched: Times,
    plain: bool = False,
) -> None:
    """Write trajectories into a directory that is there.

    `subjects` is the number of each stay's subject, `launched` the time of each row's launch (see
    `launch_times`). `plain` leaves out all that is not in the schema, with a warning.
    """
    if not rollouts.header.tokens:
        raise BadTableError("the rollouts do not name their tokens, so events would have no code.")
    if in_order(rollouts) is not rollouts:
        raise BadTableError("the rollouts are not sorted by stay row, prefix length and draw.")
    if np.any(rollouts.generated.total_minutes() > _LONGEST_MINUTES):
        n = np.count_nonzero(rollouts.generated.total_minutes() > _LONGEST_MINUTES)
        raise BadTableError(
            f"{n:,} of {len(rollouts):,} rollouts last longer than a timestamp can hold. Their "
            "gaps cannot be minutes."
        )
    restricted = rollouts.header.restricted
    columns = SCHEMA_COLUMNS if plain else SCHEMA_COLUMNS + OWN_COLUMNS
    for name, rows in _files(rollouts, subjects, launched):
        tables = _tables(rollouts, rows, stay_ids, subjects, launched, columns)
        _write_tables(directory / name, tables, restricted=restricted)
    if plain:
        _warn_of_loss(rollouts, subjects, launched)
        return
    _write_tables(
        directory / ID_MAP_FILE, [_id_map(rollouts, stay_ids, subjects)], restricted=restricted
    )
    with whole_file(directory / HEADER_FILE, restricted=restricted) as stream:
        stream.write((header_to_json(rollouts.header, indent=1) + "\n").encode())


def _files(
    rollouts: Rollouts, subjects: NDArray[np.int64], launched: Times
) -> Iterator[tuple[str, NDArray[np.int64]]]:
    """The rows of each file, by subject and time: one draw, and one launch of those at a time."""
    subject = subjects[rollouts.launches[:, 0]]
    order = np.lexsort((rollouts.launches[:, 1], launched, subject, rollouts.draw))
    draw, subject, at = rollouts.draw[order], subject[order], launched[order]
    new = np.ones(len(order), dtype=bool)
    new[1:] = (draw[1:] != draw[:-1]) | (subject[1:] != subject[:-1]) | (at[1:] != at[:-1])
    place = np.arange(len(order))
    tie = place - np.maximum.accumulate(np.where(new, place, 0))
    files = draw.astype(np.int64) << 32 | tie
    sorted_by_file = np.argsort(files, kind="stable")
    numbers, begins = np.unique(files[sorted_by_file], return_index=True)
    for number, rows in zip(numbers, np.split(order[sorted_by_file], begins[1:]), strict=True):
        yield f"draw-{number >> 32}/{number & 0xFFFF_FFFF:03d}.parquet", rows


def _tables(
    rollouts: Rollouts,
    rows: NDArray[np.int64],
    stay_ids: Ids,
    subjects: NDArray[np.int64],
    launched: Times,
    columns: tuple[str, ...],
) -> Iterator[pa.Table]:
    for first in range(0, len(rows), _ROLLOUTS_A_GROUP):
        some = rows[first : first + _ROLLOUTS_A_GROUP]
        yield _table(rollouts, some, stay_ids, subjects, launched).select(columns)


def _table(
    rollouts: Rollouts,
    rows: NDArray[np.int64],
    stay_ids: Ids,
    subjects: NDArray[np.int64],
    launched: Times,
) -> pa.Table:
    import pyarrow as pa

    moment = pa.timestamp("us")
    generated = rollouts.generated
    lengths = generated.lengths()[rows]
    ends = np.cumsum(lengths)
    position = np.arange(lengths.sum()) - np.repeat(ends - lengths, lengths)
    where = np.repeat(generated.offsets[rows], lengths) + position
    minutes = generated.minutes[where]
    stay = rollouts.launches[rows, 0]
    stays, stay_place = np.unique(stay, return_inverse=True)
    prediction = launched[rows].astype("datetime64[us]")
    ended = rollouts.terminated()[rows]
    values: dict[str, tuple[Any, pa.DataType]] = {
        "subject_id": (np.repeat(subjects[stay], lengths), pa.int64()),
        "time": (_later(np.repeat(prediction, lengths), _since(minutes, ends)), moment),
        "prediction_time": (np.repeat(prediction, lengths), moment),
        "prefix_length": (np.repeat(rollouts.launches[rows, 1], lengths), pa.int32()),
        "draw": (np.repeat(rollouts.draw[rows], lengths), pa.int32()),
        "position": ((position + 1).astype(np.int32), pa.int32()),
        "minutes": (minutes, pa.float32()),
    }
    texts = {
        "code": (generated.tokens[where], list(rollouts.header.tokens)),
        "stay_id": (
            np.repeat(stay_place, lengths),
            [bytes(name).decode() for name in stay_ids[stays]],
        ),
        "stop": (np.repeat(ended, lengths), ["cap", "end"]),
    }
    arrays = {name: pa.array(data, kind) for name, (data, kind) in values.items()} | {
        name: pa.DictionaryArray.from_arrays(place.astype(np.int32), pa.array(names, pa.string()))
        for name, (place, names) in texts.items()
    }
    needed = pa.schema(  # what the schema needs may not be null
        [
            pa.field(name, array.type, nullable=name in ("time", *OWN_COLUMNS))
            for name, array in arrays.items()
        ]
    )
    return pa.table(arrays, schema=needed)


def _since(minutes: NDArray[np.float32], ends: NDArray[np.int64]) -> NDArray[np.float64]:
    """Minutes since the launch of each event, rows ending before `ends`."""
    sums = np.cumsum(minutes, dtype=np.float64)
    before = np.concatenate([[0.0], sums[ends[:-1] - 1]])
    return np.asarray(sums - np.repeat(before, np.diff(ends, prepend=0)))


def _later(times: Times, minutes: NDArray[np.float64]) -> Times:
    return np.asarray(times + np.round(minutes * MICROSECONDS).astype("timedelta64[us]"))


def _id_map(rollouts: Rollouts, stay_ids: Ids, subjects: NDArray[np.int64]) -> pa.Table:
    import pyarrow as pa

    stays = np.unique(rollouts.launches[:, 0])
    names = [bytes(name).decode() for name in stay_ids[stays]]
    return pa.table({"stay_id": pa.array(names, pa.string()), "subject_id": subjects[stays]})


def _write_tables(path: Path, tables: Any, *, restricted: bool) -> None:
    import pyarrow.parquet as pq

    writer = None
    with whole_file(path, restricted=restricted) as stream:
        for table in tables:
            writer = writer or pq.ParquetWriter(
                stream, table.schema, compression="zstd", store_schema=False
            )
            writer.write_table(table)
        if writer is not None:
            writer.close()


def _warn_of_loss(rollouts: Rollouts, subjects: NDArray[np.int64], launched: Times) -> None:
    first = rollouts.draw == 0
    moments = np.stack(
        [subjects[rollouts.launches[first, 0]], launched[first].astype(np.int64)], axis=1
    )
    n, n_moments = len(moments), len(np.unique(moments, axis=0))
    warnings.warn(
        "without the further columns these trajectories cannot be read back as they were: the "
        f"prefix lengths ({n:,} launches have {n_moments:,} different times), what is finer than a "
        "microsecond, and the header are lost.",
        LossyTrajectoriesWarning,
        stacklevel=3,
    )
