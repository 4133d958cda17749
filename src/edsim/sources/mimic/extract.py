"""The source `mimic` from end to end: a log, its rules, and the form every source hands on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from edsim.errors import BadInputError
from edsim.progress import Progress
from edsim.sources.assemble import in_minutes, number_stays, order_numbered
from edsim.sources.files import find
from edsim.sources.mimic.log import Log
from edsim.sources.mimic.options import MimicOptions
from edsim.sources.mimic.patients import read_patients, with_age_and_period
from edsim.sources.mimic.release import read_release
from edsim.sources.mimic.rules import apply_rules
from edsim.sources.mimic.tables import read_tables
from edsim.sources.mimic.values import TRIAGE
from edsim.sources.vital_limits import Limits, read_limits
from edsim.tables.extract import Extract

if TYPE_CHECKING:
    import polars as pl

CAP = 128
"""Longest rollout on MIMIC, as in the paper."""

NOT_RECORDED = ("UNKNOWN", "UNABLE TO OBTAIN", "PATIENT DECLINED TO ANSWER")
RACE_GROUPS = {
    "Asian": ("ASIAN",),
    "Black": ("BLACK",),
    "Hispanic/Latino": ("HISPANIC", "SOUTH AMERICAN"),
    "White": ("WHITE", "PORTUGUESE"),
}
"""Groups of the recorded race by how it begins; the rest is Other."""


def extract(options: MimicOptions, progress: Progress) -> Extract:
    """Stays and events of MIMIC-IV-ED, by the route the options name."""
    import polars as pl

    limits = read_limits(options.limits)
    patients = None if options.hosp is None else read_patients(options.hosp, progress)
    log = apply_rules(_read_log(options, limits, progress), deduplicate=options.deduplicate)
    length = pl.col("departure") - pl.col("arrival")
    described = log.stays.with_columns(
        los_minutes=in_minutes(length.dt.total_microseconds()),
        acuity=pl.col("acuity").cast(pl.Int8),
        race_group=race_group(),
    )
    raw_files, notices = log.raw_files, log.notices
    if patients is not None:
        described, odd = with_age_and_period(described, patients, options.period)
        raw_files, notices = (*raw_files, patients.table.raw), notices + odd
    progress.stage("ordering events")
    stays = number_stays(described, name="the stays")
    events = order_numbered(
        log.events, stays, ties=("activity",) if options.ties == "activity" else ()
    )
    return Extract(
        source="mimic",
        version=log.version + ("" if patients is None else "; MIMIC-IV patients"),
        stays=stays,
        events=events,
        steps=log.steps,
        raw_files=raw_files,
        options=_settings(options, limits, log),
        notices=tuple(notices),
        triage_activity=TRIAGE,
        cap=CAP,
    )


def race_group() -> pl.Expr:
    """The group of a recorded race; null where the field is empty."""
    import polars as pl

    race = pl.col("race").str.to_uppercase()
    groups = [
        pl.when(pl.any_horizontal(race.str.starts_with(b) for b in beginnings)).then(pl.lit(name))
        for name, beginnings in RACE_GROUPS.items()
    ]
    not_recorded = pl.when(race.is_in(NOT_RECORDED)).then(pl.lit("Not recorded"))
    other = pl.when(race.is_not_null()).then(pl.lit("Other"))
    return pl.coalesce(not_recorded, *groups, other)


def _read_log(options: MimicOptions, limits: dict[str, Limits], progress: Progress) -> Log:
    path = options.mimicel or _beside_the_tables(options.ed)
    if path is not None:
        return read_release(path, options.ed, limits, progress)
    if options.ties == "file":
        raise BadInputError(
            "--ties file needs mimicel.csv: the six tables have no order among one another."
        )
    assert options.ed is not None  # MimicOptions wants one of the two
    return read_tables(options.ed, limits, progress)


def _beside_the_tables(ed: Path | None) -> Path | None:
    """A mimicel.csv that lies in the folder of the tables."""
    return None if ed is None else find(ed, "mimicel")


def _settings(options: MimicOptions, limits: dict[str, Limits], log: Log) -> dict[str, object]:
    """What decided the content, for the cohort's manifest."""
    return {
        "route": "mimicel" if log.is_release else "tables",
        "period": options.period,
        "ties": options.ties,
        "deduplicate": options.deduplicate,
        "limits": {
            name: {"normal": list(limit.normal), "valid": list(limit.valid)}
            for name, limit in limits.items()
        },
    }
