"""The log built from the six tables of MIMIC-IV-ED, as the SQL of MIMICEL builds it.

This module makes every row that could be in the log; `rules` then takes out what MIMICEL takes out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from edsim.progress import Progress
from edsim.sources.assemble import stay_numbers
from edsim.sources.files import TextTable, need, parse_table
from edsim.sources.mimic.log import (
    EVENTS,
    STAYS,
    Log,
    check_ids,
    check_one_row_a_stay,
    ids,
    step,
)
from edsim.sources.mimic.values import (
    DISCHARGE,
    DISPENSATION,
    ENTER,
    RECONCILIATION,
    TRIAGE,
    VITAL,
    activity_type,
    acuity,
    instant,
    label,
    refuse,
    refuse_bad_times,
    text,
    unusable_acuity,
    unusable_notices,
    unusable_vitals,
    vital_flag,
)
from edsim.sources.vital_limits import Limits, with_measured
from edsim.tables.extract import RawFile

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, slots=True)
class Edstays:
    """The table edstays: one row a stay, sorted by id as text."""

    table: TextTable
    stays: pl.DataFrame


def read_edstays(path: Path, progress: Progress) -> Edstays:
    """Arrival, departure and attributes of every stay."""
    import polars as pl

    table, pieces = parse_table(
        path,
        role="MIMIC-IV-ED edstays",
        required=(
            "subject_id",
            "stay_id",
            "intime",
            "outtime",
            "gender",
            "race",
            "arrival_transport",
            "disposition",
        ),
        convert=lambda rows: rows.select(
            *ids(),
            arrival=instant("intime"),
            departure=instant("outtime"),
            sex=text("gender"),
            race=text("race"),
            transport=text("arrival_transport"),
            disposition=text("disposition"),
        ),
        progress=progress,
    )
    stays, name = pl.concat(pieces), table.raw.name
    check_ids(stays, name)
    refuse_bad_times(stays["arrival"], name, "intime")
    refuse_bad_times(stays["departure"], name, "outtime")
    check_one_row_a_stay(stays["stay_id"], name)
    return Edstays(table, stays.sort("stay_id"))


@dataclass(frozen=True, slots=True)
class _Reading:
    """Reads the tables beside edstays, and gathers their files and what was odd in them."""

    folder: Path
    stays: pl.DataFrame
    limits: Mapping[str, Limits]
    progress: Progress
    raw_files: list[RawFile]
    notices: list[str]

    def rows(
        self,
        table_name: str,
        needed: tuple[str, ...],
        columns: Mapping[str, pl.Expr],
        counts: Sequence[pl.Expr] = (),
    ) -> pl.DataFrame:
        """`stay`, the row of the stay, and `columns`, in the order of the file."""
        import polars as pl

        vitals = self.limits if table_name == "vitalsign" else {}

        def convert(rows: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
            rows = with_measured(rows, vitals)
            return rows.select(*ids(), **columns), rows.select(*counts)

        table, pieces = parse_table(
            need(self.folder, table_name),
            role=f"MIMIC-IV-ED {table_name}",
            required=("stay_id", "subject_id", *needed),
            convert=convert,
            progress=self.progress,
        )
        rows, name = pl.concat(kept for kept, _ in pieces), table.raw.name
        self.raw_files.append(table.raw)
        self.notices.extend(table.notices)
        if counts:
            self.notices.extend(unusable_notices((counted for _, counted in pieces), name))
        check_ids(rows, name)
        if "time" in columns:
            refuse_bad_times(rows["time"], name, "charttime")
        stay = stay_numbers(rows["stay_id"], self.stays["stay_id"])
        refuse(stay.is_null(), name, "belong to a stay that is not in edstays")
        other = rows["subject_id"] != self.stays["subject_id"].gather(stay)
        refuse(other, name, "belong to another subject than their stay does in edstays")
        return rows.drop("stay_id", "subject_id").with_columns(stay.alias("stay"))


def read_tables(folder: Path, limits: Mapping[str, Limits], progress: Progress) -> Log:
    """Every row of the six tables as an event, and the stays they belong to."""
    import polars as pl

    edstays = read_edstays(need(folder, "edstays"), progress)
    stays = edstays.stays
    reading = _Reading(
        folder, stays, limits, progress, [edstays.table.raw], list(edstays.table.notices)
    )
    triage = reading.rows(
        "triage",
        ("acuity", "chiefcomplaint"),
        {"acuity": acuity(), "chief_complaint": text("chiefcomplaint")},
        [unusable_acuity()],
    )
    check_one_row_a_stay(triage["stay"], reading.raw_files[-1].name)
    by_activity = {
        ENTER: stays.select(stay=pl.row_index(), time="arrival", detail=label(pl.col("transport"))),
        TRIAGE: triage.select(
            "stay",
            time=stays["arrival"].gather(triage["stay"]) + timedelta(seconds=1),
            detail=label(pl.col("acuity")),
        ),
        DISCHARGE: _discharges(stays, reading.rows("diagnosis", (), {})["stay"]),
        **_charted(reading),
    }
    events = pl.concat(_events(rows, activity) for activity, rows in by_activity.items())
    stays = stays.with_row_index("stay").join(triage, on="stay", how="left", maintain_order="left")
    return Log(
        version="MIMIC-IV-ED tables, log built by the rules of MIMICEL 2.1.0",
        stays=stays.select(STAYS),
        events=events,
        steps=(step("stays of edstays", stays, events.height),),
        raw_files=tuple(reading.raw_files),
        notices=reading.notices,
        is_release=False,
    )


def _charted(reading: _Reading) -> dict[str, pl.DataFrame]:
    """The rows that have a time of their own: checks and medicines."""
    time, name = instant("charttime"), text("name")
    checks = {"time": time, "flag": label(vital_flag(reading.limits))}
    medicines = {"time": time, "detail": label(name), "flag": label(text("etcdescription"))}
    dispensed = {"time": time, "detail": label(name)}
    return {
        VITAL: reading.rows(
            "vitalsign",
            ("charttime", *reading.limits),
            checks,
            unusable_vitals(reading.limits),
        ),
        RECONCILIATION: reading.rows(
            "medrecon", ("charttime", "name", "etcdescription"), medicines
        ),
        DISPENSATION: reading.rows("pyxis", ("charttime", "name"), dispensed),
    }


def _discharges(stays: pl.DataFrame, codes: pl.Series) -> pl.DataFrame:
    """One row a diagnosis code (`codes` has their stays), and one for a stay without any.

    The rows of a stay differ in their codes alone, which are not kept: their order is no matter.
    """
    import polars as pl

    n_codes = np.bincount(codes.to_numpy(), minlength=stays.height)
    stay = pl.Series(np.repeat(np.arange(stays.height), np.maximum(n_codes, 1)), dtype=pl.UInt32)
    rows = stays.select(time="departure", detail=label(pl.col("disposition")))
    return rows.select(pl.all().gather(stay)).with_columns(stay=stay)


def _events(rows: pl.DataFrame, activity: str) -> pl.DataFrame:
    """The rows of one activity in the form all events have."""
    import polars as pl

    absent = [c for c in ("detail", "flag") if c not in rows.columns]
    return rows.with_columns(
        pl.lit(activity, dtype=activity_type()).alias("activity"),
        *(pl.lit(None, dtype=pl.Categorical).alias(c) for c in absent),
    ).select(EVENTS)
