"""What a source hands to the cohort: stays and events in one form, and how they came about.

The two frames keep this contract (checked by `cohort.contract`):

`stays`, one row a stay, sorted by `stay_id` as text (bytewise), ids unique and not null:
    stay_id str, subject_id str, arrival datetime[us], los_minutes f64, acuity i8, disposition str,
    transport str, sex str, age i16, race_group str, chief_complaint str, period str, split str.
    Missing is null. `period` is a pair of years such as "2008 - 2010"; `split` is filled only where
    the source brings a split of its own (train, val, test).

`events`, sorted by stay, then time, then the source's tie rule:
    stay u32 (row number in `stays`), minutes f64 (since arrival, whole microseconds divided by
    60,000,000; may be negative; never decreasing within a stay), activity, detail, flag
    (Categorical or Enum of str; activity never null).
Every stay has at least one event. END is never an event here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

STAY_COLUMNS = (
    "stay_id",
    "subject_id",
    "arrival",
    "los_minutes",
    "acuity",
    "disposition",
    "transport",
    "sex",
    "age",
    "race_group",
    "chief_complaint",
    "period",
    "split",
)
EVENT_COLUMNS = ("stay", "minutes", "activity", "detail", "flag")

MICROSECONDS_A_MINUTE = 60_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One row of the attrition table: what is left after a rule, in reading order."""

    rule: str
    n_stays: int
    n_subjects: int
    n_events: int
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RawFile:
    """A file that was read, by role and never by its folder."""

    role: str
    name: str
    n_bytes: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Extract:
    """Everything a source knows that a cohort needs."""

    source: str
    version: str
    stays: pl.DataFrame
    events: pl.DataFrame
    steps: tuple[Step, ...]
    raw_files: tuple[RawFile, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    """The settings that decided the content (JSON values; no paths)."""
    notices: tuple[str, ...] = ()
    """Sentences for `edsim cohort show`: what was found odd, how often, what was done."""
    triage_activity: str | None = None
    """The activity whose row ends a `triage` launch; None where the log has no such thing."""
    discharges: tuple[str, ...] = ()
    """Activities that are discharges, where the vocabulary cannot know (event logs)."""
    cap: int | None = None
    """Longest rollout; None asks for the 99.9th percentile rule."""
    time_of_day: bool = True
    """Whether the clock time of `arrival` means anything."""
