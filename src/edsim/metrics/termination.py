"""How rollouts stop: with END, and having reached a discharge."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from edsim.metrics.measure import Floats, Measure, ScoringFacts, share
from edsim.tables.rollouts import Scored
from edsim.tables.visits import Suffixes


def termination(scored: Scored) -> float:
    """Share of rollouts that drew END before the cap stopped them.

    The paper's section on metrics. Its target is the share of observed suffixes that end, which is
    1: END as the last event that the cap allows still counts. nan without rows.
    """
    return _share(scored.terminated)


def reached_discharge(events: Suffixes, discharges: Sequence[int]) -> float:
    """Share of suffixes that hold a discharge token; neither direction is better.

    Suffix only: a launch whose prefix holds every discharge row already has none to come, so the
    target is the share of the observed suffixes and not 1. nan where the vocabulary names no
    discharge, and without rows.
    """
    if not discharges:
        return float("nan")
    return _share(holds_any(events, discharges))


def holds_any(events: Suffixes, tokens: Sequence[int]) -> NDArray[np.bool_]:
    """Which rows hold at least one of these tokens."""
    found = np.concatenate([[0], np.cumsum(np.isin(events.tokens, tokens))])
    return np.asarray(found[events.offsets[1:]] > found[events.offsets[:-1]])


def _share(rows: NDArray[np.bool_]) -> float:
    return float(rows.mean()) if len(rows) else float("nan")


def _ended(scored: Scored, facts: ScoringFacts) -> Floats:
    """[rows, 2]: whether the rollout ended, and one."""
    return np.stack([scored.terminated, np.ones(len(scored.generated))], axis=1)


def _longer(scored: Scored, facts: ScoringFacts) -> Floats:
    """[rows, 2]: whether the observed suffix has more events than the cap allows, and one."""
    longer = scored.observed.lengths() > scored.cap
    return np.stack([longer, np.ones(len(longer))], axis=1).astype(np.float64)


def _discharged(scored: Scored, facts: ScoringFacts) -> Floats:
    """[rows, 3]: whether the generated and the observed suffix hold a discharge, and one."""
    if not facts.discharges:
        return np.zeros((len(scored.generated), 3))
    sides = [holds_any(side, facts.discharges) for side in (scored.generated, scored.observed)]
    return np.stack([*sides, np.ones(len(sides[0]))], axis=1).astype(np.float64)


MEASURES = (
    Measure(
        name="termination",
        title="Termination",
        sums=_ended,
        value=lambda totals: share(totals[..., 0], totals[..., 1]),
        target=lambda totals: share(totals[..., 1], totals[..., 1]),
        loss="distance",
        undefined="there are no rollouts",
    ),
    Measure(
        name="reached_discharge",
        title="Reached discharge",
        sums=_discharged,
        value=lambda totals: share(totals[..., 0], totals[..., 2]),
        target=lambda totals: share(totals[..., 1], totals[..., 2]),
        loss="distance",
        cells=lambda n_columns: [(np.array([1]), np.array([2]))],
        undefined="the vocabulary names no discharge token",
    ),
    Measure(
        name="longer_than_cap",
        title="Observed suffixes longer than the cap",
        sums=_longer,
        value=lambda totals: share(totals[..., 0], totals[..., 1]),
        loss="none",
        support=lambda n_columns: [np.array([0])],
        cells=lambda n_columns: [(np.array([0]), np.array([1]))],
        undefined="there are no rollouts",
    ),
)
