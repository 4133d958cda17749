"""stays.parquet and events.parquet: the columns of docs/tables.md, written in bounded memory."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from edsim.cohort.content import coded
from edsim.errors import BadCohortError
from edsim.progress import Progress
from edsim.tables.extract import EVENT_COLUMNS

if TYPE_CHECKING:
    import polars as pl

STAYS_FILE = "stays.parquet"
EVENTS_FILE = "events.parquet"
STAYS_COLUMNS = (
    "stay_id",
    "subject_id",
    "split",
    "period",
    "arrival",
    "los_minutes",
    "acuity",
    "disposition",
    "transport",
    "sex",
    "age",
    "race_group",
    "chief_complaint_group",
    "n_events",
)
_STAYS_A_GROUP = 50_000


def write_stays(stays: pl.DataFrame, directory: Path) -> None:
    """The stays table, one row a stay, sorted by id as text."""
    stays.select(STAYS_COLUMNS).write_parquet(directory / STAYS_FILE, statistics=False)


def write_events(
    events: pl.DataFrame, stays: pl.DataFrame, directory: Path, progress: Progress
) -> None:
    """The events table: ids as text, positions from 1, a row group every 50,000 stays."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    n_events = stays["n_events"].to_numpy()
    ends = np.concatenate([[0], np.cumsum(n_events, dtype=np.int64)])
    texts = {name: coded(events[name]) for name in ("activity", "detail", "flag")}
    word = pa.dictionary(pa.int32(), pa.string())  # plain text in the file, written fast
    schema = pa.schema(
        [("stay_id", word), ("position", pa.int32()), ("minutes", pa.float64())]
        + [(name, word) for name in texts]
    )
    progress.stage("writing events", events.height, "events")
    with pq.ParquetWriter(
        directory / EVENTS_FILE, schema, compression="zstd", store_schema=False,
        use_dictionary=["stay_id", *texts], write_statistics=False,
    ) as writer:  # fmt: skip
        for first in range(0, stays.height, _STAYS_A_GROUP):
            last = min(first + _STAYS_A_GROUP, stays.height)
            rows = slice(ends[first], ends[last])
            lengths = n_events[first:last]
            within = np.arange(rows.stop - rows.start) - np.repeat(
                ends[first:last] - ends[first], lengths
            )
            ids = pa.DictionaryArray.from_arrays(
                np.repeat(np.arange(last - first, dtype=np.int32), lengths),
                pa.array(stays["stay_id"][first:last].to_list(), pa.string()),
            )
            columns = [ids, pa.array((within + 1).astype(np.int32))]
            columns.append(pa.array(events["minutes"].to_numpy()[rows]))
            columns += [_dictionary(codes[rows], values) for codes, values in texts.values()]
            writer.write_table(
                pa.Table.from_arrays(columns, names=schema.names), row_group_size=1 << 30
            )
            progress.advance(rows.stop - rows.start)


def _dictionary(codes: np.ndarray[Any, Any], values: list[str]) -> Any:
    import pyarrow as pa

    return pa.DictionaryArray.from_arrays(
        pa.array(codes, mask=codes < 0), pa.array(values, pa.string())
    )


def read_stays(directory: Path) -> pl.DataFrame:
    """The stays table as it was written."""
    import polars as pl

    try:
        stays = pl.read_parquet(directory / STAYS_FILE, glob=False)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise _unreadable(STAYS_FILE, error) from None
    if tuple(stays.columns) != STAYS_COLUMNS:
        raise BadCohortError(f"{STAYS_FILE} does not have the columns of docs/tables.md.")
    return stays


def read_events(directory: Path, stays: pl.DataFrame) -> pl.DataFrame:
    """The events with the stay's row number in place of its id, as a source hands them over.

    Rows are in the order of the stays, so the numbers follow from `n_events`; that the ids agree
    is what `edsim cohort check` verifies.
    """
    import polars as pl

    try:
        events = (
            scan_events(directory)
            .select(
                "minutes",
                *[pl.col(name).cast(pl.Categorical) for name in ("activity", "detail", "flag")],
            )
            .collect()
        )
    except (OSError, pl.exceptions.PolarsError) as error:
        raise _unreadable(EVENTS_FILE, error) from None
    n_events = stays["n_events"].to_numpy()
    if events.height != n_events.sum():
        raise BadCohortError(
            f"{EVENTS_FILE} holds {events.height} events and the stays promise {n_events.sum()}."
        )
    stay = np.repeat(np.arange(stays.height, dtype=np.uint32), n_events)
    return events.with_columns(pl.Series("stay", stay)).select(EVENT_COLUMNS)


def scan_events(directory: Path) -> pl.LazyFrame:
    """The events table, lazily."""
    import polars as pl

    return pl.scan_parquet(directory / EVENTS_FILE, glob=False)


def _unreadable(name: str, error: Exception) -> BadCohortError:
    return BadCohortError(
        f"{name} cannot be read ({type(error).__name__}). Run `edsim cohort check` on the cohort."
    )
