"""Age and calendar period of a stay, from the `patients` table of MIMIC-IV.

A patient's dates are shifted; `anchor_year` is a year of the shifted calendar, `anchor_age` the age
in it, and `anchor_year_group` the three real years that `anchor_year` stands for.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from edsim.errors import BadInputError
from edsim.progress import Progress
from edsim.sources.files import TextTable, need, parse_table
from edsim.sources.mimic.options import Period
from edsim.sources.mimic.values import refuse, text
from edsim.sources.vital_limits import number

if TYPE_CHECKING:
    import polars as pl

_GROUP = r"^(\d{4})\s*-\s*(\d{4})$"


@dataclass(frozen=True, slots=True)
class Patients:
    """One row a subject: subject_id, anchor_age, anchor_year, first and last real year."""

    table: TextTable
    rows: pl.DataFrame


def read_patients(folder: Path, progress: Progress) -> Patients:
    """The patients table of a folder."""
    import polars as pl

    group = text("anchor_year_group")
    table, pieces = parse_table(
        need(folder, "patients"),
        role="MIMIC-IV patients",
        required=("subject_id", "anchor_age", "anchor_year", "anchor_year_group"),
        convert=lambda rows: rows.select(
            text("subject_id").alias("subject_id"),
            number("anchor_age").cast(pl.Int16, strict=False).alias("anchor_age"),
            number("anchor_year").cast(pl.Int32, strict=False).alias("anchor_year"),
            group.str.extract(_GROUP, 1).cast(pl.Int32).alias("first_year"),
            group.str.extract(_GROUP, 2).cast(pl.Int32).alias("last_year"),
        ),
        progress=progress,
    )
    rows, name = pl.concat(pieces), table.raw.name
    refuse(rows["subject_id"].is_null(), name, "have no subject_id")
    refuse(~rows["subject_id"].is_first_distinct(), name, "repeat a subject that has a row already")
    for column in ("anchor_age", "anchor_year"):
        refuse(rows[column].is_null(), name, f"have no number in {column}")
    refuse(
        rows["first_year"].is_null() | (rows["first_year"] > rows["last_year"]),
        name,
        "have an anchor_year_group that is not a pair of years such as 2011 - 2013",
    )
    return Patients(table, rows)


def with_age_and_period(
    stays: pl.DataFrame, patients: Patients, period: Period
) -> tuple[pl.DataFrame, list[str]]:
    """The stays, in their order, with `age` and `period`; and what was odd."""
    import polars as pl

    joined = stays.join(patients.rows, on="subject_id", how="left", maintain_order="left")
    name = patients.table.raw.name
    n_absent = joined["anchor_year"].null_count()
    if n_absent == stays.height:
        raise BadInputError(
            f"{name} holds none of the subjects of the stays: the folders do not belong together."
        )
    notices = [*patients.table.notices]
    if n_absent:
        notices.append(
            f"{n_absent} of {stays.height} stays have a subject that is not in {name}: no age, no "
            "period."
        )
    years_on = pl.col("arrival").dt.year() - pl.col("anchor_year")
    shift = years_on if period == "visit" else pl.lit(0)
    joined = joined.with_columns(
        age=(pl.col("anchor_age") + years_on).cast(pl.Int16),
        period=pl.format("{} - {}", pl.col("first_year") + shift, pl.col("last_year") + shift),
    )
    n_unborn = int((joined["age"] < 0).sum())
    if n_unborn:
        raise BadInputError(
            f"{n_unborn} of {stays.height} stays lie before their subject's birth by {name}: the "
            "folders do not belong together."
        )
    return joined.drop("anchor_age", "anchor_year", "first_year", "last_year"), notices
