"""Encoded visits, and the two ways of looking at a launch: what was seen and what followed.

Everything is flat: `tokens` and `minutes` of all stays one after the other, with `offsets`.
`minutes` is the gap before each event (0 for a stay's first row). END is the last token of a stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edsim import seeds
from edsim.errors import BadTableError
from edsim.tables.known import Known, StayFacts

SPLITS = ("train", "val", "test")

END = 0
"""The token END, in every vocabulary."""

Tokens = NDArray[np.int16]
Minutes = NDArray[np.float32]
Offsets = NDArray[np.int64]
Launches = NDArray[np.int32]
"""[launches, 2]: stay row, prefix length."""


@dataclass(frozen=True, slots=True)
class Suffixes:
    """Runs of events, one a row: what followed each launch, observed or generated."""

    tokens: Tokens
    minutes: Minutes
    offsets: Offsets

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def lengths(self) -> NDArray[np.int64]:
        """Events of each row, END included."""
        return np.diff(self.offsets)

    def total_minutes(self) -> NDArray[np.float64]:
        """Sum of the gaps of each row, added in float64."""
        sums = np.concatenate([[0.0], np.cumsum(self.minutes, dtype=np.float64)])
        return np.asarray(sums[self.offsets[1:]] - sums[self.offsets[:-1]])

    def row(self, i: int) -> Tokens:
        """The tokens of one row."""
        return self.tokens[self.offsets[i] : self.offsets[i + 1]]

    def cut(self, n: int) -> Suffixes:
        """Each row's first `n` events."""
        lengths = np.minimum(self.lengths(), n)
        where, offsets = _ragged(self.offsets[:-1], lengths)
        return Suffixes(self.tokens[where], self.minutes[where], offsets)

    def take(self, rows: NDArray[np.integer]) -> Suffixes:
        """Some rows, in the order given."""
        where, offsets = _ragged(self.offsets[rows], self.lengths()[rows])
        return Suffixes(self.tokens[where], self.minutes[where], offsets)

    @classmethod
    def join(cls, parts: Sequence[Suffixes]) -> Suffixes:
        """The rows of all parts, one part after the other."""
        lengths = [part.lengths() for part in parts]
        return cls(
            np.concatenate([np.zeros(0, dtype=np.int16), *(part.tokens for part in parts)]),
            np.concatenate([np.zeros(0, dtype=np.float32), *(part.minutes for part in parts)]),
            np.concatenate([[0], np.cumsum(np.concatenate([[0], *lengths])[1:])]).astype(np.int64),
        )


@dataclass(frozen=True, slots=True)
class Prefixes:
    """What was observed before each launch: the first `lengths` events of its stay.

    `stay_rows` are the stays' rows in the cohort, `stay_ids` their ids as UTF-8 bytes; a model
    never learns from them, they give each launch its own chance and the table its key.
    """

    tokens: Tokens
    minutes: Minutes
    offsets: Offsets
    stay_rows: NDArray[np.int32]
    stay_ids: NDArray[np.bytes_] | None = None
    known: Known | None = None

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def lengths(self) -> NDArray[np.int64]:
        """Events of each prefix."""
        return np.diff(self.offsets)

    def launches(self) -> Launches:
        """The launches themselves: stay row, prefix length."""
        return np.stack([self.stay_rows, self.lengths().astype(np.int32)], axis=1)

    def keys(self, seed: int, draw: int = 0) -> seeds.U64Array:
        """The key of each launch's own chance: its seed, stay, prefix length and draw."""
        return launch_keys(stay_keys(self.stay_ids, seed), self.lengths(), draw)

    def elapsed_minutes(self) -> NDArray[np.float64]:
        """Minutes from the stay's first row to the last row of the prefix."""
        return Suffixes(self.tokens, self.minutes, self.offsets).total_minutes()


_ARRAYS = ("tokens", "minutes", "offsets", "start")
_SHARED = ("stay_ids", "split")


