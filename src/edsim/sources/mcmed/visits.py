"""visits.csv: one row a visit, with its clock times and what the stays table wants of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from edsim.errors import BadInputError
from edsim.sources.assemble import in_minutes
from edsim.sources.mcmed.clock import instant, is_bad_time, refuse_bad_times
from edsim.sources.mcmed.labels import ABNORMAL, NORMAL
from edsim.sources.mcmed.rows import Folder
from edsim.sources.vital_limits import Limits, is_abnormal, number, with_measured

if TYPE_CHECKING:
    import polars as pl

CLOCKS = {
    "arrival": "Arrival_time",
    "roomed": "Roomed_time",
    "decision": "Dispo_time",
    "departure": "Departure_time",
}
"""The four times of a visit, and their columns."""

_TRIAGE_VITALS = {
    "Triage_Temp": "temperature",
    "Triage_HR": "heartrate",
    "Triage_RR": "resprate",
    "Triage_SpO2": "o2sat",
    "Triage_SBP": "sbp",
    "Triage_DBP": "dbp",
}
_RACES = {
    "american indian or alaska native": "Other",
    "asian": "Asian",
    "black or african american": "Black",
    "declines to state": "Not recorded",
    "native hawaiian or other pacific islander": "Other",
    "other": "Other",
    "unknown": "Not recorded",
    "white": "White",
}
COLUMNS = (
    "MRN",
    "CSN",
    "Age",
    "Gender",
    "Race",
    "Ethnicity",
    "Means_of_arrival",
    *_TRIAGE_VITALS,
    "Triage_acuity",
    "CC",
    "ED_dispo",
    *CLOCKS.values(),
)
"""The columns of visits.csv that are read."""

_OLDEST = 130
"""An age above this is not an age."""


def read_visits(folder: Folder, limits: Mapping[str, Limits]) -> pl.DataFrame:
    """All visits in the file's order: `visit` (their number), ids, clocks, attributes.

    `triage_flag` says whether the triage vital signs (Celsius) are normal; null where none was
    recorded. `los_minutes` may be negative here: who can stay is decided later.
    """
    import polars as pl

    raw, file = folder.rows("visits", COLUMNS, lambda piece: piece, allow_empty=False)
    _check_ids(raw, file)
    n_odd = raw.select((pl.col("Age").is_not_null() & _age().is_null()).sum()).item()
    if n_odd:
        folder.notices.append(
            f"{n_odd} of {raw.height} visits have an Age that is not a number from 0 to "
            f"{_OLDEST}; it counts as not recorded."
        )
    for column in CLOCKS.values():
        bad = raw.select(is_bad_time(column)).to_series()
        refuse_bad_times(int(bad.sum()), raw.height, bad.arg_max() or 0, column, file)
    gap = pl.col("departure") - pl.col("arrival")
    named = with_measured(raw.rename(_TRIAGE_VITALS), limits)
    return named.select(
        visit="row",
        stay_id="CSN",
        subject_id="MRN",
        **{name: instant(column) for name, column in CLOCKS.items()},
        acuity=pl.col("Triage_acuity").str.extract(r"^([1-5])\b").cast(pl.Int8),
        triage_flag=_triage_flag(limits),
        disposition="ED_dispo",
        transport="Means_of_arrival",
        sex=pl.when(pl.col("Gender").is_in(["F", "M"])).then("Gender"),
        age=_age(),
        race_group=_race_group(),
        chief_complaint="CC",
    ).with_columns(los_minutes=in_minutes(gap.dt.total_microseconds()))


def _age() -> pl.Expr:
    """The age in years; null where it is no number or cannot be one of a person."""
    import polars as pl

    years = pl.col("Age").cast(pl.Float64, strict=False).floor()
    return pl.when(years.is_between(0, _OLDEST)).then(years).cast(pl.Int16)


def _triage_flag(limits: Mapping[str, Limits]) -> pl.Expr:
    """Normal, abnormal, or null where no vital sign was recorded at triage."""
    import polars as pl

    recorded = pl.any_horizontal(number(vital).is_not_null() for vital in _TRIAGE_VITALS.values())
    normal_or_not = pl.when(is_abnormal(limits)).then(pl.lit(ABNORMAL)).otherwise(pl.lit(NORMAL))
    return pl.when(recorded).then(normal_or_not)


def _race_group() -> pl.Expr:
    """Hispanic by ethnicity, else by race, in the groups of the paper; null where it is empty."""
    import polars as pl

    race = pl.col("Race").str.to_lowercase()
    group = race.replace_strict(
        list(_RACES), list(_RACES.values()), default=pl.lit("Other"), return_dtype=pl.String
    )
    hispanic = pl.col("Ethnicity").str.to_lowercase().str.starts_with("hispanic")
    return pl.when(hispanic).then(pl.lit("Hispanic")).when(race.is_not_null()).then(group)


def _check_ids(raw: pl.DataFrame, name: str) -> None:
    """Every row has a visit and a patient, and no visit has two rows."""
    for column in ("CSN", "MRN"):
        missing = raw[column].is_null()
        if missing.any():
            raise BadInputError(
                f"{missing.sum()} of {raw.height} rows of {name} have no {column}, first in data "
                f"row {(missing.arg_max() or 0) + 1}."
            )
    double = ~raw["CSN"].is_first_distinct()
    if double.any():
        raise BadInputError(
            f"{double.sum()} of {raw.height} rows of {name} repeat a visit (CSN) of an earlier "
            f"row, first in data row {(double.arg_max() or 0) + 1}. Every visit has one row: was "
            "the file joined to itself?"
        )
