"""Rows of events as numbers a classifier can read: what a continuation looks like, and a prefix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from edsim.metrics.composition import event_counts, ngrams
from edsim.tables.visits import END, Prefixes, Suffixes

Features = NDArray[np.float32]
"""[rows, features]"""

FREQUENT_PAIRS = 90
ON_LATTICE_MINUTES = 0.1 / 60
"""A gap lies on the record's time lattice within a tenth of a second."""


@dataclass(frozen=True, slots=True)
class ContinuationFeatures:
    """Which features a suffix has; `pairs` are codes of `ngrams`, `lattice` is in minutes."""

    n_tokens: int
    pairs: NDArray[np.int64]
    lattice: float

    @classmethod
    def of(cls, observed: Suffixes, *, n_tokens: int, lattice: float) -> ContinuationFeatures:
        """The features with the 90 most frequent pairs of observed suffixes."""
        _, codes = ngrams(observed, 2, n_tokens=n_tokens)
        counts = np.bincount(codes, minlength=n_tokens**2)
        frequent = np.argsort(-counts, kind="stable")[:FREQUENT_PAIRS]
        return cls(n_tokens, frequent[counts[frequent] > 0], lattice)

    def __call__(self, events: Suffixes) -> Features:
        """Counts of tokens and of pairs; minutes before each token; length; runs; gaps; first and
        last event.

        Runs and the last event do not look at END, which stands last in all that ended. The minutes
        by token are what knows which gap belongs to which event.
        """
        return np.column_stack(
            [
                event_counts(events, n_tokens=self.n_tokens),
                self._pair_counts(events),
                self._minutes_by_token(events),
                events.lengths(),
                *runs(events),
                *_gaps(events, self.lattice),
                events.tokens[events.offsets[:-1]],
                _from_the_end(without_end(events), 1),
            ]
        ).astype(np.float32)

    def names(self, tokens: Sequence[str]) -> list[str]:
        """What each feature is, in their order."""
        first, second = np.divmod(self.pairs, self.n_tokens)
        return [
            *(f"count of {token}" for token in tokens),
            *(f"{tokens[a]}, then {tokens[b]}" for a, b in zip(first, second, strict=True)),
            *(f"minutes before {token}" for token in tokens),
            *("events", "runs", "longest run", "minutes", "mean gap", "spread of gaps"),
            *("shortest gap", "longest gap", "share of zero gaps", "share of gaps on the lattice"),
            *("first event", "last event"),
        ]

    def _pair_counts(self, events: Suffixes) -> NDArray[np.int64]:
        row, code = ngrams(events, 2, n_tokens=self.n_tokens)
        place = np.full(self.n_tokens**2, -1)
        place[self.pairs] = np.arange(len(self.pairs))
        held = place[code] >= 0
        n = len(self.pairs)
        flat = np.bincount(row[held] * n + place[code[held]], minlength=len(events) * n)
        return flat.reshape(len(events), n)

    def _minutes_by_token(self, events: Suffixes) -> NDArray[np.float64]:
        n = self.n_tokens
        row = np.repeat(np.arange(len(events)), events.lengths())
        code = row * n + events.tokens
        flat = np.bincount(code, weights=events.minutes, minlength=len(events) * n)
        return np.asarray(flat, dtype=np.float64).reshape(len(events), n)


def prefix_features(prefixes: Prefixes, *, n_tokens: int) -> Features:
    """Counts of tokens; length; elapsed minutes, last and longest gap, share of zero gaps; the
    last three events (-1 where there are fewer)."""
    events = Suffixes(prefixes.tokens, prefixes.minutes, prefixes.offsets)
    lengths = events.lengths()
    return np.column_stack(
        [
            event_counts(events, n_tokens=n_tokens),
            lengths,
            events.total_minutes(),
            events.minutes[events.offsets[1:] - 1],
            np.maximum.reduceat(events.minutes, events.offsets[:-1]),
            row_sums(events, events.minutes == 0) / lengths,
            *(_from_the_end(events, k) for k in (1, 2, 3)),
        ]
    ).astype(np.float32)


def _gaps(events: Suffixes, lattice: float) -> list[NDArray[np.float64]]:
    """Sum, mean, standard deviation, minimum and maximum; shares of zero and on the lattice."""
    gaps = events.minutes.astype(np.float64)
    lengths = events.lengths()
    total = events.total_minutes()
    mean = total / lengths
    variance = row_sums(events, (gaps - np.repeat(mean, lengths)) ** 2) / lengths
    begins = events.offsets[:-1]
    return [
        total,
        mean,
        np.sqrt(variance),
        np.minimum.reduceat(gaps, begins),
        np.maximum.reduceat(gaps, begins),
        row_sums(events, gaps == 0) / lengths,
        row_sums(events, on_lattice(gaps, lattice)) / lengths,
    ]


def runs(events: Suffixes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number of runs of equal events and the longest of them, END not counted."""
    kept = without_end(events)
    row = np.repeat(np.arange(len(kept)), kept.lengths())
    begins = np.ones(len(row), dtype=np.bool_)
    begins[1:] = (row[1:] != row[:-1]) | (kept.tokens[1:] != kept.tokens[:-1])
    at = np.flatnonzero(begins)
    longest = np.zeros(len(kept), dtype=np.int64)
    np.maximum.at(longest, row[at], np.diff(np.append(at, len(row))))
    return np.bincount(row[at], minlength=len(kept)), longest


def on_lattice(minutes: NDArray[np.floating], lattice: float) -> NDArray[np.bool_]:
    """Which gaps are multiples of `lattice` minutes, to a tenth of a second."""
    gaps = minutes.astype(np.float64)
    off = np.abs(gaps - lattice * np.round(gaps / lattice))
    return np.asarray(off <= ON_LATTICE_MINUTES)


def without_end(events: Suffixes) -> Suffixes:
    """The rows without their END."""
    kept = events.tokens != END
    lengths = row_sums(events, kept).astype(np.int64)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    return Suffixes(events.tokens[kept], events.minutes[kept], offsets)


def _from_the_end(events: Suffixes, k: int) -> NDArray[np.int64]:
    """The k-th event from the end of each row, -1 where there are fewer."""
    found = np.full(len(events), -1, dtype=np.int64)
    rows = np.flatnonzero(events.lengths() >= k)
    found[rows] = events.tokens[events.offsets[1:][rows] - k]
    return found


def row_sums(events: Suffixes, values: NDArray[np.generic]) -> NDArray[np.float64]:
    """Sum of one value per event over each row."""
    sums = np.concatenate([[0.0], np.cumsum(values, dtype=np.float64)])
    return np.asarray(sums[events.offsets[1:]] - sums[events.offsets[:-1]])
