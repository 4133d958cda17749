"""The flags of `edsim cohort build eventlog`."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from pathlib import Path


@dataclass(frozen=True)
class EventLogOptions:
    """Where the log is, and which of its columns is what."""

    log: Path
    "The event log: .csv, .csv.gz, .parquet, .xes or .xes.gz."
    _: KW_ONLY
    case: str | None = None
    "Column that names the case (one case is one stay); guessed from the usual names."
    activity: str | None = None
    "Column that names what happened; guessed from the usual names."
    time: str | None = None
    "Column that holds when it happened; guessed from the usual names."
    time_format: str | None = None
    "How times are written, as in %d.%m.%Y %H:%M; ISO 8601 without it."
    timezone: str | None = None
    """The place's time zone, as in Europe/Amsterdam: makes the time of day usable, and is what
    times without an offset are taken to be in."""
    separator: str | None = None
    "Comma, semicolon, tab or bar; seen from the header without it."
    subject: str | None = None
    "Column that names the patient, so that no patient is in two parts of the split."
    detail: str | None = None
    "Column with more about an event, as text."
    flag: str | None = None
    "Column with a remark on an event, as text."
    discharge: tuple[str, ...] = ()
    "Activities that are discharges; repeat the flag for several."
    lifecycle: str | None = None
    "Column that says which rows begin and which complete an activity."
    transitions: tuple[str, ...] = ("complete",)
    "The rows of `lifecycle` that are events; `all` for every row."
    acuity: str | None = None
    "Column with the acuity, a number from 1 to 5."
    disposition: str | None = None
    "Column with the disposition of the case."
    transport: str | None = None
    "Column with the means of arrival."
    sex: str | None = None
    "Column with the sex."
    age: str | None = None
    "Column with the age in years."
    race_group: str | None = None
    "Column with the race group."
    chief_complaint: str | None = None
    "Column with the chief complaint."
