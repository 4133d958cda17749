"""The work that `edsim bench score` measures, each kind in a process of its own.

Writes what was done, how long the work itself took, without starting Python, compiling and reading
the rollouts that are scored, and how many events it was about.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from edsim.lab.beside_truth import beside_truth
from edsim.lab.cohort import Cohort, open_cohort
from edsim.lab.references import kept_rollouts
from edsim.lab.scores import score_all
from edsim.tables.rollouts import Rollouts

PRODUCER = "ngram:3"
LAUNCHES = "all"
CRPS_LAUNCHES, CRPS_DRAWS = 100_000, 32

FEW = 10_000

Line = dict[str, Any]
"""work, seconds, cpu_seconds, n_events, n_rollouts; and beside, where it is another's way of it."""
Taken = tuple[float, float]
"""Seconds that passed, and those of all threads together."""


class Clock:
    """Starts when it is made."""

    def __init__(self) -> None:
        self._begin = time.perf_counter(), time.process_time()

    def read(self) -> Taken:
        return time.perf_counter() - self._begin[0], time.process_time() - self._begin[1]


def score(cohort: Cohort) -> list[Line]:
    """All measures that are not slow, with their bootstrap, the order-3 model and the oracle."""
    _score_few(cohort)
    rollouts = kept_rollouts(cohort, PRODUCER, launches=LAUNCHES)
    clock = Clock()
    sheet = score_all([rollouts], cohort)[0]
    work = f"score all measures, {len(sheet.rows):,} numbers, 1,000 resamples"
    return [_line(work, clock.read(), len(rollouts.generated.tokens), len(rollouts))]


def _score_few(cohort: Cohort) -> None:
    """Score a few rollouts, so that what is compiled is compiled."""
    score_all([kept_rollouts(cohort, PRODUCER, launches="matched-100")], cohort)


def crps(cohort: Cohort) -> list[Line]:
    """The proper score of ensembles, of made-up durations."""
    from edsim.metrics.proper import crps_fair

    chance = np.random.default_rng(0)
    draws = chance.exponential(200, size=(CRPS_LAUNCHES, CRPS_DRAWS))
    observed = chance.exponential(200, size=CRPS_LAUNCHES)
    clock = Clock()
    crps_fair(draws, observed)
    work = f"CRPS of {CRPS_LAUNCHES:,} launches x {CRPS_DRAWS} draws"
    return [_line(work, clock.read(), draws.size, draws.size)]


def neighbours(cohort: Cohort, plain: str, sizes: str) -> list[Line]:
    """Distances of process mining at some numbers of rollouts; up to `plain` also as
    log-distance-measures has them."""
    from edsim.bench.plain_distances import PLAIN, event_log

    rollouts = kept_rollouts(cohort, PRODUCER, launches=LAUNCHES)
    _ours(cohort, _some(rollouts, 100), list(PLAIN))
    lines = []
    for size in [int(text) for text in sizes.split(",") if int(text) <= len(rollouts)]:
        some = _some(rollouts, size)
        n_events = len(some.generated.tokens)
        for name, taken in _ours(cohort, some, list(PLAIN)).items():
            lines.append(_line(f"{name}, {size:,} rollouts", taken, n_events, size))
        if size > int(plain):
            continue
        scored = beside_truth(some, cohort)
        logs = [event_log(side) for side in (scored.observed, scored.generated)]
        for name, distance in PLAIN.items():
            clock = Clock()
            distance(*logs)
            work = f"{name}, {size:,} rollouts"
            plain_work = f"{work}, log-distance-measures"
            lines.append({**_line(plain_work, clock.read(), n_events, size), "beside": work})
    return lines


def _ours(cohort: Cohort, rollouts: Rollouts, names: list[str]) -> dict[str, Taken]:
    """The time of each measure's value, rows added up by stay and all; of few rollouts the fastest
    of three times."""
    from edsim.lab.scoring_facts import scoring_facts
    from edsim.metrics.figures import figures_of
    from edsim.metrics.registry import METRICS
    from edsim.metrics.resampling import stay_sums, stays_of

    facts = scoring_facts(cohort, rollouts.header.vocabulary)
    scored = beside_truth(rollouts, cohort)
    times = 3 if len(rollouts) <= FEW else 1
    taken = {}
    for name in names:
        tried = []
        for _ in range(times):
            clock = Clock()
            stays, place = stays_of(scored.launches)
            sums = METRICS[name].sums(scored, facts)  # type: ignore[arg-type]
            figures_of(METRICS[name], stay_sums(sums, place, len(stays)), None)
            tried.append(clock.read())
        taken[name] = min(tried)
    return taken


def _some(rollouts: Rollouts, size: int) -> Rollouts:
    """So many of them, evenly spread."""
    rows = np.linspace(0, len(rollouts) - 1, size).astype(np.int64)
    return Rollouts(
        rollouts.header,
        rollouts.launches[rows],
        rollouts.draw[rows],
        rollouts.generated.take(rows),
    )


def _line(work: str, taken: Taken, n_events: int, n_rollouts: int) -> Line:
    seconds, cpu_seconds = taken
    return {
        "work": work,
        "seconds": seconds,
        "cpu_seconds": cpu_seconds,
        "n_events": n_events,
        "n_rollouts": n_rollouts,
    }


WORK: dict[str, Callable[..., list[Line]]] = {
    "score": score,
    "crps": crps,
    "neighbours": neighbours,
}


def main(kind: str, cohort: str, result: str, *more: str) -> None:
    """Do one kind of work and write `result`."""
    Path(result).write_text(json.dumps(WORK[kind](open_cohort(Path(cohort)), *more)))


if __name__ == "__main__":
    main(*sys.argv[1:])
