"""Far into a visit: states that have taken many events, beside states that have read them anew.

END is never chosen on the way, so that rows become long under any simulator that lets them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from edsim import seeds
from edsim.conformance.launching import Scene, follow, lengthen, take
from edsim.conformance.verdicts import Findings
from edsim.conformance.walking import POSSIBLE, ROUNDED_ROWS, TOLERANCE, Driver, Unusable
from edsim.tables.visits import END, Prefixes, Suffixes

N_ROWS = 100
"""Rows that are driven so far; each step of them costs a call."""
LOOKED_AT = (8, 16, 32, 64)
"""Generated events after which the states are compared."""
FEW = 5
"""Fewer rows than these tell nothing."""
SURE = 0.99
SEED = 1
"""Another chance than that of the first few events."""


@dataclass(frozen=True, slots=True)
class Look:
    """What some rows propose after `steps` events."""

    rows: NDArray[np.int64]
    steps: NDArray[np.int64]
    u_time: NDArray[np.float64]
    proposed: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True, slots=True)
class LongWalk:
    """Rows driven until END alone is possible, or to the last of LOOKED_AT."""

    prefixes: Prefixes
    tokens: NDArray[np.int64]
    """[rows, steps]"""
    minutes: NDArray[np.float64]
    going_on: dict[int, Look]
    """By the number of events, the rows that can go on after them."""
    stopped: Look
    """The rows to which nothing but END is left."""

    def read_anew(self, driver: Driver, look: Look) -> NDArray[np.float64]:
        """The proposals of states started on prefix and events."""
        before = np.arange(self.tokens.shape[1]) < look.steps[:, None]
        offsets = np.concatenate([[0], np.cumsum(look.steps)]).astype(np.int64)
        events = Suffixes(
            self.tokens[look.rows][before].astype(np.int16),
            self.minutes[look.rows][before].astype(np.float32),
            offsets,
        )
        state = driver.start(follow(take(self.prefixes, look.rows), events))
        return driver.propose(state, look.u_time)


def check_far(findings: Findings, driver: Driver, scene: Scene, cap: int) -> None:
    """`history` and private stops, up to as many generated events as LOOKED_AT says."""
    n = len(scene.prefixes)
    some = take(scene.prefixes, np.unique(np.linspace(0, n - 1, min(n, N_ROWS)).astype(np.int64)))
    walk = drive_far(driver, some, min(LOOKED_AT[-1], cap - 1))
    try:
        _check_history(findings, driver, walk)
        _check_stops(findings, driver, walk)
        _check_longest(findings, driver, walk, scene)
    except Unusable as error:
        findings.add(
            "history",
            "warning",
            f"{error}, on prefixes that hold the events it has itself gone on with: of long "
            "visits nothing can be said",
        )


def drive_far(driver: Driver, prefixes: Prefixes, steps: int) -> LongWalk:
    """Propose and commit events that the simulator holds possible, END never."""
    n, keys = len(prefixes), prefixes.keys(SEED)
    rows, state = np.arange(n), driver.start(prefixes)
    tokens, minutes = np.zeros((n, steps), dtype=np.int64), np.zeros((n, steps))
    going_on: dict[int, Look] = {}
    stopped: list[Look] = []
    for step in range(steps + 1):
        u_event, u_time = (
            seeds.uniform(seeds.step_keys(keys[rows], step, purpose))
            for purpose in (seeds.EVENT, seeds.TIME)
        )
        proposed = driver.propose(state, u_time)
        others = proposed.copy()
        others[:, END] = 0
        alive = others.sum(axis=1) > POSSIBLE
        look = Look(rows, np.full(len(rows), step), u_time, proposed)
        stopped.append(_some(look, ~alive))
        going_on[step] = _some(look, alive)
        if step == steps or not alive.any():
            break
        if not alive.all():
            state = driver.keep(state, np.flatnonzero(alive))
        rows, sums = rows[alive], others[alive].cumsum(axis=1)
        drawn = (sums <= u_event[alive, None] * sums[:, -1:]).sum(axis=1)
        state, gaps = driver.commit(state, drawn, u_time[alive])
        tokens[rows, step], minutes[rows, step] = drawn, gaps
    parts = zip(*((one.rows, one.steps, one.u_time, one.proposed) for one in stopped), strict=True)
    return LongWalk(
        prefixes, tokens, minutes, going_on, Look(*(np.concatenate(part) for part in parts))
    )


def _some(look: Look, chosen: NDArray[np.bool_]) -> Look:
    return Look(look.rows[chosen], look.steps[chosen], look.u_time[chosen], look.proposed[chosen])


def _check_history(findings: Findings, driver: Driver, walk: LongWalk) -> None:
    seen = []
    for step in LOOKED_AT:
        look = walk.going_on.get(step)
        if look is None or len(look) < FEW:
            break
        anew = walk.read_anew(driver, look)
        wrong = int((np.abs(anew - look.proposed).max(axis=1) > TOLERANCE).sum())
        if wrong > max(1, ROUNDED_ROWS * len(look)):
            findings.add(
                "history",
                "fail",
                f"after {step} generated events {wrong} of {len(look)} rows propose otherwise than "
                "after `start` on the same events and gaps",
            )
            return
        seen.append(f"{step} events ({len(look)} rows)")
    far = max((step for step, look in walk.going_on.items() if len(look) >= FEW), default=0)
    said = f"and the same after {', '.join(seen)}" if seen else "seen no further"
    if len(seen) < len(LOOKED_AT):
        said += f": fewer than {FEW} rows go on after more than {far} events"
    findings.add("history", "pass", said)


def _check_stops(findings: Findings, driver: Driver, walk: LongWalk) -> None:
    """END is all that is left to rows only where it is so after `start`, too."""
    stopped = walk.stopped
    if not (stopped.steps > 0).any():
        return
    stopped = _some(stopped, stopped.steps > 0)
    private = walk.read_anew(driver, stopped)[:, END] < SURE
    if private.sum() < 2:
        return
    least = int(stopped.steps[private].min())
    late = stopped.steps >= least
    if private.sum() > ROUNDED_ROWS * len(late) and private[late].mean() > 0.5:
        findings.add(
            "cap",
            "fail",
            f"END becomes certain in {int(private.sum())} of {int(late.sum())} rows after {least} "
            "or more generated events, though not after as many observed: a private stop",
        )


def _check_longest(findings: Findings, driver: Driver, walk: LongWalk, scene: Scene) -> None:
    """No number of events, observed and generated, at which END becomes certain for every row."""
    known = walk.prefixes.lengths()
    most = max(
        (int((known[look.rows] + step).max()) for step, look in walk.going_on.items() if len(look)),
        default=0,
    )
    length = most + 1
    n_stopped = int((known[walk.stopped.rows] + walk.stopped.steps == length).sum())
    rows = np.flatnonzero((known > 1) & (known < length))
    if n_stopped < 2 or len(rows) < 20 or scene.visits.n_events().max() == length:
        return  # where the longest observed stays stop together, a simulator may learn it
    some = take(walk.prefixes, rows)
    u_time = seeds.uniform(seeds.step_keys(some.keys(SEED), 0, seeds.TIME))
    before, after = (
        driver.propose(driver.start(lengthen(some, n)), u_time)[:, END] > SURE
        for n in (most, length)
    )
    if after.mean() > SURE and before.mean() < 0.5:
        findings.add(
            "cap",
            "fail",
            f"END becomes certain at {length} events of prefix and suffix in "
            f"{int((after & ~before).sum())} of {len(rows)} rows: a private stop",
        )
