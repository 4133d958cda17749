"""The launches a check is made on, and variations of them that must change nothing.

One launch a stay, so that a row is known by its stay row, and a stay has one future to alter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from edsim import seeds
from edsim.tables.known import Known, StayFacts
from edsim.tables.visits import END, SPLITS, Launches, Prefixes, Suffixes, Visits

Rows = NDArray[np.int64]

N_LAUNCHES = 300


def choose_launches(visits: Visits, n: int = N_LAUNCHES) -> Launches:
    """`n` launches of as many stays (of the test split where there is one), by keyed hash."""
    rows = np.flatnonzero(visits.n_events() >= 1)
    if visits.split is not None:
        tested = rows[visits.split[rows] == SPLITS.index("test")]
        rows = tested if tested.size else rows
    names = rows.astype(str) if visits.stay_ids is None else visits.stay_ids[rows]
    keys = seeds.keys("check", 0, (str(s) if isinstance(s, str) else bytes(s) for s in names))
    chosen = np.sort(np.argsort(keys, kind="stable")[:n])
    rows, keys = rows[chosen], keys[chosen]
    lengths = 1 + (seeds.mix(keys) % visits.n_events()[rows].astype(np.uint64)).astype(np.int64)
    return np.stack([rows, lengths], axis=1).astype(np.int32)


def take(prefixes: Prefixes, rows: Rows) -> Prefixes:
    """Some prefixes, in the order given; a row may be taken twice."""
    lengths = prefixes.lengths()[rows]
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    where = np.arange(offsets[-1]) + np.repeat(prefixes.offsets[rows] - offsets[:-1], lengths)
    return Prefixes(
        prefixes.tokens[where],
        prefixes.minutes[where],
        offsets,
        prefixes.stay_rows[rows],
        None if prefixes.stay_ids is None else prefixes.stay_ids[rows],
        _take_known(prefixes.known, rows),
    )


def extend(
    prefixes: Prefixes, tokens: NDArray[np.integer], minutes: NDArray[np.floating]
) -> Prefixes:
    """Every prefix with its row of `tokens` and `minutes` [rows, events] after it."""
    at = np.repeat(prefixes.offsets[1:], tokens.shape[1])
    return replace(
        prefixes,
        tokens=np.insert(prefixes.tokens, at, tokens.ravel().astype(prefixes.tokens.dtype)),
        minutes=np.insert(prefixes.minutes, at, minutes.ravel().astype(prefixes.minutes.dtype)),
        offsets=prefixes.offsets + np.arange(len(prefixes) + 1) * tokens.shape[1],
    )


def follow(prefixes: Prefixes, events: Suffixes) -> Prefixes:
    """Every prefix with the events of its row after it."""
    at = np.repeat(prefixes.offsets[1:], events.lengths())
    return replace(
        prefixes,
        tokens=np.insert(prefixes.tokens, at, events.tokens),
        minutes=np.insert(prefixes.minutes, at, events.minutes),
        offsets=prefixes.offsets + events.offsets,
    )


def lengthen(prefixes: Prefixes, n_events: int) -> Prefixes:
    """The prefixes, all of two events or more and none longer, made that long.

    What comes before the last event of a row is said again and again, in no time.
    """
    n, lengths, begins = len(prefixes), prefixes.lengths()[:, None], prefixes.offsets[:-1, None]
    place = np.arange(n_events)
    repeated = (place >= lengths - 1) & (place < n_events - 1)
    where = begins + np.where(place == n_events - 1, lengths - 1, place % (lengths - 1))
    return replace(
        prefixes,
        tokens=prefixes.tokens[where].ravel(),
        minutes=np.where(repeated, 0, prefixes.minutes[where]).astype(np.float32).ravel(),
        offsets=np.arange(n + 1, dtype=np.int64) * n_events,
    )


def append(parts: Sequence[Prefixes]) -> Prefixes:
    """The rows of all parts, one part after the other."""
    lengths = np.concatenate([part.lengths() for part in parts])
    ids = [part.stay_ids for part in parts if part.stay_ids is not None]
    return Prefixes(
        np.concatenate([part.tokens for part in parts]),
        np.concatenate([part.minutes for part in parts]),
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        np.concatenate([part.stay_rows for part in parts]),
        np.concatenate(ids) if len(ids) == len(parts) else None,
        _append_known([part.known for part in parts]),
    )


def in_turn(first: Prefixes, second: Prefixes) -> Prefixes:
    """Rows of both, one of each in turn: (first 0, second 0, first 1, second 1, ...)."""
    n = len(first)
    return take(append([first, second]), np.arange(2 * n).reshape(2, n).T.ravel())


def altered_after(visits: Visits, launches: Launches, n_tokens: int) -> Visits:
    """The launches' stays alone, in their order, with other events after each launch.

    What a model must not know is altered too: an acuity recorded after the launch.
    """
    rows, lengths = launches[:, 0].astype(np.int64), launches[:, 1]
    n_events = np.diff(visits.offsets)[rows]
    offsets = np.concatenate([[0], np.cumsum(n_events)]).astype(np.int64)
    place = np.arange(offsets[-1]) - np.repeat(offsets[:-1], n_events)
    where = place + np.repeat(visits.offsets[rows], n_events)
    tokens, minutes = visits.tokens[where].copy(), visits.minutes[where].copy()
    later = (place >= np.repeat(lengths, n_events)) & (tokens != END)
    tokens[later] = 1 + (tokens[later] + place[later]) % (n_tokens - 1)
    minutes[later] = minutes[later] * 3 + 17
    return Visits(
        tokens,
        minutes,
        offsets,
        visits.start[rows],
        None if visits.stay_ids is None else visits.stay_ids[rows],
        None,
        None if visits.known is None else _altered_facts(visits.known, rows, lengths),
    )


def whole_stays(visits: Visits, rows: Rows) -> Prefixes:
    """The longest prefix of each stay: all of it but END."""
    return visits.prefixes(np.stack([rows, visits.n_events()[rows]], axis=1).astype(np.int32))


def renamed(prefixes: Prefixes) -> Prefixes:
    """The same prefixes under the names and rows of other stays."""
    return replace(
        prefixes,
        stay_rows=np.roll(prefixes.stay_rows, 1),
        stay_ids=None if prefixes.stay_ids is None else np.roll(prefixes.stay_ids, 1),
    )


def at_minutes(prefixes: Prefixes, elapsed: float) -> Prefixes:
    """The same events, with the last gap so that `elapsed` minutes have passed."""
    minutes = prefixes.minutes.astype(np.float64)
    minutes[prefixes.offsets[1:] - 1] = 0
    before = np.add.reduceat(minutes, prefixes.offsets[:-1])
    minutes[prefixes.offsets[1:] - 1] = np.maximum(elapsed - before, 0)
    return replace(prefixes, minutes=minutes.astype(prefixes.minutes.dtype))


@dataclass(frozen=True, slots=True)
class Scene:
    """Launches, what was seen before each and what followed."""

    visits: Visits
    launches: Launches
    prefixes: Prefixes

    @classmethod
    def of(cls, visits: Visits, launches: Launches) -> Scene:
        """The scene of some launches."""
        return cls(visits, launches, visits.prefixes(launches))

    def observed_mean_gap(self) -> float:
        """Mean minutes of the observed gaps after the launches, END's left out."""
        suffixes = self.visits.suffixes(self.launches)
        gaps = suffixes.minutes[suffixes.tokens != END]
        return float(gaps.mean(dtype=np.float64)) if gaps.size else float("nan")


def _take_known(known: Known | None, rows: Rows) -> Known | None:
    if known is None:
        return None
    return Known(**{field.name: getattr(known, field.name)[rows] for field in fields(Known)})


def _append_known(parts: Sequence[Known | None]) -> Known | None:
    there = [part for part in parts if part is not None]
    if len(there) < len(parts):
        return None
    return Known(
        **{
            field.name: np.concatenate([getattr(part, field.name) for part in there])
            for field in fields(Known)
        }
    )


def _altered_facts(facts: StayFacts, rows: Rows, lengths: NDArray[np.integer]) -> StayFacts:
    chosen = {field.name: getattr(facts, field.name)[rows] for field in fields(StayFacts)}
    hidden = (chosen["triage_length"] == 0) | (chosen["triage_length"] > lengths)
    acuity = np.where(np.isnan(chosen["acuity"]), 1.0, 6.0 - chosen["acuity"])
    chosen["acuity"] = np.where(hidden, acuity, chosen["acuity"])
    return StayFacts(**chosen)
