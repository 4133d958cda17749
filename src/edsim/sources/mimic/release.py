"""The log as MIMICEL published it: one file whose rows carry the stays as well.

The stays come from the rows that hold them: subject, sex, race and transport from `Enter the ED`,
acuity and complaint from `Triage in the ED`, departure and disposition from `Discharge from the
ED`. Where edstays is at hand, the two are held against each other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from edsim.errors import BadInputError
from edsim.progress import Progress
from edsim.sources.assemble import stay_numbers
from edsim.sources.files import need, parse_table
from edsim.sources.mimic.log import EVENTS, STAYS, Log, check_ids, ids, step
from edsim.sources.mimic.tables import read_edstays
from edsim.sources.mimic.values import (
    ACTIVITIES,
    DISCHARGE,
    DISPENSATION,
    ENTER,
    RECONCILIATION,
    TRIAGE,
    VITAL,
    activity,
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
from edsim.tables.extract import Step

if TYPE_CHECKING:
    import polars as pl

_COLUMNS = (
    "stay_id",
    "subject_id",
    "timestamps",
    "activity",
    "gender",
    "race",
    "arrival_transport",
    "disposition",
    "acuity",
    "chiefcomplaint",
    "name",
    "etcdescription",
)


@dataclass(frozen=True, slots=True)
class _Piece:
    """What is kept of a piece of the file."""

    events: pl.DataFrame
    entered: pl.DataFrame
    triaged: pl.DataFrame
    discharged: pl.DataFrame
    owners: pl.DataFrame
    """Whose stays these are: stay_id and subject_id, each pair once."""
    counts: tuple[pl.DataFrame, ...]


def read_release(
    path: Path, ed: Path | None, limits: Mapping[str, Limits], progress: Progress
) -> Log:
    """The log of mimicel.csv; with `ed`, checked against the edstays table of that folder."""
    table, pieces = parse_table(
        path,
        role="MIMICEL log",
        required=(*_COLUMNS, *limits),
        convert=lambda rows: _convert(rows, limits),
        progress=progress,
    )
    name = table.raw.name
    progress.stage("gathering stays")
    notices = [*table.notices]
    for counts in zip(*(piece.counts for piece in pieces), strict=True):
        notices += unusable_notices(counts, name)
    stays, events = _gathered(pieces, name)
    steps = [step(f"stays of {name}", stays, events.height)]
    files = [table.raw]
    if ed is not None:
        edstays = read_edstays(need(ed, "edstays"), progress)
        steps = _held_against(edstays.stays, stays, events, name)
        files.append(edstays.table.raw)
        notices += edstays.table.notices
    return Log(
        version="MIMICEL log" + ("" if ed is None else ", checked against MIMIC-IV-ED edstays"),
        stays=stays,
        events=events,
        steps=tuple(steps),
        raw_files=tuple(files),
        notices=notices,
        is_release=True,
    )


def _gathered(pieces: list[_Piece], name: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Stays and events of the whole file, in the form of a `Log`."""
    import polars as pl

    events = pl.concat([piece.events for piece in pieces])
    check_ids(events, name)
    refuse_bad_times(events["time"], name, "timestamps")
    other = f"have an activity other than {', '.join(ACTIVITIES)}"
    refuse(events["activity"].is_null(), name, other)
    stays = _stays(
        pl.concat([piece.entered for piece in pieces]),
        pl.concat([piece.triaged for piece in pieces]),
        pl.concat([piece.discharged for piece in pieces]),
        name,
    )
    stay = stay_numbers(events["stay_id"], stays["stay_id"])
    refuse(stay.is_null(), name, f"belong to a stay without an '{ENTER}' row")
    owners = pl.concat([piece.owners for piece in pieces]).unique()
    n_torn = owners.height - owners["stay_id"].n_unique()
    if n_torn:
        raise BadInputError(
            f"{n_torn} of {stays.height} stays of {name} have rows of more than one subject. "
            "Compare the file with its published checksum."
        )
    return stays, events.with_columns(stay.alias("stay")).select(EVENTS)


