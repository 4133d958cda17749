"""Are gaps too short or too long, from the start or more and more?

A gap is held against the mean observed gap before events of its kind, so that a wrong event mix is
not taken for a wrong clock; both sides are held at the same steps of a rollout. Very long gaps are
cut on both sides: a few visits that wait for days would drown everything else. Gaps within a loop
are left out.
"""

from __future__ import annotations

import numpy as np

from edsim.metrics.exchange import Difference, by_stay, jackknifed, log_ratio
from edsim.metrics.measure import Floats
from edsim.metrics.seen import Found, Seen, is_event, steps_of
from edsim.tables.visits import Suffixes

EARLY, LATE = 3, 8
"""Steps up to the one are early, from the other on late."""
BIASED = 1.15
"""Least factor by which gaps are too long or too short."""
SHRINKS = 1.3
"""Least factor between early and late gaps."""
LONGEST = 0.95
"""Quantile of observed gaps above zero that longer ones are cut at."""


def clock_faults(seen: Seen) -> list[Found]:
    """Clock contraction, or clock bias."""
    longest = _longest_gap(seen)
    generated, observed = (
        _gap_sums(seen, events, longest) for events in (seen.without_loops(), seen.observed)
    )
    early, late, whole = (
        jackknifed(generated[:, part], observed[:, part], log_ratio)
        for part in (slice(0, 2), slice(2, 4), slice(4, 6))
    )
    shrinks = jackknifed(generated, observed, _late_over_early)
    if shrinks.below(-float(np.log(SHRINKS))) and late.below(-float(np.log(BIASED))):
        return [
            Found(
                "clock contraction",
                f"Gaps shrink as the visit goes on: {_times(early)} the true ones at the first "
                f"{EARLY} steps, {_times(late)} from step {LATE} on.",
                ("step_gap", "duration_ratio", "occupancy_error"),
            )
        ]
    least = float(np.log(BIASED))
    if not (whole.above(least) or whole.below(-least)):
        return []
    return [
        Found(
            "clock bias",
            f"Gaps are too {'short' if whole.excess < 0 else 'long'}: {_times(whole)} the true "
            f"ones before the same kinds of event, the longest cut ({_times(early)} at the first "
            f"{EARLY} steps, {_times(late)} from step {LATE} on).",
            ("duration_ratio", "step_gap", "share_zero_gaps", "occupancy_error"),
        )
    ]


def _times(ratio: Difference) -> str:
    """In words; the logarithm of a clock that stands still is minus infinity."""
    known = ratio.value < np.inf
    return f"{np.exp(ratio.value):.2f} times" if known else "an unknown number of times"


def _longest_gap(seen: Seen) -> float:
    gaps = seen.observed.minutes[seen.observed.minutes > 0]
    return float(np.quantile(gaps, LONGEST)) if len(gaps) else 1.0


def _gap_sums(seen: Seen, events: Suffixes, longest: float) -> Floats:
    """[stays, 6]: minutes and expected minutes of early steps, of late ones, and of all."""
    truth = seen.observed
    n = np.bincount(truth.tokens, minlength=seen.n_tokens)
    total = np.bincount(
        truth.tokens, weights=np.minimum(truth.minutes, longest), minlength=seen.n_tokens
    )
    mean = np.where(n > 0, total / np.maximum(n, 1), total.sum() / max(n.sum(), 1))
    gap, expected = np.minimum(events.minutes, longest), mean[events.tokens]
    step, counts = steps_of(events), is_event(events)
    columns = [
        part * amount
        for part in (counts & (step <= EARLY), counts & (step >= LATE), counts)
        for amount in (gap, expected)
    ]
    return by_stay(columns, np.repeat(seen.stay, events.lengths()), seen.n_stays)


def _late_over_early(generated: Floats, observed: Floats) -> Floats:
    with np.errstate(invalid="ignore"):
        return np.asarray(
            log_ratio(generated[..., 2:4], observed[..., 2:4]) - log_ratio(generated, observed)
        )
