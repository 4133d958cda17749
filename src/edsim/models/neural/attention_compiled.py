"""Attention of one query a row to what the row has kept, compiled: no row waits for the longest.

Import this module only inside a function.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np
from numpy.typing import NDArray

from edsim.compiled import compiled_loosely

Floats = NDArray[np.float32]
WORTH_A_THREAD = 64
"""Rows; fewer are done sooner than a thread is woken."""


def attend_in_threads(
    q: Floats,
    keys: Floats,
    values: Floats,
    lengths: NDArray[np.int64],
    n_heads: int,
    n_threads: int,
) -> Floats:
    """`attend`, the rows shared out between threads; rows do not know of each other."""
    n_parts = max(1, min(n_threads, len(q) // WORTH_A_THREAD))
    if n_parts == 1:
        return attend(q, keys, values, lengths, n_heads)
    bounds = np.linspace(0, len(q), n_parts + 1).astype(int)

    def part(first: int, last: int) -> Floats:
        rows = slice(first, last)
        return attend(q[rows], keys[rows], values[rows], lengths[rows], n_heads)

    return np.concatenate(list(_threads(n_parts).map(part, bounds[:-1], bounds[1:])))


@cache
def _threads(n: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(n, thread_name_prefix="attention")


@compiled_loosely
def attend(
    q: Floats, keys: Floats, values: Floats, lengths: NDArray[np.int64], n_heads: int
) -> Floats:
    """float32 [rows, width]: row i looks at the first `lengths[i]` of [rows, room, width]."""
    n_rows, width = q.shape
    size = width // n_heads
    scale = np.float32(1.0 / np.sqrt(size))
    found = np.zeros((n_rows, width), dtype=np.float32)
    scores = np.empty((n_heads, keys.shape[1]), dtype=np.float32)
    for i in range(n_rows):
        n_kept = lengths[i]
        asked, in_keys, in_values, answer = q[i] * scale, keys[i], values[i], found[i]
        for j in range(n_kept):
            key = in_keys[j]
            for head in range(n_heads):
                a, b = asked[head * size : (head + 1) * size], key[head * size : (head + 1) * size]
                score = np.float32(0.0)
                for d in range(size):
                    score += a[d] * b[d]
                scores[head, j] = score
        for head in range(n_heads):
            shares = scores[head]
            most = shares[0]
            for j in range(1, n_kept):
                most = max(most, shares[j])
            total = np.float32(0.0)
            for j in range(n_kept):
                shares[j] = np.exp(shares[j] - most)
                total += shares[j]
            for j in range(n_kept):
                shares[j] /= total
        for j in range(n_kept):
            value = in_values[j]
            for head in range(n_heads):
                share = scores[head, j]
                a = answer[head * size : (head + 1) * size]
                b = value[head * size : (head + 1) * size]
                for d in range(size):
                    a[d] += share * b[d]
    return found
