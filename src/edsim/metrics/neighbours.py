"""Distances that process mining uses between event logs, for comparison with work done there.

The definitions are those of the package log-distance-measures (Chapela-Campa et al., 2023), each
suffix read as a case that begins at its launch: runs of two and three activities, cycle times,
remaining times, work in progress. Times and work are of rollouts that ended, and of the observed
suffixes of the same launches. Cases lasting longer than three days count as three days.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from edsim.metrics.features import without_end
from edsim.metrics.measure import Floats, Measure, RunCounts, ScoringFacts, SparseSums, share
from edsim.metrics.mix_measures import countable
from edsim.tables.rollouts import Scored
from edsim.tables.visits import END, Suffixes

BIN_MINUTES = 5.0
"""Cycle and remaining times are told apart to this."""
WINDOW_MINUTES = 60.0
"""Of work in progress."""
LONGEST_MINUTES = 72 * 60.0


def padded(events: Suffixes, n: int) -> Suffixes:
    """Rows of activities with n - 1 blanks (0) before them and, where a row ended, behind them.

    The end of a rollout that the cap stopped is not known, and is no run of activities.
    """
    kept = without_end(events)
    ended = events.tokens[events.offsets[1:] - 1] == END
    blanks = n - 1
    lengths = kept.lengths() + blanks + blanks * ended
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    tokens = np.zeros(offsets[-1], dtype=np.int16)
    place = np.arange(len(kept.tokens)) - np.repeat(kept.offsets[:-1], kept.lengths())
    tokens[np.repeat(offsets[:-1] + blanks, kept.lengths()) + place] = kept.tokens
    return Suffixes(tokens, np.zeros(len(tokens), dtype=np.float32), offsets)


def _runs(scored: Scored, facts: ScoringFacts, *, n: int) -> RunCounts | SparseSums:
    """[rows, 2 x runs]: how often a row has each run of `n`, generated and then observed."""
    sides = [padded(side, n) for side in (scored.generated, scored.observed)]
    counts = RunCounts(generated=sides[0], observed=sides[1], n=n, n_tokens=facts.n_tokens)
    return countable(counts)


def _difference(totals: Floats) -> Floats:
    """Sum of absolute differences over the sum of both sides: 0 is equal, 1 nothing in common."""
    generated, observed = np.split(totals, 2, axis=-1)
    return share(np.abs(generated - observed).sum(axis=-1), totals.sum(axis=-1))


def _times(scored: Scored, facts: ScoringFacts, *, from_launch: bool) -> SparseSums:
    """[rows, 2 x bins]: the bin of the time to the last event, from the launch or the first."""
    row = np.flatnonzero(scored.terminated)
    n = round(LONGEST_MINUTES / BIN_MINUTES) + 1
    columns = []
    for side, events in enumerate((scored.generated, scored.observed)):
        minutes = events.total_minutes()[row]
        if not from_launch:
            minutes = minutes - events.minutes[events.offsets[:-1][row]]
        within = np.floor(np.minimum(minutes, LONGEST_MINUTES) / BIN_MINUTES + 1e-6)
        columns.append(side * n + within.astype(np.int64))
    shape = (len(scored.generated), 2 * n)
    return SparseSums(np.tile(row, 2), np.concatenate(columns), np.ones(2 * len(row)), shape)


def _in_progress(scored: Scored, facts: ScoringFacts) -> SparseSums:
    """[rows, 2 x windows]: how much of each hour after the launch a row is there."""
    row = np.flatnonzero(scored.terminated)
    n = round(LONGEST_MINUTES / WINDOW_MINUTES)
    parts = []
    for side, events in enumerate((scored.generated, scored.observed)):
        hours = np.minimum(events.total_minutes()[row], LONGEST_MINUTES) / WINDOW_MINUTES
        windows = np.ceil(hours).astype(np.int64)
        window = np.arange(windows.sum()) - np.repeat(np.cumsum(windows) - windows, windows)
        held = np.minimum(np.repeat(hours, windows) - window, 1.0)
        parts.append((np.repeat(row, windows), side * n + window, held))
    at, column, held = (np.concatenate(one) for one in zip(*parts, strict=True))
    return SparseSums(at, column, held, (len(scored.generated), 2 * n))


def _moved(totals: Floats, *, width: float) -> Floats:
    """Wasserstein distance of two histograms whose bins are `width` apart."""
    sides = [share(side, side.sum(axis=-1, keepdims=True)) for side in np.split(totals, 2, -1)]
    return np.asarray(np.abs(np.cumsum(sides[0] - sides[1], axis=-1)).sum(axis=-1) * width)


_NO_END = "no rollout ended"

MEASURES = (
    *(
        Measure(
            name=f"ngram_distance_{n}",
            title=f"Distance of runs of {said}",
            sums=partial(_runs, n=n),
            value=_difference,
            interval="distance",
            slow=True,
            undefined="there are no events",
        )
        for n, said in ((2, "two"), (3, "three"))
    ),
    *(
        Measure(
            name=name,
            title=title,
            sums=partial(_times, from_launch=from_launch),
            value=partial(_moved, width=BIN_MINUTES),
            interval="distance",
            unit="min",
            slow=True,
            undefined=_NO_END,
        )
        for name, title, from_launch in (
            ("cycle_time_distance", "Distance of cycle times", False),
            ("remaining_time_distance", "Distance of remaining times", True),
        )
    ),
    Measure(
        name="work_in_progress_distance",
        title="Distance of work in progress",
        sums=_in_progress,
        value=partial(_moved, width=WINDOW_MINUTES),
        interval="distance",
        unit="min",
        slow=True,
        undefined="no rollout ended, or a side is over at once",
    ),
)
