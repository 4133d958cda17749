"""Made-up stays and events for tests, in the form a source hands over."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import polars as pl

from edsim.tables.extract import EVENT_COLUMNS, STAY_COLUMNS, Extract, Step

_TYPES = {
    "arrival": pl.Datetime("us"),
    "los_minutes": pl.Float64,
    "acuity": pl.Int8,
    "age": pl.Int16,
}
ENTER, TRIAGE, VITAL, LEAVE = (
    "Enter the ED",
    "Triage in the ED",
    "Vital sign check",
    "Discharge from the ED",
)


def stays_of(subjects: Sequence[str], **columns: Sequence[Any]) -> pl.DataFrame:
    """One stay for each entry of `subjects`, numbered s0000, s0001, ..."""
    n = len(subjects)
    given: dict[str, Any] = {
        "stay_id": [f"s{i:04d}" for i in range(n)],
        "subject_id": list(subjects),
        "arrival": [datetime(2180, 1, 1) + timedelta(hours=i) for i in range(n)],
        "los_minutes": [90.0] * n,
        **columns,
    }
    return pl.DataFrame(
        {
            name: pl.Series(given.get(name, [None] * n), dtype=_TYPES.get(name, pl.String))
            for name in STAY_COLUMNS
        }
    )


def events_of(rows: Sequence[tuple[int, float, str, str | None, str | None]]) -> pl.DataFrame:
    """Events from (stay number, minutes, activity, detail, flag)."""
    schema = {
        "stay": pl.UInt32,
        "minutes": pl.Float64,
        "activity": pl.Categorical,
        "detail": pl.Categorical,
        "flag": pl.Categorical,
    }
    return pl.DataFrame(rows, schema=schema, orient="row").select(EVENT_COLUMNS)


def plain_visit(stay: int) -> list[tuple[int, float, str, str | None, str | None]]:
    """Enter, triage, a check after half an hour, home after ninety minutes."""
    return [
        (stay, 0.0, ENTER, "WALK IN", None),
        (stay, 1 / 60, TRIAGE, "3", None),
        (stay, 30.0, VITAL, None, "normal" if stay % 3 else "abnormal"),
        (stay, 90.0, LEAVE, "HOME", None),
    ]


def extract_of(subjects: Sequence[str], **columns: Sequence[Any]) -> Extract:
    """A small emergency department in which every visit is plain."""
    stays = stays_of(subjects, **{"acuity": [3] * len(subjects), **columns})
    events = events_of([row for i in range(len(subjects)) for row in plain_visit(i)])
    step = Step(
        rule="made up",
        n_stays=stays.height,
        n_subjects=stays["subject_id"].n_unique(),
        n_events=events.height,
    )
    return Extract(
        source="made-up",
        version="1",
        stays=stays,
        events=events,
        steps=(step,),
        triage_activity=TRIAGE,
        cap=128,
    )
