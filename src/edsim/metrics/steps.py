"""What goes wrong when: the event mix and the gap at each step after the launch.

Step k is the k-th event after the launch, and rows count that have one, on each side. Error at the
first step is there before anything generated has been fed back; what grows later has drifted.
"""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import NDArray

from edsim.metrics.composition import FEWEST_ROWS, divergences
from edsim.metrics.measure import Floats, Measure, RunCounts, ScoringFacts, share
from edsim.tables.rollouts import Scored
from edsim.tables.visits import Suffixes

STEPS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 25, 30, 40, 50)


def step_mix_sums(scored: Scored, facts: ScoringFacts) -> RunCounts:
    """[rows, 2 x steps x tokens]: the token of each step, generated and then observed."""
    return RunCounts(
        generated=_told_by_step(scored.generated, facts.n_tokens),
        observed=_told_by_step(scored.observed, facts.n_tokens),
        n=1,
        n_tokens=len(STEPS) * facts.n_tokens,
    )


def _told_by_step(events: Suffixes, n_tokens: int) -> Suffixes:
    """The events at STEPS alone, each with its step in its token."""
    from edsim.metrics.row_kernels import tokens_by_step

    place = np.full(max(STEPS) + 1, -1)
    place[list(STEPS)] = np.arange(len(STEPS))
    tokens, offsets = tokens_by_step(events.tokens, events.offsets, place, n_tokens)
    wide = cast("NDArray[np.int16]", tokens)  # steps times tokens may need more bits
    no_minutes = np.broadcast_to(np.float32(0), len(wide))  # of no use here, and no memory
    return Suffixes(wide, no_minutes, offsets)


def step_divergence(totals: Floats) -> Floats:
    """JSD at each step; nan where either side has fewer than 100 rows."""
    sides = totals.reshape(*totals.shape[:-1], 2, len(STEPS), -1)
    enough = (sides.sum(axis=-1) >= FEWEST_ROWS).all(axis=-2)
    found = divergences(sides[..., 0, :, :], sides[..., 1, :, :])
    return np.where(enough, found, np.nan)


def step_gap_sums(scored: Scored, facts: ScoringFacts) -> NDArray[np.float32]:
    """[rows, steps x 4]: minutes before the step's event and whether there is one, both sides."""
    sums = np.zeros((len(scored.generated), 4 * len(STEPS)), dtype=np.float32)
    for side, events in enumerate((scored.generated, scored.observed)):
        lengths, begins = events.lengths(), events.offsets[:-1]
        for k, step in enumerate(STEPS):
            row = np.flatnonzero(lengths >= step)
            sums[row, 4 * k + 2 * side] = events.minutes[begins[row] + step - 1]
            sums[row, 4 * k + 2 * side + 1] = 1
    return sums


def _mean_gap(totals: Floats, side: int) -> Floats:
    steps = totals.reshape(*totals.shape[:-1], len(STEPS), 2, 2)
    enough = (steps[..., 1] >= FEWEST_ROWS).all(axis=-1)
    return np.where(enough, share(steps[..., side, 0], steps[..., side, 1]), np.nan)


_FEW = f"fewer than {FEWEST_ROWS} rows of a side reach this step"

MEASURES = (
    Measure(
        name="step_jsd",
        title="JSD by step",
        sums=step_mix_sums,
        value=step_divergence,
        at=STEPS,
        interval="divergence",
        unit="nats",
        undefined=_FEW,
    ),
    Measure(
        name="step_gap",
        title="Mean gap by step",
        sums=step_gap_sums,
        value=lambda totals: _mean_gap(totals, 0),
        target=lambda totals: _mean_gap(totals, 1),
        at=STEPS,
        loss="distance",
        unit="min",
        undefined=_FEW,
        support=lambda n_columns: np.arange(3, n_columns, 4)[:, None],
    ),
)
