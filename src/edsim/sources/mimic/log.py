"""What both routes hand to the rules: the stays, and their events in the order of the files."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from edsim.sources.mimic.values import refuse, text
from edsim.tables.extract import RawFile, Step

if TYPE_CHECKING:
    import polars as pl

STAYS = (
    "stay_id",
    "subject_id",
    "arrival",
    "departure",
    "sex",
    "race",
    "transport",
    "disposition",
    "acuity",
    "chief_complaint",
)
EVENTS = ("stay", "time", "activity", "detail", "flag")


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """A log before the rules of MIMICEL.

    `stays` has the columns STAYS, one row a stay, sorted by id as text; `events` has EVENTS, where
    `stay` is the row of the stay.
    """

    version: str
    stays: pl.DataFrame
    events: pl.DataFrame
    steps: tuple[Step, ...]
    raw_files: tuple[RawFile, ...]
    notices: list[str] = field(default_factory=list)
    is_release: bool
    """Whether the log was read as MIMICEL published it, and obeys its rules already."""


def check_ids(frame: pl.DataFrame, name: str) -> None:
    """Refuse rows without a stay or a subject."""
    for column in ("stay_id", "subject_id"):
        if column in frame.columns:
            refuse(frame[column].is_null(), name, f"have no {column}")


def check_one_row_a_stay(ids: pl.Series, name: str) -> None:
    """Refuse a stay that comes twice."""
    refuse(~ids.is_first_distinct(), name, "repeat a stay that has a row already")


def ids() -> list[pl.Expr]:
    """The two identifiers, as text."""
    return [text("stay_id").alias("stay_id"), text("subject_id").alias("subject_id")]


def step(rule: str, stays: pl.DataFrame, n_events: int, note: str = "") -> Step:
    """One row of the attrition table."""
    return Step(
        rule=rule,
        n_stays=stays.height,
        n_subjects=stays["subject_id"].n_unique(),
        n_events=n_events,
        note=note,
    )
