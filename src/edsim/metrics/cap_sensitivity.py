"""What a smaller cap would have made of the same rollouts: one set made at a large cap tells all.

Cut at a cap, a rollout keeps its first events and has ended if END is among them. Observed suffixes
are never cut; the target of termination is the share of them that fit. Every number stands at its
cap; beyond the cap that the rollouts were made with nothing is known.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from edsim.metrics.composition import divergences
from edsim.metrics.measure import Floats, Measure, ScoringFacts, SparseSums, share
from edsim.tables.rollouts import Scored

CAPS = (8, 16, 32, 64, 128, 256, 512, 1024)

_N = len(CAPS)


def _interval(steps: NDArray[np.integer]) -> NDArray[np.int64]:
    """The first of CAPS that holds the step-th event; as many as there are CAPS where none does."""
    return np.searchsorted(CAPS, steps, side="left").astype(np.int64)


def _reach(scored: Scored) -> Floats:
    """[rows, caps]: one, where the rollouts were made with a cap at least as large."""
    return np.tile((np.array(CAPS) <= scored.cap).astype(np.float64), (len(scored.generated), 1))


def _endings(scored: Scored, facts: ScoringFacts) -> Floats:
    """[rows, 5 x caps]: whether END comes within each cap (counted at the first that holds it),
    generated and observed minutes of that row, whether the observed suffix would have ended, and
    whether the cap can be judged."""
    ours, theirs = (
        np.eye(_N + 1)[_interval(side.lengths())][:, :_N]
        for side in (scored.generated, scored.observed)
    )
    ours *= scored.terminated[:, None]
    minutes = [side.total_minutes()[:, None] for side in (scored.generated, scored.observed)]
    return np.hstack([ours, *(ours * one for one in minutes), theirs, _reach(scored)])


def _parts(totals: Floats) -> list[Floats]:
    """By cap: ended, generated and observed minutes, ended in truth, rows that can be judged."""
    *sums, judged = np.split(totals, 5, axis=-1)
    return [*(np.cumsum(one, axis=-1) for one in sums), judged]


def _terminated(totals: Floats) -> Floats:
    ended, _, _, _, judged = _parts(totals)
    return share(ended, judged)


def _would_have_ended(totals: Floats) -> Floats:
    _, _, _, ended, judged = _parts(totals)
    return share(ended, judged)


def _duration_ratio(totals: Floats) -> Floats:
    _, generated, observed, _, judged = _parts(totals)
    return np.where(judged > 0, share(generated, observed), np.nan)


def _events(scored: Scored, facts: ScoringFacts) -> SparseSums:
    """[rows, (caps + 1) x tokens + caps]: generated events by the first cap that holds them; the
    observed ones; whether the cap can be judged."""
    n, events = facts.n_tokens, scored.generated
    row = np.repeat(np.arange(len(events)), events.lengths())
    step = np.arange(len(row)) - np.repeat(events.offsets[:-1], events.lengths()) + 1
    at = _interval(step)
    held = at < _N
    truth = scored.observed
    caps = np.flatnonzero(np.array(CAPS) <= scored.cap)
    rows = np.concatenate(
        [
            row[held],
            np.repeat(np.arange(len(truth)), truth.lengths()),
            np.repeat(np.arange(len(events)), len(caps)),
        ]
    )
    columns = np.concatenate(
        [
            at[held] * n + events.tokens[held],
            _N * n + truth.tokens.astype(np.int64),
            (_N + 1) * n + np.tile(caps, len(events)),
        ]
    )
    return SparseSums(rows, columns, np.ones(len(rows)), (len(events), (_N + 1) * n + _N))


def _jsd(totals: Floats) -> Floats:
    judged = totals[..., -_N:]
    counts = totals[..., :-_N].reshape(*totals.shape[:-1], _N + 1, -1)
    generated = np.cumsum(counts[..., :_N, :], axis=-2)
    observed = np.broadcast_to(counts[..., _N:, :], generated.shape)
    return np.where(judged > 0, divergences(generated, observed), np.nan)


def _ended_by(n_columns: int) -> list[NDArray[np.int64]]:
    """By cap: the columns that count the rollouts that ended by then."""
    return [np.arange(k + 1) for k in range(_N)]


def _fitting(n_columns: int) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """By cap: the columns that count the observed suffixes that fit, and all that are judged."""
    return [(3 * _N + np.arange(k + 1), np.array([4 * _N + k])) for k in range(_N)]


_BEYOND = "beyond the cap these rollouts were made with, or none of them ended by then"

MEASURES = (
    Measure(
        name="termination_by_cap",
        title="Termination by cap",
        sums=_endings,
        value=_terminated,
        target=_would_have_ended,
        at=CAPS,
        loss="distance",
        cells=_fitting,
        undefined=_BEYOND,
    ),
    Measure(
        name="duration_ratio_by_cap",
        title="Duration ratio by cap",
        sums=_endings,
        value=_duration_ratio,
        at=CAPS,
        loss="log_ratio",
        support=_ended_by,
        undefined=_BEYOND,
    ),
    Measure(
        name="jsd_by_cap",
        title="JSD by cap",
        sums=_events,
        value=_jsd,
        at=CAPS,
        interval="divergence",
        unit="nats",
        undefined=_BEYOND,
    ),
)