@dataclass(frozen=True, slots=True)
class Visits:
    """All stays of a cohort under one vocabulary, memory-mapped where read from disk.

    What does not depend on the vocabulary lies beside its directory: ids, split, known facts.
    """

    tokens: Tokens
    minutes: Minutes
    offsets: Offsets
    start: NDArray[np.float64]
    stay_ids: NDArray[np.bytes_] | None = None
    split: NDArray[np.int8] | None = None
    """The place of each stay's part in SPLITS."""
    known: StayFacts | None = None

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @classmethod
    def open(cls, directory: Path) -> Visits:
        """The arrays of an `encoded/<vocabulary>/` directory, mapped and not read."""
        try:
            return cls(
                **{name: _mapped(directory / f"{name}.npy") for name in _ARRAYS},
                **{name: _mapped(directory.parent / f"{name}.npy") for name in _SHARED},
                known=StayFacts.open(directory.parent),
            )
        except (OSError, ValueError) as error:
            raise BadTableError(
                f"the encoded visits of vocabulary '{directory.name}' cannot be read "
                f"({type(error).__name__}). Run `edsim cohort check` on the cohort."
            ) from None

    def n_events(self) -> NDArray[np.int64]:
        """Events of each stay, END not counted."""
        return np.diff(self.offsets) - 1

    def part(self, name: str) -> Visits:
        """The stays of one part of the split, in memory: train, val or test."""
        if self.split is None:
            raise BadTableError("these visits were made without a split.")
        rows = np.flatnonzero(self.split == SPLITS.index(name))
        where, offsets = _ragged(self.offsets[rows], np.diff(self.offsets)[rows])
        return Visits(
            self.tokens[where],
            self.minutes[where],
            offsets,
            self.start[rows],
            None if self.stay_ids is None else self.stay_ids[rows],
            self.split[rows],
        )

    def prefixes(self, launches: Launches) -> Prefixes:
        """What was seen at each launch."""
        rows, lengths = self.checked(launches)
        begin = self.offsets[rows]
        where, offsets = _ragged(begin, lengths)
        return Prefixes(
            self.tokens[where],
            self.minutes[where],
            offsets,
            rows.astype(np.int32),
            None if self.stay_ids is None else self.stay_ids[rows],
            None if self.known is None else self.known.at(rows, lengths),
        )

    def suffixes(self, launches: Launches) -> Suffixes:
        """What followed each launch, END included."""
        rows, lengths = self.checked(launches)
        begin = self.offsets[rows] + lengths
        where, offsets = _ragged(begin, self.offsets[rows + 1] - begin)
        return Suffixes(self.tokens[where], self.minutes[where], offsets)

    def checked(self, launches: Launches) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Stay rows and prefix lengths; launches that these stays do not have are refused."""
        rows, lengths = launches[:, 0].astype(np.int64), launches[:, 1].astype(np.int64)
        outside = (rows < 0) | (rows >= len(self))
        if outside.any():
            raise BadTableError(
                f"{outside.sum()} of {len(rows)} launches name a stay that the cohort does not "
                f"have, first at launch {int(outside.argmax())}. Were they made for another cohort?"
            )
        wrong = (lengths < 1) | (lengths > self.n_events()[rows])
        if wrong.any():
            raise BadTableError(
                f"{wrong.sum()} of {len(rows)} launches have a prefix length outside 1 to the "
                f"stay's number of events, first at launch {int(wrong.argmax())}."
            )
        return rows, lengths


def stay_keys(stay_ids: NDArray[np.bytes_] | None, seed: int) -> seeds.U64Array:
    """The stays' part of launch keys; an id that comes again is hashed once."""
    if stay_ids is None:
        raise BadTableError("these visits were made without ids, so launches have no chance.")
    ids, of_row = np.unique(stay_ids, return_inverse=True)
    return seeds.keys("rollout", seed, (bytes(name) for name in ids))[of_row]


def launch_keys(
    stays: seeds.U64Array, lengths: NDArray[np.int64], draw: int | NDArray[np.int64]
) -> seeds.U64Array:
    """The keys of launches from their `stay_keys`, prefix lengths and draw."""
    return seeds.combine(
        seeds.combine(stays, lengths), np.broadcast_to(np.asarray(draw), lengths.shape)
    )


def _mapped(path: Path) -> NDArray[Any]:
    array: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    return array


def _ragged(begin: NDArray[np.int64], lengths: NDArray[np.int64]) -> tuple[Offsets, Offsets]:
    """Indices of the runs [begin, begin + length) one after the other, and their offsets."""
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    where = np.arange(offsets[-1]) + np.repeat(begin - offsets[:-1], lengths)
    return where, offsets
