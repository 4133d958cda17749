"""Stays out of the second process: originals by number, and branches of them after any row.

The same contract as `draws`, which says what a branch is. A stay is a pure function of (data
seed, stay number); a branch also of its prefix length, the branch seed and the draw.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from edsim import seeds
from edsim.errors import BadInputError
from edsim.sources.synthetic.draws import Drawn, Numbers
from edsim.sources.synthetic.mcmed_catalogue import rates

MAX_ROWS = 2_000
"""A stay is cut here, its departure included."""
CHUNK = 8_192
"""Stays drawn at a time by `draw_chunks`."""
_ROWS_A_STAY = 100


def draw(seed: int, numbers: Numbers) -> Drawn:
    """The stays of these numbers."""
    numbers = np.asarray(numbers, dtype=np.int64)
    return draw_with_keys(seed, numbers, np.zeros_like(numbers), stay_keys(seed, numbers))


def draw_chunks(seed: int, n_stays: int, size: int = CHUNK) -> Iterator[Drawn]:
    """Stays 0 to `n_stays` - 1, at most `size` at a time."""
    for begin in range(0, n_stays, size):
        yield draw(seed, np.arange(begin, min(begin + size, n_stays)))


def branch(
    data_seed: int, numbers: Numbers, prefix_lengths: Numbers, *, seed: int, draw: int = 0
) -> Drawn:
    """Each stay replayed to its `prefix_lengths`-th row, and drawn afresh from there.

    Returns whole stays: the first rows are the prefix. `seed` is the branch seed; `draw` counts
    the branches of one launch.
    """
    numbers = np.asarray(numbers, dtype=np.int64)
    prefix_lengths = np.asarray(prefix_lengths, dtype=np.int64)
    keys = np.full(len(numbers), seeds.key("synthetic mcmed branch", seed), dtype=np.uint64)
    for part in (numbers, prefix_lengths, np.full_like(numbers, draw)):
        keys = seeds.combine(keys, part)
    drawn = draw_with_keys(data_seed, numbers, prefix_lengths, keys)
    outside = (prefix_lengths < 1) | (prefix_lengths > np.diff(drawn.offsets))
    if outside.any():
        raise BadInputError(
            f"{outside.sum()} of {len(numbers)} launches have a prefix length outside 1 to the "
            f"stay's number of rows, first at launch {int(outside.argmax())}. Were they made for "
            "another cohort, or with another seed?"
        )
    return drawn


def stay_keys(seed: int, numbers: Numbers) -> seeds.U64Array:
    """The keys of the stays' own streams."""
    base = np.full(len(numbers), seeds.key("synthetic mcmed stay", seed), dtype=np.uint64)
    return seeds.combine(base, numbers)


def draw_with_keys(
    seed: int,
    numbers: Numbers,
    branch_rows: Numbers,
    branch_keys: seeds.U64Array,
    *,
    max_rows: int = MAX_ROWS,
) -> Drawn:
    """The stays of these numbers, each going on with `branch_keys` after row `branch_rows`.

    A branch row of 0 is never met. With the stay's own key the branch is the original.
    """
    from edsim.sources.synthetic.mcmed_process import ROW, STATE, STAY, draw_stays

    keys = stay_keys(seed, numbers)
    state = np.zeros(1, dtype=STATE)
    stays = np.zeros(len(numbers), dtype=STAY)
    buffer = np.zeros(min(len(numbers), CHUNK) * _ROWS_A_STAY + max_rows, dtype=ROW)
    parts, done, table = [buffer[:0]], 0, rates()
    while done < len(numbers):
        rest = slice(done, None)
        n = draw_stays(
            keys[rest],
            branch_rows[rest],
            branch_keys[rest],
            table,
            max_rows,
            state,
            buffer,
            stays[rest],
        )
        n_rows = int(stays["n_rows"][done : done + n].sum(dtype=np.int64))
        parts.append(buffer[:n_rows].copy())
        done += n
    offsets = np.concatenate([[0], np.cumsum(stays["n_rows"], dtype=np.int64)])
    return Drawn(numbers, offsets, np.concatenate(parts), stays)