def _convert(rows: pl.DataFrame, limits: Mapping[str, Limits]) -> _Piece:
    """One piece of the file: its events, and the rows that describe stays."""
    import polars as pl

    lazy = (
        with_measured(rows, limits)
        .with_columns(*ids(), time=instant("timestamps"), activity=activity())
        .lazy()
    )
    kind = pl.col("activity")
    detail = (
        pl.when(kind.is_in([RECONCILIATION, DISPENSATION]))
        .then(text("name"))
        .when(kind == ENTER)
        .then(text("arrival_transport"))
        .when(kind == TRIAGE)
        .then(acuity())
        .when(kind == DISCHARGE)
        .then(text("disposition"))
    )
    flag = (
        pl.when(kind == RECONCILIATION)
        .then(text("etcdescription"))
        .when(kind == VITAL)
        .then(vital_flag(limits))
    )
    arriving = lazy.filter(kind == ENTER)
    triage = lazy.filter(kind == TRIAGE)
    checks = lazy.filter(kind == VITAL)
    leaving = lazy.filter(kind == DISCHARGE)
    events, entered, triaged, discharged, owners, *counts = pl.collect_all(
        [
            lazy.select("stay_id", "time", "activity", detail=label(detail), flag=label(flag)),
            arriving.select(
                "stay_id",
                "subject_id",
                arrival="time",
                sex=text("gender"),
                race=text("race"),
                transport=text("arrival_transport"),
            ),
            triage.select("stay_id", acuity=acuity(), chief_complaint=text("chiefcomplaint")),
            leaving.select("stay_id", "time", disposition=text("disposition")),
            lazy.select("stay_id", "subject_id").unique(),
            checks.select(unusable_vitals(limits)),
            triage.select(unusable_acuity()),
        ]
    )
    return _Piece(events, entered, triaged, discharged, owners, tuple(counts))


def _stays(
    entered: pl.DataFrame, triaged: pl.DataFrame, discharged: pl.DataFrame, name: str
) -> pl.DataFrame:
    """One row a stay, from the three kinds of rows that describe it."""
    import polars as pl

    check_ids(entered, f"{name} with '{ENTER}'")
    for rows, kind in ((entered, ENTER), (triaged, TRIAGE)):
        n_double = rows.height - rows["stay_id"].n_unique()
        if n_double:
            raise BadInputError(
                f"{name} has {n_double} rows '{kind}' too many: a stay has one, and some have "
                "more. Was the file put together from two?"
            )
    left = discharged.group_by("stay_id").agg(
        departure=pl.col("time").max(),
        first=pl.col("time").min(),
        disposition=pl.col("disposition").first(),
    )
    stays = entered.join(left, on="stay_id", how="left").join(triaged, on="stay_id", how="left")
    n_open = stays["departure"].null_count()
    if n_open:
        raise BadInputError(
            f"{n_open} of {stays.height} stays of {name} have no '{DISCHARGE}' row: the file is "
            "not whole. Compare it with its published checksum."
        )
    n_torn = int((stays["departure"] != stays["first"]).sum())
    if n_torn:
        raise BadInputError(
            f"{n_torn} of {stays.height} stays of {name} have '{DISCHARGE}' rows at different "
            "times; in MIMICEL they share the time of departure."
        )
    return stays.select(STAYS).sort("stay_id")


def _held_against(
    edstays: pl.DataFrame, stays: pl.DataFrame, events: pl.DataFrame, name: str
) -> list[Step]:
    """Refuse a log of other stays than those of edstays; the steps from there to the log."""
    import polars as pl

    both = stays.join(edstays, on="stay_id", how="left", suffix=" of edstays")
    unknown = both["subject_id of edstays"].is_null()
    if unknown.any():
        of_unknown = unknown.gather(events["stay"])
        refuse(of_unknown, name, "belong to a stay that is not in edstays")
    for column, what in (
        ("subject_id", "another subject"),
        ("arrival", "another time of arrival"),
        ("departure", "another time of departure"),
    ):
        n_other = int((both[column] != both[f"{column} of edstays"]).sum())
        if n_other:
            raise BadInputError(
                f"{n_other} of {stays.height} stays have {what} in {name} than in edstays: the two "
                "do not belong to the same release."
            )
    in_time = edstays.filter(pl.col("arrival") < pl.col("departure"))
    n_absent = in_time.height - stays.join(in_time, on="stay_id", how="semi").height
    note = f"{n_absent} stays of edstays have no row in {name}" if n_absent else ""
    return [
        step("stays of edstays", edstays, events.height),
        step(f"of these, in {name}", stays, events.height, note),
    ]
