"""What is wrong with a simulator, in words: one check for each fault of `tables.verdicts`.

A fault is reported where an effect is large enough to matter *and* beyond what chance makes of the
stays at hand: the generated and the observed suffixes of whole stays change places (`exchange`).
Limits are written beside each check. Checks look for causes: rows that go round in a circle are
taken out before drift and stopping are judged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from edsim.metrics.clock_faults import clock_faults
from edsim.metrics.ending_faults import more_often, without_discharge
from edsim.metrics.exchange import by_stay, exchanged, jackknifed, log_ratio, total_variation
from edsim.metrics.measure import Floats
from edsim.metrics.seen import FEWEST_STAYS, Found, Seen
from edsim.tables.verdicts import FAULTS, Verdict
from edsim.tables.visits import END, Suffixes

OFF = 0.03
"""Least share of events at one step that have to be others."""
DRIFTS = 0.05
"""Least share by which a later step is worse than the first."""
LATER = (8, 10, 12, 15, 20, 25, 30, 40)
FEWEST_AT_STEP = 150
"""Stays that have to get as far as a step that is looked at, on both sides."""
HELD = 0.05
"""Least share of rows that have to."""
LOOPS = 0.01
"""Least share of rollouts in a loop."""
NEVER = 0.02
"""Least share of rollouts that the cap stops, over the observed share that is longer."""
LENGTHS = 1.18
"""Least factor by which the mean number of events is off."""
IGNORED = 0.3
"""Share of the observed dependence on the prefix under which it counts as ignored."""
SHUFFLES = 20


def diagnosed(seen: Seen, producer: str) -> tuple[Verdict, ...]:
    """Every fault found, in the order of FAULTS; one verdict without a fault where none is."""
    if seen.n_stays < FEWEST_STAYS:
        sentence = (
            f"Too few stays to tell anything: {seen.n_stays} are launched from, and "
            f"{FEWEST_STAYS} are needed."
        )
        return (Verdict(producer=producer, fault="", sentence=sentence),)
    found = [one for check in CHECKS for one in check(seen)]
    order = list(FAULTS)
    found.sort(key=lambda one: order.index(one.fault))
    verdicts = tuple(
        Verdict(producer=producer, fault=one.fault, sentence=one.sentence, evidence=one.evidence)
        for one in found
    )
    if verdicts:
        return verdicts
    sentence = (
        f"Nothing found on {len(seen.observed):,} launches of {seen.n_stays:,} stays: first "
        "events, drift, loops, stopping, discharges, clock and dependence on the prefix are within "
        "their limits."
    )
    return (Verdict(producer=producer, fault="", sentence=sentence),)


def step_events(seen: Seen, events: Suffixes, step: int) -> NDArray[np.float64]:
    """[stays, tokens]: the events at one step (the first is 1), END left to the stopping check."""
    rows = np.flatnonzero(events.lengths() >= step)
    tokens = events.tokens[events.offsets[rows] + step - 1].astype(np.int64)
    cell = seen.stay[rows] * seen.n_tokens + tokens
    sums = np.bincount(cell[tokens != END], minlength=seen.n_stays * seen.n_tokens)
    return sums.reshape(seen.n_stays, seen.n_tokens).astype(np.float64)


def _first_step(seen: Seen) -> list[Found]:
    generated, observed = (step_events(seen, one, 1) for one in (seen.generated, seen.observed))
    off = exchanged(generated, observed, total_variation)
    if not off.above(OFF):
        return []
    shares = [side.sum(axis=0) / side.sum() for side in (generated, observed)]
    worst = int(np.abs(shares[0] - shares[1]).argmax())
    return [
        Found(
            "first-step miscalibration",
            f"{off.excess:.1%} of first events would have to be others. Most of all "
            f"'{seen.tokens[worst]}': {shares[0][worst]:.1%} generated, {shares[1][worst]:.1%} "
            "observed. The model is off before any error can be fed back.",
            ("step_jsd",),
        )
    ]


def _drift(seen: Seen) -> list[Found]:
    kept = seen.without_loops()
    first, grown, worst = 0.0, 0.0, 0
    for step in (1, *LATER):
        sides = [step_events(seen, events, step) for events in (kept, seen.observed)]
        if not all(_enough(seen, side) for side in sides):
            break
        off = exchanged(sides[0], sides[1], total_variation)
        if step == 1:
            first = max(off.excess, 0.0)
        elif off.above(max(first + DRIFTS, 2 * first)) and off.excess - first > grown:
            grown, worst = off.excess - first, step
    if not worst:
        return []
    return [
        Found(
            "compounding drift",
            f"Events move away from the truth as they are fed back: at step {worst}, "
            f"{first + grown:.1%} would have to be others, at the first step {first:.1%}.",
            ("step_jsd", "jsd"),
        )
    ]


def _enough(seen: Seen, side: Floats) -> bool:
    n_stays = np.count_nonzero(side.any(axis=1))
    return bool(n_stays >= FEWEST_AT_STEP and side.sum() >= HELD * len(seen.observed))


def _loops(seen: Seen) -> list[Found]:
    loops = seen.loops()
    inside = loops.length > 0
    if inside.mean() < LOOPS or len(np.unique(seen.stay[inside])) < FEWEST_STAYS:
        return []
    at = seen.generated.offsets[:-1][inside] + loops.begin[inside]
    starts = np.bincount(seen.generated.tokens[at], minlength=seen.n_tokens)
    worst = int(starts.argmax())
    where = float(np.median(loops.begin[inside] + 1))
    return [
        Found(
            "absorbing loop",
            f"{inside.mean():.1%} of rollouts fall into a circle and stay in it until the cap of "
            f"{seen.cap}. '{seen.tokens[worst]}' starts {starts[worst] / starts.sum():.0%} of "
            f"these loops, the middle one at step {where:.0f}. Not 1 in 1,000 true visits repeats "
            f"itself for {seen.loop_length()} events.",
            ("share_tail_10", "share_runs_10", "longest_run", "termination"),
        )
    ]


def _endings(seen: Seen) -> list[Found]:
    """How visits stop, and whether with a discharge; those cut short have lost more than that."""
    stopping = _stopping(seen)
    if any(one.fault == "early stopping" for one in stopping):
        return stopping
    return stopping + without_discharge(seen)


def _stopping(seen: Seen) -> list[Found]:
    """Never, early or late; rows in a loop are judged as loops."""
    looping = seen.loops().length > 0
    capped, longer = ~seen.terminated & ~looping, seen.observed.lengths() > seen.cap
    one = np.ones(len(capped))
    sides = [by_stay([side, one], seen.stay, seen.n_stays) for side in (capped, longer)]
    never = exchanged(sides[0], sides[1], more_often)
    if not never.above(NEVER):
        return _lengths(seen, ~looping)
    return [
        Found(
            "never stopping",
            f"{capped.mean():.1%} of rollouts go on to the cap of {seen.cap} without going round "
            f"in a circle; {longer.mean():.1%} of true suffixes are that long.",
            ("termination", "occupancy_error"),
        )
    ]


def _lengths(seen: Seen, rows: NDArray[np.bool_]) -> list[Found]:
    if not rows.any():
        return []
    generated, observed = (
        np.minimum(events.lengths(), seen.cap)[rows] for events in (seen.generated, seen.observed)
    )
    one = np.ones(len(generated))
    sides = [by_stay([n, one], seen.stay[rows], seen.n_stays) for n in (generated, observed)]
    off, least = jackknifed(sides[0], sides[1], log_ratio), float(np.log(LENGTHS))
    if not (off.above(least) or off.below(-least)):
        return []
    fault, when = ("early stopping", "soon") if off.value < 0 else ("late stopping", "late")
    return [
        Found(
            fault,
            f"Rollouts end after {generated.mean():.1f} events on average, true visits after "
            f"{observed.mean():.1f}: END is drawn too {when}.",
            ("termination", "duration_ratio", "occupancy_error"),
        )
    ]


def _ignored(seen: Seen) -> list[Found]:
    """How much the next event tells about the last one seen, in nats."""
    generated, observed = (
        _dependence(seen.last_seen, events.tokens[events.offsets[:-1]], seen.n_tokens)
        for events in (seen.generated, seen.observed)
    )
    if observed <= 0.05 or generated > IGNORED * observed:
        return []
    return [
        Found(
            "prefix ignored",
            "What is generated first hardly depends on what was seen last: "
            f"{max(generated, 0.0) / observed:.0%} of the dependence in true visits "
            f"({max(generated, 0.0):.2f} of {observed:.2f} nats).",
            ("c2st_conditional", "los_rank_correlation"),
        )
    ]


def _dependence(before: NDArray[np.integer], after: NDArray[np.integer], n_tokens: int) -> float:
    """Mutual information, less what shuffled pairs seem to have."""
    chance = np.random.Generator(np.random.Philox(key=len(before)))
    found = _information(before, after, n_tokens)
    by_chance = [_information(before, chance.permutation(after), n_tokens) for _ in range(SHUFFLES)]
    return found - float(np.mean(by_chance))


def _information(before: NDArray[np.integer], after: NDArray[np.integer], n_tokens: int) -> float:
    joint = np.bincount(before.astype(np.int64) * n_tokens + after, minlength=n_tokens**2)
    p = joint.reshape(n_tokens, n_tokens) / joint.sum()
    apart = p.sum(axis=1, keepdims=True) * p.sum(axis=0, keepdims=True)
    held = p > 0
    return float((p[held] * np.log(p[held] / apart[held])).sum())


CHECKS: Sequence[Callable[[Seen], list[Found]]] = (
    _first_step,
    _drift,
    _loops,
    _endings,
    clock_faults,
    _ignored,
)
