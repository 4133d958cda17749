"""Made-up suffixes and what metrics make of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from edsim.tables.rollouts import Scored
from edsim.tables.visits import Prefixes, Suffixes

Row = tuple[Sequence[int], Sequence[float]]
"""Tokens, and the minutes before each of them."""


def suffixes(*rows: Row) -> Suffixes:
    """Rows given as (tokens, minutes)."""
    return Suffixes(
        np.array([t for tokens, _ in rows for t in tokens], dtype=np.int16),
        np.array([m for _, minutes in rows for m in minutes], dtype=np.float32),
        np.concatenate([[0], np.cumsum([len(tokens) for tokens, _ in rows])]).astype(np.int64),
    )


def only_tokens(*rows: Sequence[int]) -> Suffixes:
    """Rows whose every gap is a minute."""
    return suffixes(*((tokens, [1.0] * len(tokens)) for tokens in rows))


def lasting(*minutes: float) -> Suffixes:
    """Rows of one event and END that take these minutes."""
    return suffixes(*(([1, 0], [m, 0.0]) for m in minutes))


def scored(generated: Suffixes, observed: Suffixes, *, n_tokens: int = 4, cap: int = 128) -> Scored:
    """Both sides of launches after the first event of as many stays."""
    n = len(observed)
    launches = np.stack([np.arange(n), np.ones(n)], axis=1).astype(np.int32)
    return Scored(generated, observed, launches, n_tokens, cap)


def prefixes(lengths: Sequence[int], stays: Sequence[int] | None = None) -> Prefixes:
    """Prefixes of these lengths, of one event again and again, a stay each where none are given."""
    rows = np.arange(len(lengths)) if stays is None else np.asarray(stays)
    n = int(np.sum(lengths))
    return Prefixes(
        np.ones(n, dtype=np.int16),
        np.ones(n, dtype=np.float32),
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        rows.astype(np.int32),
        np.array([f"s{row}".encode() for row in rows], dtype=np.bytes_),
    )
