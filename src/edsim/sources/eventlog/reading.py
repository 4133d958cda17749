"""From an event log to an `Extract`."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from edsim.errors import BadInputError
from edsim.progress import Progress
from edsim.sources.assemble import number_stays, order_events
from edsim.sources.eventlog import cases, clock
from edsim.sources.eventlog.columns import ATTRIBUTES, Columns, choose
from edsim.sources.eventlog.opening import OpenLog, open_log
from edsim.sources.eventlog.options import EventLogOptions
from edsim.tables.extract import Extract, Step

if TYPE_CHECKING:
    import polars as pl

MANY_ACTIVITIES = 1_000


def read(options: EventLogOptions, progress: Progress) -> Extract:
    """Every case of the log as a stay, and every (completed) row as an event."""
    clock.check_timezone(options.timezone)
    log = open_log(options.log, options.separator, progress)
    columns = choose(options, log.columns, log.raw.name)
    progress.stage("putting events in order")
    rows, aware = _rows(log, columns, options)
    steps = [_step("events of the log", rows)]
    rows, left_out = _completed(rows, columns, options, log.raw.name)
    if "lifecycle" in columns.by_role:
        steps.append(_step("completed activities only", rows))
    _check_discharges(rows, options, log.raw.name)

    rows = rows.sort("stay_id", "time", maintain_order=True)
    attributes = [name for name in ATTRIBUTES if name in columns.by_role]
    stays, lost = cases.with_numbers(cases.stays_of(rows, attributes))
    stays = number_stays(stays, name=log.raw.name)
    events = order_events(rows, stays, ties=(), name=log.raw.name)
    notices = [columns.notice(), *log.notices, left_out, *lost, *_doubts(rows, aware, options)]
    return Extract(
        source="eventlog",
        version=f"event log {log.raw.name}",
        stays=_with_period(stays, options.timezone),
        events=events,
        steps=tuple(steps),
        raw_files=(log.raw,),
        options=_settings(columns, options),
        notices=tuple(said for said in notices if said),
        discharges=tuple(dict.fromkeys(options.discharge)),
        time_of_day=options.timezone is not None,
    )


def _rows(log: OpenLog, columns: Columns, options: EventLogOptions) -> tuple[pl.DataFrame, bool]:
    """The rows by role, in the order of the log: ids and names as text, times in UTC."""
    import polars as pl

    named = columns.by_role
    raw = log.rows(columns.wanted())
    if raw.is_empty():
        raise BadInputError(f"{log.raw.name} has no events.")
    rows = pl.DataFrame(
        {role: cases.text(raw[column]) for role, column in named.items() if role != "time"}
    )
    for role in ("case", "activity"):
        cases.refuse_null(rows, role, named[role])
    time, aware = clock.to_utc(
        raw[named["time"]],
        column=named["time"],
        time_format=options.time_format,
        timezone=options.timezone,
    )
    rows = rows.with_columns(
        pl.col("case").alias("stay_id"),
        pl.col("subject" if "subject" in named else "case").alias("subject_id"),
        time.alias("time"),
        cases.as_enum(rows["activity"]).alias("activity"),
        *(
            (cases.as_enum(rows[c]) if c in named else pl.lit(None, pl.Enum([]))).alias(c)
            for c in ("detail", "flag")
        ),
    )
    if "subject" in named:
        cases.check_subjects(rows, named["subject"])
    return rows, aware


def _completed(
    rows: pl.DataFrame, columns: Columns, options: EventLogOptions, name: str
) -> tuple[pl.DataFrame, str | None]:
    """The rows whose lifecycle transition is wanted (or not recorded), and what was left out."""
    import polars as pl

    wanted = [transition.strip().lower() for transition in options.transitions]
    if "lifecycle" not in columns.by_role or "all" in wanted:
        return rows, None
    transition = pl.col("lifecycle").str.to_lowercase()
    kept = rows.filter(transition.is_null() | transition.is_in(wanted))
    n_left_out = rows.height - kept.height
    column = columns.by_role["lifecycle"]
    if kept.is_empty():
        raise BadInputError(
            f"no row of {name} has a transition {' or '.join(wanted)} in the column '{column}'. "
            "Say which ones are events with --transitions; `all` takes every row."
        )
    if not n_left_out:
        return rows, None
    n_gone = rows["activity"].n_unique() - kept["activity"].n_unique()
    gone = f" {n_gone} activities do not occur without them." if n_gone else ""
    return kept, (
        f"{n_left_out} of {rows.height} rows are not {' or '.join(wanted)} in the column "
        f"'{column}' and are left out (`--transitions all` keeps them).{gone}"
    )


def _check_discharges(rows: pl.DataFrame, options: EventLogOptions, name: str) -> None:
    known = set(rows["activity"].unique().to_list())
    unknown = [activity for activity in options.discharge if activity not in known]
    if unknown:
        raise BadInputError(
            f"{name} has no activity {', '.join(repr(activity) for activity in unknown)}, which "
            "--discharge names. Names are compared letter by letter."
        )


def _doubts(rows: pl.DataFrame, aware: bool, options: EventLogOptions) -> list[str]:
    """What a user should know about the times and the activities."""
    said = []
    if options.timezone is None:
        how = "in UTC" if aware else "without an offset, taken as they are"
        said.append(
            f"times are {how}: the time of day counts as unreliable (give --timezone to use it)."
        )
    n_activities = rows["activity"].n_unique()
    if n_activities > MANY_ACTIVITIES:
        said.append(
            f"the log has {n_activities} different activities: is the column with the activity "
            "the right one?"
        )
    return said


def _with_period(stays: pl.DataFrame, timezone: str | None) -> pl.DataFrame:
    """Arrival on the local clock where it is known, and the calendar year as the period."""
    import polars as pl

    if timezone is not None:
        stays = stays.with_columns(clock.to_local(stays["arrival"], timezone).alias("arrival"))
    year = pl.col("arrival").dt.year().cast(pl.String)
    return stays.with_columns(pl.format("{} - {}", year, year).alias("period"))


def _step(rule: str, rows: pl.DataFrame) -> Step:
    return Step(
        rule=rule,
        n_stays=rows["stay_id"].n_unique(),
        n_subjects=rows["subject_id"].n_unique(),
        n_events=rows.height,
    )


def _settings(columns: Columns, options: EventLogOptions) -> dict[str, object]:
    """What decided the content: the columns by role, and the other flags but for the path."""
    other = dataclasses.asdict(options)
    kept = ("time_format", "timezone", "discharge", "transitions")
    return {"columns": dict(columns.by_role)} | {name: other[name] for name in kept}
