"""Encoding: the events of a cohort as flat arrays of tokens and gaps, and what each rule caught.

Everything is done on whole columns of numbers; texts are looked at once per kind of event
(`kinds.py`), so that tens of millions of rows take seconds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from edsim.encoding.caught import Caught, count_caught
from edsim.encoding.kinds import Kinds, find_kinds
from edsim.encoding.vocabulary import Vocabulary
from edsim.errors import BadTableError
from edsim.tables.visits import END, Minutes, Offsets, Tokens, Visits
from edsim.tables.whole_file import cannot_write

if TYPE_CHECKING:
    import polars as pl


def encode(
    events: pl.DataFrame,
    n_stays: int,
    vocabulary: Vocabulary,
    *,
    kinds: Kinds | None = None,
    subjects: NDArray[np.integer] | None = None,
) -> tuple[Visits, Caught]:
    """The visits under one vocabulary, and what each of its rules caught."""
    return next(encode_each(events, n_stays, [vocabulary], kinds=kinds, subjects=subjects))


def encode_each(
    events: pl.DataFrame,
    n_stays: int,
    vocabularies: Sequence[Vocabulary],
    *,
    kinds: Kinds | None = None,
    subjects: NDArray[np.integer] | None = None,
) -> Iterator[tuple[Visits, Caught]]:
    """The visits under several vocabularies, one after the other, sharing all they can.

    `events` keeps the contract of `tables.extract`. `kinds` are those of `events` where they were
    found before. `subjects` is the number of each stay's subject, [stays], for the counts.
    """
    clock = _read_clock(events, n_stays)
    kinds = kinds or find_kinds(events)
    for vocabulary in vocabularies:
        assigned = vocabulary.assign(kinds.table)
        tokens = _with_ends(assigned["token"].to_numpy()[kinds.of_row], clock)
        visits = Visits(tokens, clock.minutes, clock.offsets, clock.start)
        yield visits, count_caught(vocabulary, kinds, assigned, clock.stay, n_stays, subjects)


@dataclass(frozen=True, slots=True)
class _Clock:
    """Where the rows of each stay lie, and when: the same under every vocabulary."""

    stay: NDArray[np.uint32]
    offsets: Offsets
    minutes: Minutes
    start: NDArray[np.float64]


def _read_clock(events: pl.DataFrame, n_stays: int) -> _Clock:
    stay = events["stay"].to_numpy()
    since_arrival = events["minutes"].to_numpy()
    n_events = np.bincount(stay, minlength=n_stays) if len(stay) else np.zeros(n_stays, np.int64)
    if len(n_events) > n_stays or not n_events.all() or (stay[1:] < stay[:-1]).any():
        raise BadTableError(
            "events and stays do not fit each other: every stay has at least one event, and events "
            "lie in the order of the stays. See docs/tables.md."
        )
    offsets = np.concatenate([[0], np.cumsum(n_events + 1)]).astype(np.int64)
    first = offsets[:-1] - np.arange(n_stays)
    gaps = np.zeros(len(stay), dtype=np.float32)
    # subtracted in float64, rounded once
    np.subtract(since_arrival[1:], since_arrival[:-1], out=gaps[1:], casting="same_kind")
    gaps[first] = 0.0
    backwards = gaps < 0
    if backwards.any():
        raise BadTableError(
            f"{backwards.sum()} of {len(stay)} events come before the event they follow, first in "
            f"row {int(backwards.argmax())}. Sort each stay by time."
        )
    minutes = np.zeros(len(stay) + n_stays, dtype=np.float32)
    minutes[_is_event(offsets)] = gaps
    return _Clock(stay, offsets, minutes, since_arrival[first])


def _is_event(offsets: Offsets) -> NDArray[np.bool_]:
    """Which places of the flat arrays are events and not END."""
    found = np.ones(offsets[-1], dtype=np.bool_)
    found[offsets[1:] - 1] = False
    return found


def _with_ends(tokens: Tokens, clock: _Clock) -> Tokens:
    found = np.full(clock.offsets[-1], END, dtype=np.int16)
    found[_is_event(clock.offsets)] = tokens
    return found


def write_encoded(directory: Path, visits: Visits, vocabulary: Vocabulary) -> None:
    """Write `encoded/<vocabulary>/`: four arrays and `vocabulary.json`, each whole or absent."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for name in ("tokens", "minutes", "offsets", "start"):
            _replace(directory / f"{name}.npy", getattr(visits, name))
        _replace(directory / "vocabulary.json", vocabulary.to_json())
    except OSError as error:
        raise cannot_write(directory, error) from None


def read_vocabulary(directory: Path) -> Vocabulary:
    """The vocabulary of an `encoded/<vocabulary>/` directory; its arrays: `Visits.open`."""
    try:
        text = (directory / "vocabulary.json").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadTableError(
            f"vocabulary.json of '{directory.name}' cannot be read ({type(error).__name__}). Run "
            "`edsim cohort check` on the cohort."
        ) from None
    return Vocabulary.from_json(text)


def _replace(path: Path, content: NDArray[Any] | str) -> None:
    temporary = path.with_name(path.name + ".part")
    with temporary.open("wb") as file:
        if isinstance(content, str):
            file.write(content.encode())
        else:
            np.save(file, content, allow_pickle=False)
    temporary.replace(path)
