"""Which column of a log is the case, the activity, the time: by flag, or by a usual name.

A guess is made only where one column answers to the best-known name that occurs; anything else
is a question back to the user, with the columns there are (names of columns are not patient data).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from edsim.errors import BadInputError
from edsim.sources.eventlog.options import EventLogOptions

_DATUM = re.compile(r"[-+]?\d[\d .,:/+TZ-]*|.*\d:\d\d.*")

Tiers = tuple[tuple[str, ...], ...]

# Names as `_plain` writes them, best known first: a later tier counts only where an earlier one
# found nothing. XES flat tables, then the generic names, then those of bupaR and of OCEL.
USUAL_NAMES: Mapping[str, Tiers] = {
    "case": (
        ("case:concept:name",),
        ("case_id", "caseid", "case", "case_concept_name", "trace_id"),
        ("stay_id", "visit_id", "encounter_id", "csn"),
        ("patient", "patient_id"),
    ),
    "activity": (
        ("concept:name",),
        ("activity", "activity_name", "concept_name", "activity_id"),
        ("ocel:activity",),
        ("handling", "event", "event_name", "task"),
    ),
    "time": (
        ("time:timestamp",),
        ("timestamp", "timestamps", "time_timestamp", "complete_timestamp"),
        ("ocel:timestamp",),
        ("time", "datetime", "date_time", "event_time", "complete", "end_time"),
    ),
    "lifecycle": (
        ("lifecycle:transition",),
        ("lifecycle", "lifecycle_transition", "lifecycle_id", "registration_type", "transition"),
    ),
    "subject": (
        ("case:subject_id", "subject_id"),
        ("patient_id", "patient", "mrn", "person_id", "case:patient_id"),
    ),
}
NEEDED = ("case", "activity", "time")
ATTRIBUTES = (
    "acuity",
    "disposition",
    "transport",
    "sex",
    "age",
    "race_group",
    "chief_complaint",
)
ROLES = (*NEEDED, "subject", "detail", "flag", "lifecycle", *ATTRIBUTES)


@dataclass(frozen=True, slots=True)
class Columns:
    """The column of each role that has one, and which of them were guessed."""

    by_role: Mapping[str, str]
    guessed: frozenset[str]

    def wanted(self) -> list[str]:
        """The columns to read, each once."""
        return list(dict.fromkeys(self.by_role.values()))

    def notice(self) -> str | None:
        """The sentence about what was guessed."""
        said = [f"{r} = '{c}'" for r, c in self.by_role.items() if r in self.guessed]
        if not said:
            return None
        flags = ", ".join(f"--{role}" for role in self.by_role if role in self.guessed)
        return f"columns taken by their usual names: {', '.join(said)} (other ones: {flags})."


def choose(options: EventLogOptions, available: Sequence[str], name: str) -> Columns:
    """The columns of the log called `name`, or a message that says which flag to use."""
    by_role: dict[str, str] = {}
    guessed: set[str] = set()
    for role in ROLES:
        given = getattr(options, role)
        if given is not None:
            by_role[role] = _given(given, role, available, name)
        elif role in USUAL_NAMES:
            taken = set(by_role.values())
            guess = _guess(role, [c for c in available if c not in taken], available, name)
            if guess is not None:
                by_role[role] = guess
                guessed.add(role)
    return Columns(by_role, frozenset(guessed))


def _given(column: str, role: str, available: Sequence[str], name: str) -> str:
    if column not in available:
        raise BadInputError(
            f"{name} has no column '{column}', which --{role.replace('_', '-')} names. "
            f"It has {_listed(available)}."
        )
    if available.count(column) > 1:
        raise BadInputError(f"{name} has the column '{column}' more than once. Rename one of them.")
    return column


def _guess(role: str, candidates: Sequence[str], available: Sequence[str], name: str) -> str | None:
    """The one column with a usual name of this role; None where an optional role has none."""
    for tier in _tiers(role, candidates):
        found = [column for column in candidates if _plain(column) in tier]
        if len(found) == 1:
            return found[0]
        if len(found) > 1 and role in NEEDED:
            raise BadInputError(
                f"{name} has {len(found)} columns that could be the {role}: {_listed(found)}. "
                f"Say which with --{role}."
            )
        if found:  # an optional role is not worth a refusal, and is not guessed from two
            return None
    if role in NEEDED:
        raise BadInputError(
            f"{name} has no column with a usual name for the {role}. It has {_listed(available)}. "
            f"Say which with --{role}."
        )
    return None


def _tiers(role: str, candidates: Sequence[str]) -> Tiers:
    """The usual names, and for a flat OCEL table its object types as the case."""
    if role != "case":
        return USUAL_NAMES[role]
    objects = tuple(_plain(c) for c in candidates if _plain(c).startswith("ocel:type:"))
    return (*USUAL_NAMES[role], objects)


def _plain(column: str) -> str:
    """A name without the differences that mean nothing: case, and blank, dash or dot for `_`."""
    return "".join("_" if c in " -." else c for c in column.strip().lower())


def _listed(columns: Sequence[str]) -> str:
    """Column names for a message, at most forty of them.

    Where one is a number or a time the file has no header: its first row is data and is not shown.
    """
    if any(_DATUM.fullmatch(column) for column in columns):
        return f"{len(columns)} columns, but its first row seems to hold data and not their names"
    shown = ", ".join(f"'{column[:60]}'" for column in columns[:40])
    return shown if len(columns) <= 40 else f"{shown} and {len(columns) - 40} more"
