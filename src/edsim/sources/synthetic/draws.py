"""Stays out of the process: originals by number, and branches of them after any row.

A stay is a pure function of (data seed, stay number, drift); a branch also of its prefix length,
the branch seed and the draw. Nothing depends on how many stays are drawn together, or in which
order. Arrays are numpy's; numba is imported when the first stay is drawn.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edsim import seeds
from edsim.errors import BadInputError
from edsim.sources.synthetic.calendar import period_numbers
from edsim.sources.synthetic.drift import drifted
from edsim.sources.synthetic.rates import rates

Numbers = NDArray[np.int64]

MAX_ROWS = 600
"""A stay is cut here, its discharge rows included."""
CHUNK = 32_768
"""Stays drawn at a time by `draw_chunks`."""
_ROWS_A_STAY = 24

TOKENS = (
    *("Enter WALK", "Enter AMBU", "Enter OTHER"),
    *("Triage 1", "Triage 2", "Triage 3", "Triage 4-5 or missing"),
    *("Vitals NORM", "Vitals ABN"),
    *(f"Reconciliation {c}" for c in ("CARD", "LIPTHR", "ENDO", "CNS", "PAIN", "GI", "RESPOTH")),
    *(f"Dispensation {c}" for c in ("OPIOID", "NONOP", "ANTIEM", "ABX", "FLUID")),
    *(f"Dispensation {c}" for c in ("CARD", "RESP", "SEDOTH")),
    *(f"Discharge {d}" for d in ("HOME", "ADMIT", "TRANSFER", "LWBS", "ELOPED", "AMA", "OTHEXP")),
)
"""Names of the process's own token numbers. END is not among them: it follows the last row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Department:
    """Which emergency department is drawn: everything a stay depends on but its number."""

    seed: int
    drift: float = 0.0


@dataclass(frozen=True, slots=True)
class Drawn:
    """Some stays and their rows, one stay after the other."""

    numbers: Numbers
    offsets: Numbers  # [stays + 1]
    rows: NDArray[Any]  # process.ROW: second since arrival, token, item
    stays: NDArray[Any]  # process.STAY: minute of the day, latents, departure

    def stay(self, i: int) -> NDArray[Any]:
        """The rows of the i-th stay drawn."""
        return self.rows[self.offsets[i] : self.offsets[i + 1]]


def draw(department: Department, numbers: Numbers) -> Drawn:
    """The stays of these numbers."""
    numbers = np.asarray(numbers, dtype=np.int64)
    keys = stay_keys(department, numbers)
    return draw_with_keys(department, numbers, np.zeros_like(numbers), keys)


def draw_chunks(department: Department, n_stays: int, size: int = CHUNK) -> Iterator[Drawn]:
    """Stays 0 to `n_stays` - 1, at most `size` at a time."""
    for begin in range(0, n_stays, size):
        yield draw(department, np.arange(begin, min(begin + size, n_stays)))


def branch(
    department: Department,
    numbers: Numbers,
    prefix_lengths: Numbers,
    *,
    seed: int,
    draw: int | Numbers = 0,
) -> Drawn:
    """Each stay replayed to its `prefix_lengths`-th row, and drawn afresh from there.

    Returns whole stays: the first rows are the prefix. All that was drawn before the last prefix
    row stays as it was (latents, clocks already set, the home list), so a branch is a draw from
    the law of the future given the full state at launch. `seed` is the branch seed; `draw` counts
    the branches of one launch.
    """
    keys = branch_keys(numbers, prefix_lengths, seed=seed, draw=draw)
    return branch_with_keys(department, numbers, prefix_lengths, keys)


def branch_keys(
    numbers: Numbers, prefix_lengths: Numbers, *, seed: int, draw: int | Numbers = 0
) -> seeds.U64Array:
    """The keys of the streams that branches go on with."""
    keys = np.full(len(numbers), seeds.key("synthetic branch", seed), dtype=np.uint64)
    for part in (np.asarray(numbers), np.asarray(prefix_lengths), np.asarray(draw)):
        keys = seeds.combine(keys, part)
    return keys


def branch_with_keys(
    department: Department, numbers: Numbers, prefix_lengths: Numbers, keys: seeds.U64Array
) -> Drawn:
    """Branches that go on with these keys; a prefix the stay does not have is refused."""
    numbers = np.asarray(numbers, dtype=np.int64)
    prefix_lengths = np.asarray(prefix_lengths, dtype=np.int64)
    drawn = draw_with_keys(department, numbers, prefix_lengths, keys)
    outside = (prefix_lengths < 1) | (prefix_lengths > np.diff(drawn.offsets))
    if outside.any():
        raise BadInputError(
            f"{outside.sum()} of {len(numbers)} launches have a prefix length outside 1 to the "
            f"stay's number of rows, first at launch {int(outside.argmax())}. Were they made for "
            "another cohort, or with another seed or drift?"
        )
    return drawn


def stay_keys(department: Department, numbers: Numbers) -> seeds.U64Array:
    """The keys of the stays' own streams."""
    base = np.full(len(numbers), seeds.key("synthetic stay", department.seed), dtype=np.uint64)
    return seeds.combine(base, numbers)


def draw_with_keys(
    department: Department,
    numbers: Numbers,
    branch_rows: Numbers,
    branch_keys: seeds.U64Array,
    *,
    max_rows: int = MAX_ROWS,
) -> Drawn:
    """The stays of these numbers, each going on with `branch_keys` after row `branch_rows`.

    A branch row of 0 is never met. With the stay's own key the branch is the original.
    """
    from edsim.sources.synthetic.process import ROW, STATE, STAY, draw_stays

    if (numbers < 0).any():
        raise BadInputError(f"{(numbers < 0).sum()} of {len(numbers)} stay numbers are negative.")
    keys = stay_keys(department, numbers)
    periods = np.zeros_like(numbers)
    if department.drift:
        periods = period_numbers(department.seed, numbers)
    table = drifted(rates(), department.drift)
    state = np.zeros(1, dtype=STATE)
    stays = np.zeros(len(numbers), dtype=STAY)
    buffer = np.zeros(min(len(numbers), CHUNK) * _ROWS_A_STAY + max_rows, dtype=ROW)
    parts, done = [buffer[:0]], 0
    while done < len(numbers):
        rest = slice(done, None)
        n = draw_stays(
            keys[rest],
            branch_rows[rest],
            branch_keys[rest],
            periods[rest],
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
