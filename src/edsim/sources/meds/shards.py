"""One file of a MEDS dataset: its visits and events, in little memory.

What leaves this module is small: a row a visit, and events whose texts are categories.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from edsim.errors import BadInputError
from edsim.sources.assemble import in_minutes
from edsim.sources.meds import layout
from edsim.sources.meds.dataset import Dataset
from edsim.sources.moments import BETWEEN, possible

if TYPE_CHECKING:
    import polars as pl

OLDEST = 130
"""An age above this is not an age."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """The column of each role; None: the subject is the visit, or the code says it."""

    visit: str | None
    activity: str | None
    detail: str | None
    flag: str | None
    position: str | None
    source_subject: str | None

    def wanted(self) -> list[str]:
        """The columns to read, each once."""
        own = (
            self.visit,
            self.activity,
            self.detail,
            self.flag,
            self.position,
            self.source_subject,
        )
        return list(dict.fromkeys(["subject_id", "time", "code", *(c for c in own if c)]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """What one file holds.

    `stays`: stay_id, subject (int64), subject_id (text), arrival, los_minutes, sex, age, period.
    `events`: visit (row in `stays`), time, position, activity, detail, flag.
    """

    subjects: pl.Series
    stays: pl.DataFrame
    events: pl.DataFrame
    counts: dict[str, int]


def read_shard(dataset: Dataset, path: Path, columns: Columns) -> Shard:
    """Read one file and sort its rows into visits and what is left out."""
    import polars as pl

    rows = dataset.collect(dataset.scan(path, columns.wanted()), path)
    for needed in ("subject_id", "code"):
        n_null = rows[needed].null_count()
        if n_null:
            first = int(rows[needed].is_null().arg_true()[0]) + 1
            raise BadInputError(
                f"{n_null} of {rows.height} rows of {dataset.name(path)} have no {needed}, first "
                f"in row {first}. MEDS 0.4 has one in every row."
            )
    rows = rows.with_columns(pl.col("code").cast(pl.String))
    visit = pl.col("subject_id" if columns.visit is None else columns.visit)
    named = rows.with_columns(visit.cast(pl.String).str.strip_chars().alias("visit_id"))
    timed = named.filter(pl.col("time").is_not_null())
    _refuse_impossible(named["time"], dataset.name(path))
    ours = timed.filter(~pl.col("code").is_in([layout.BIRTH, layout.DEATH]))
    visited = ours.filter(pl.col("visit_id").is_not_null() & (pl.col("visit_id") != ""))
    events = _events(visited, columns)
    n_null = events["activity"].null_count()
    if n_null:
        raise BadInputError(f"{n_null} events of {dataset.name(path)} have no activity.")
    stays = _stays(visited, columns)
    subjects = rows["subject_id"].unique()
    return Shard(
        subjects=subjects,
        stays=_with_person(stays, rows),
        events=events.with_columns(
            visited["visit_id"].cast(pl.Enum(stays["stay_id"])).to_physical().alias("visit")
        ).cast({"visit": pl.UInt32}),
        counts={
            "rows": rows.height,
            "subjects": len(subjects),
            "static": rows.height - timed.height,
            "reserved": timed.height - ours.height,
            "no_visit": ours.height - visited.height,
        },
    )


def _refuse_impossible(times: pl.Series, name: str) -> None:
    import polars as pl

    bad = pl.select(~possible(pl.lit(times))).to_series().fill_null(False)
    if bad.any():
        raise BadInputError(
            f"{int(bad.sum())} of {len(times)} times of {name} do not lie {BETWEEN}, first in row "
            f"{int(bad.arg_true()[0]) + 1}. Does such a time stand for one that is not known?"
        )


def _events(rows: pl.DataFrame, columns: Columns) -> pl.DataFrame:
    """Time, place within the stay, and the three texts of an event as categories."""
    import polars as pl

    parts = pl.col("code").str.splitn("//", 2).struct
    by_code = {"activity": parts.field("field_0"), "detail": parts.field("field_1")}
    texts = []
    for name, column in (
        ("activity", columns.activity),
        ("detail", columns.detail),
        ("flag", columns.flag),
    ):
        text = by_code.get(name, pl.lit(None, pl.String)) if column is None else pl.col(column)
        text = text.cast(pl.String).str.strip_chars()
        texts.append(pl.when(text != "").then(text).cast(pl.Categorical).alias(name))
    position = pl.lit(0) if columns.position is None else pl.col(columns.position)
    return rows.select("time", position.cast(pl.Int32).alias("position"), *texts)


def _stays(rows: pl.DataFrame, columns: Columns) -> pl.DataFrame:
    """One row a visit, in the order in which they are met."""
    import polars as pl

    subject = pl.col("subject_id" if columns.source_subject is None else columns.source_subject)
    length = (pl.col("time").max() - pl.col("time").min()).dt.total_microseconds()
    keyed = rows.select(
        "visit_id",
        "time",
        pl.col("subject_id").alias("subject"),
        subject.cast(pl.String).alias("person"),
    )
    stays = keyed.group_by("visit_id", "subject", maintain_order=True).agg(
        pl.col("person").first().alias("subject_id"),
        pl.col("time").min().alias("arrival"),
        length.alias("length"),
    )
    n_double = stays.height - stays["visit_id"].n_unique()
    if n_double:
        raise BadInputError(
            f"{n_double} visits belong to more than one subject (column '{columns.visit}'). Is it "
            "the right column?"
        )
    year = pl.col("arrival").dt.year().cast(pl.String)
    return (
        stays.rename({"visit_id": "stay_id"})
        .with_columns(
            pl.format("{} - {}", year, year).alias("period"),
            in_minutes(pl.col("length")).alias("los_minutes"),
        )
        .drop("length")
    )


def _with_person(stays: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """Sex and age of the visits' subjects, where birth and sex are written in the usual codes."""
    import polars as pl

    born = (
        rows.filter((pl.col("code") == layout.BIRTH) & pl.col("time").is_not_null())
        .group_by("subject_id")
        .agg(pl.col("time").first().alias("born"))
    )
    is_sex = pl.any_horizontal(pl.col("code").str.starts_with(code) for code in layout.SEX_CODES)
    sex = (
        rows.filter(is_sex)
        .group_by("subject_id", maintain_order=True)
        .agg(pl.col("code").first().str.splitn("//", 2).struct.field("field_1").alias("sex"))
    )
    joined = stays
    for person in (born, sex):
        joined = joined.join(
            person, left_on="subject", right_on="subject_id", how="left", maintain_order="left"
        )
    then, now = pl.col("born").dt, pl.col("arrival").dt
    had_birthday = now.month() * 100 + now.day() >= then.month() * 100 + then.day()
    years = now.year() - then.year() - pl.when(had_birthday).then(0).otherwise(1)
    age = pl.when(years.is_between(0, OLDEST)).then(years).cast(pl.Int16)
    return joined.with_columns(age.alias("age")).drop("born")
