"""Launch sets: from which prefixes of which stays a simulator is started.

A launch is a stay and a prefix length; a stay of n events (END not counted) has n of them. All
sets are of the test split but `val-N`. Whether a launch is in a set depends on its own stay and
on the cohort's test split alone, never on chance: samples take the smallest keyed hashes, so a
smaller sample is part of every larger one, on every machine.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from edsim import seeds
from edsim.errors import BadInputError
from edsim.tables.visits import Launches

STORED_SETS = ("all", "matched-100k", "triage", "late", "long-prefix", "val-2000")
"""The sets that a cohort directory holds."""


class NoLaunchesError(BadInputError):
    """A launch set is empty for this cohort; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchStays:
    """What launch sets need to know of the stays, in the order of `stays.parquet`."""

    stay_ids: Sequence[str]
    test: NDArray[np.bool_]
    val: NDArray[np.bool_]
    n_events: NDArray[np.integer]
    """END not counted."""
    triage: NDArray[np.integer] | None
    """Prefix length that ends at the triage row; 0 where there is none, or no acuity."""
    seed: int = 0


Chooser = Callable[[LaunchStays, int], Launches]


def launch_set(name: str, stays: LaunchStays) -> Launches:
    """The launches of one set, [launches, 2]: stay row and prefix length, sorted by both.

    Names are the keys of `KINDS`, with a number for N: `matched-100k`, `matched-2500`, `val-2000`.
    """
    kind, n = _parse(name)
    launches = KINDS[kind].choose(stays, n)
    if not len(launches):
        raise NoLaunchesError(f"launch set '{name}' is empty: {KINDS[kind].empty}.")
    return launches


def wanted_launches(name: str) -> int:
    """The N of a set's name, 0 where it has none; the set is smaller where fewer exist."""
    return _parse(name)[1]


def _parse(name: str) -> tuple[str, int]:
    """The kind of set, and its N (0 where the kind has none)."""
    if name in KINDS and not name.endswith("-N"):
        return name, 0
    match = re.fullmatch(r"(\w+)-([1-9][0-9]{0,11})([km]?)", name)
    if match and f"{match[1]}-N" in KINDS:
        return f"{match[1]}-N", int(match[2]) * {"": 1, "k": 1_000, "m": 1_000_000}[match[3]]
    close = difflib.get_close_matches(name, (*KINDS, *STORED_SETS), n=1)
    hint = f" (did you mean '{close[0]}'?)" if close else ""
    raise BadInputError(
        f"there is no launch set '{name}'{hint}. Known: {', '.join(KINDS)}, where N is a number "
        "such as 2500 or 100k."
    )


def _every(stays: LaunchStays, among: NDArray[np.bool_]) -> Launches:
    """All launches of some stays."""
    rows = np.flatnonzero(among).astype(np.int32)
    n_events = stays.n_events[rows].astype(np.int64)
    ends = np.cumsum(n_events)
    launches = np.empty((int(n_events.sum()), 2), dtype=np.int32)
    launches[:, 0] = np.repeat(rows, n_events)
    launches[:, 1] = np.arange(1, len(launches) + 1) - np.repeat(ends - n_events, n_events)
    return launches


def _smallest(stays: LaunchStays, launches: Launches, n: int) -> Launches:
    """The `n` launches with the smallest keyed hash, all of them where there are fewer."""
    if n >= len(launches):
        return launches
    rows, of_launch = np.unique(launches[:, 0], return_inverse=True)
    ids = seeds.keys("launch", stays.seed, (stays.stay_ids[row] for row in rows.tolist()))
    keys = seeds.combine(ids[of_launch], launches[:, 1])
    limit = np.partition(keys, n - 1)[n - 1]
    chosen = keys < limit
    ties = np.flatnonzero(keys == limit)
    chosen[ties[: n - int(chosen.sum())]] = True
    sample: Launches = launches[chosen]
    return sample


def _all(stays: LaunchStays, n: int) -> Launches:
    return _every(stays, stays.test)


def _matched(stays: LaunchStays, n: int) -> Launches:
    return _smallest(stays, _every(stays, stays.test), n)


def _validation(stays: LaunchStays, n: int) -> Launches:
    return _smallest(stays, _every(stays, stays.val), n)


def _triage(stays: LaunchStays, n: int) -> Launches:
    if stays.triage is None:
        raise NoLaunchesError(
            "launch set 'triage' needs to know which event is the triage, and the source of this "
            "cohort names none."
        )
    rows = np.flatnonzero(stays.test & (stays.triage > 0))
    return np.column_stack([rows, stays.triage[rows]]).astype(np.int32)


def _late(stays: LaunchStays, n: int) -> Launches:
    launches = _every(stays, stays.test)
    n_events = stays.n_events[launches[:, 0]].astype(np.int64)
    return launches[4 * launches[:, 1].astype(np.int64) >= 3 * n_events]


def _long_prefix(stays: LaunchStays, n: int) -> Launches:
    launches = _every(stays, stays.test)
    of_length = np.bincount(launches[:, 1])
    at_least = np.cumsum(of_length[::-1])[::-1]
    shortest = int((4 * at_least > len(launches)).sum())
    return launches[launches[:, 1] >= shortest]


@dataclass(frozen=True, slots=True)
class Kind:
    """One way of choosing launches: what it is, why it may be empty, and how it is done."""

    meaning: str
    empty: str
    choose: Chooser


_NO_TEST = "the test split has no stays"
_SHORT = "every launch of the test split has the same prefix length, or there is none"

KINDS: dict[str, Kind] = {
    "all": Kind("every prefix of every test stay", _NO_TEST, _all),
    "matched-N": Kind("N launches of `all`, by keyed hash, nested in N", _NO_TEST, _matched),
    "triage": Kind(
        "the prefix that ends at the triage row, where the acuity is recorded",
        "no test stay has a triage row and a recorded acuity",
        _triage,
    ),
    "late": Kind("at least three quarters of the stay's events are seen", _NO_TEST, _late),
    "long-prefix": Kind("prefix length in the top quarter of `all`", _SHORT, _long_prefix),
    "val-N": Kind(
        "N launches of validation stays, by keyed hash",
        "the validation split has no stays",
        _validation,
    ),
}
