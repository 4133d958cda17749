"""A cohort as a MEDS 0.4 dataset, so complete that `reading` gives the same cohort back.

A patient is a subject and a stay is the value of the column `stay_id`; the code of an event is its
activity, with the detail behind `//`. Everything else that MEDS has no place for is in columns and
files of its own (`layout`), which a MEDS reader passes over.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from edsim import __version__
from edsim.errors import BadTableError
from edsim.privacy import set_permissions
from edsim.progress import Progress, silent
from edsim.sources.assemble import in_minutes
from edsim.sources.meds import layout
from edsim.tables.extract import MICROSECONDS_A_MINUTE, STAY_COLUMNS

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

EVENTS_A_SHARD = 1_000_000
"""A file is closed when it holds this many events; a subject is never cut."""

_MEDS_VERSION = "0.4.1"


def write_meds(
    stays: pl.DataFrame,
    events: pl.LazyFrame,
    directory: Path,
    *,
    restricted: bool,
    name: str = "EDSim-Bench cohort",
    facts: Mapping[str, Any] | None = None,
    events_a_shard: int = EVENTS_A_SHARD,
    progress: Progress = silent,
) -> None:
    """Fill `directory` (empty, or to be made) with a MEDS dataset of a cohort.

    `stays` and `events` have the columns of stays.parquet and events.parquet. `facts` are what an
    `Extract` says beside its frames (triage_activity, discharges, cap, time_of_day). Whoever calls
    sees to it that the directory is there whole or not at all.
    """
    numbered = with_subjects(stays)
    for folder in (layout.DATA, "metadata"):
        (directory / folder).mkdir(parents=True, exist_ok=True)
    progress.stage("writing MEDS", stays.height, "stays")
    codes: set[str] = set()
    for path, part in _shards(numbered, events_a_shard):
        codes |= _write_shard(part, events, directory / layout.DATA / path)
        progress.advance(part.height)
    _write_metadata(numbered, codes, directory, name, dict(facts or {}))
    set_permissions(directory, restricted=restricted)


def with_subjects(stays: pl.DataFrame) -> pl.DataFrame:
    """The stays with the column `subject`: a 64-bit integer for every subject.

    Ids that are whole numbers already, written as numbers are, stay what they are. Otherwise the
    subjects are numbered from 1 in the order of their ids.
    """
    import polars as pl

    if stays.select("subject_id", "split").unique()["subject_id"].is_duplicated().any():
        raise BadTableError("a subject is in two parts of the split, which MEDS cannot express.")
    ids = stays["subject_id"]
    numbers = ids.cast(pl.Int64, strict=False)
    if not (numbers.is_not_null() & (numbers.cast(pl.String) == ids)).all():
        order = ids.unique().sort()
        numbers = ids.cast(pl.Enum(order)).to_physical().cast(pl.Int64) + 1
    return stays.with_columns(numbers.alias("subject"))


def _shards(stays: pl.DataFrame, events_a_shard: int) -> Iterator[tuple[str, pl.DataFrame]]:
    """The stays of each file: whole subjects in the order of their numbers, split by split."""
    import polars as pl

    for split, ours in (
        *((theirs, ours) for ours, theirs in layout.MEDS_SPLITS.items()),
        ("no_split", None),
    ):
        part = stays.filter(pl.col("split").eq_missing(pl.lit(ours, pl.String))).sort("subject")
        before = part["n_events"].cast(pl.Int64).cum_sum() - part["n_events"]
        part = part.with_columns((before // events_a_shard).alias("shard"))
        part = part.with_columns(pl.col("shard").first().over("subject"))
        for i, (_, rows) in enumerate(part.group_by("shard", maintain_order=True)):
            yield f"{split}/{i}.parquet", rows


def _write_shard(stays: pl.DataFrame, events: pl.LazyFrame, path: Path) -> set[str]:
    """Write the events of some stays, subject by subject in the order of time; their codes."""
    import polars as pl
    import pyarrow.parquet as pq

    text = [pl.col(name).cast(pl.String) for name in ("activity", "detail", "flag")]
    since = pl.col("minutes") * MICROSECONDS_A_MINUTE
    rows = (
        events.with_columns(pl.col("stay_id").cast(pl.String), *text)
        .join(
            stays.lazy().select("stay_id", "subject", "arrival", "subject_id"),
            on="stay_id",
            how="inner",
        )
        .with_columns(since.round().cast(pl.Int64).alias("microseconds"))
        .collect(engine="streaming")
    )
    _check_rows(rows, stays)
    made = rows.with_columns(
        (pl.col("arrival") + pl.duration(microseconds="microseconds")).alias("time"),
        pl.concat_str("activity", "detail", separator="//", ignore_nulls=True).alias("code"),
    ).sort("subject", "time", "stay_id", "position")
    table = made.select(
        pl.col("subject").alias("subject_id"),
        "time",
        "code",
        pl.lit(None, pl.Float32).alias("numeric_value"),
        pl.lit(None, pl.String).alias("text_value"),
        layout.STAY,
        pl.col("position").cast(pl.Int32).alias(layout.POSITION),
        "activity",
        "detail",
        "flag",
        pl.col("subject_id").alias(layout.SOURCE_SUBJECT),
    ).to_arrow()
    path.parent.mkdir(exist_ok=True)
    pq.write_table(table.cast(_data_schema()), path, compression="zstd")
    return set(made["code"].unique().to_list())


def _check_rows(rows: pl.DataFrame, stays: pl.DataFrame) -> None:
    """Every event of the stays is there, at a whole microsecond."""
    import polars as pl

    n_expected = int(stays["n_events"].sum())
    if rows.height != n_expected:
        raise BadTableError(
            f"the events table holds {rows.height} events of {stays.height} stays that have "
            f"{n_expected} by the stays table. Run `edsim cohort check` on the cohort."
        )
    again = in_minutes(pl.col("microseconds"))
    n_lost = rows.select((again != pl.col("minutes")).sum()).item()
    if n_lost:
        raise BadTableError(
            f"{n_lost} of {rows.height} events are not at a whole microsecond after arrival, which "
            "is all that MEDS can say. Sources return whole microseconds: see docs/tables.md."
        )


def _data_schema() -> pa.Schema:
    """The columns of MEDS 0.4 in its own types, and ours behind them."""
    import pyarrow as pa

    return pa.schema(
        [
            pa.field("subject_id", pa.int64(), nullable=False),
            pa.field("time", pa.timestamp("us")),
            pa.field("code", pa.string(), nullable=False),
            pa.field("numeric_value", pa.float32()),
            pa.field("text_value", pa.large_string()),
            *(
                pa.field(name, pa.int32() if name == layout.POSITION else pa.string())
                for name in layout.OWN_COLUMNS
            ),
        ]
    )


def _write_metadata(
    stays: pl.DataFrame, codes: set[str], directory: Path, name: str, facts: Mapping[str, Any]
) -> None:
    _write_codes(sorted(codes), directory / layout.CODES_FILE)
    _write_splits(stays, directory / layout.SPLITS_FILE)
    _stay_attributes(stays).write_parquet(directory / layout.STAYS_FILE)
    described = {
        "dataset_name": name,
        "etl_name": "edsim-bench",
        "etl_version": __version__,
        "meds_version": _MEDS_VERSION,
        "created_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "raw_source_id_columns": [layout.STAY, layout.SOURCE_SUBJECT],
        "code_modifier_columns": ["flag"],
        "other_extension_columns": [layout.POSITION, "activity", "detail"],
    }
    for file, content in ((layout.DATASET_FILE, described), (layout.FACTS_FILE, facts)):
        text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
        (directory / file).write_text(text, encoding="utf-8")


def _write_codes(codes: list[str], path: Path) -> None:
    """Every code that occurs. There are no descriptions: a code of ours says what it is."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    types = {
        "code": pa.string(),
        "description": pa.string(),
        "parent_codes": pa.list_(pa.string()),
    }
    nothing = [None] * len(codes)
    columns = [pa.array(codes if n == "code" else nothing, kind) for n, kind in types.items()]
    pq.write_table(pa.Table.from_arrays(columns, names=list(types)), path)


def _write_splits(stays: pl.DataFrame, path: Path) -> None:
    import polars as pl
    import pyarrow as pa
    import pyarrow.parquet as pq

    splits = (
        stays.filter(pl.col("split").is_not_null())
        .select(
            pl.col("subject").alias("subject_id"),
            pl.col("split").replace_strict(layout.MEDS_SPLITS),
        )
        .unique()
        .sort("subject_id")
    )
    types = {"subject_id": pa.int64(), "split": pa.string()}
    schema = pa.schema([pa.field(name, kind, nullable=False) for name, kind in types.items()])
    pq.write_table(splits.to_arrow().cast(schema), path)


def _stay_attributes(stays: pl.DataFrame) -> pl.DataFrame:
    """The stays under the column names of a source, the subject as its number.

    A cohort keeps the group of a chief complaint and not its words: the group stands for it.
    """
    import polars as pl

    if "chief_complaint" not in stays.columns:
        stays = stays.rename({"chief_complaint_group": "chief_complaint"})
    return stays.select(
        *(pl.col("subject").alias("subject_id") if c == "subject_id" else c for c in STAY_COLUMNS)
    ).drop("split")
