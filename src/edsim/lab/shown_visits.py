"""Which visits of a rollouts table are shown one by one, taken from it with their truth."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from edsim import seeds
from edsim.lab.cohort import Cohort
from edsim.tables.rollouts import Rollouts
from edsim.tables.shown_visits import (
    MOST_LAUNCHES,
    ShownDraw,
    ShownLaunch,
    ShownVisit,
    ShownVisits,
)
from edsim.tables.visits import Suffixes, Visits

LAUNCHES_A_VISIT = 5
DRAWS_A_LAUNCH = 6


def shown_visits(rollouts: Rollouts, cohort: Cohort) -> ShownVisits | None:
    """Up to 300 launches, a few of each visit; None where the cohort is restricted.

    Visits are chosen by the hash of their ids, so that producers of the same launches show the
    same ones.
    """
    header = rollouts.header
    if cohort.manifest.restricted or header.restricted:
        return None
    visits = cohort.visits(header.vocabulary)
    return ShownVisits(
        producer=header.producer,
        rule=header.rule,
        clock=header.clock,
        content_hash=cohort.manifest.content_hash,
        vocabulary_sha256=header.vocabulary_sha256,
        tokens=header.tokens,
        cap=header.cap,
        visits=tuple(
            _visit(rollouts, visits, stay, lengths) for stay, lengths in _chosen(rollouts, visits)
        ),
    )


def _chosen(rollouts: Rollouts, visits: Visits) -> list[tuple[int, NDArray[np.int32]]]:
    """Stay rows with the prefix lengths to show."""
    assert visits.stay_ids is not None
    stays = np.unique(rollouts.launches[:, 0])
    order = np.argsort(seeds.keys("shown visits", 0, (bytes(visits.stay_ids[s]) for s in stays)))
    chosen: list[tuple[int, NDArray[np.int32]]] = []
    left = MOST_LAUNCHES
    for stay in stays[order]:
        low, high = np.searchsorted(rollouts.launches[:, 0], [stay, stay + 1])
        lengths = np.unique(rollouts.launches[low:high, 1])
        places = np.linspace(0, len(lengths) - 1, min(LAUNCHES_A_VISIT, len(lengths), left))
        chosen.append((int(stay), lengths[np.unique(places.round().astype(np.int64))]))
        left -= len(chosen[-1][1])
        if left == 0:
            break
    return chosen


def _visit(rollouts: Rollouts, visits: Visits, stay: int, lengths: NDArray[np.int32]) -> ShownVisit:
    assert visits.stay_ids is not None
    begin, end = visits.offsets[stay], visits.offsets[stay + 1]
    low, high = np.searchsorted(rollouts.launches[:, 0], [stay, stay + 1])
    rows = {
        int(length): low + np.flatnonzero(rollouts.launches[low:high, 1] == length)
        for length in lengths
    }
    return ShownVisit(
        stay_id=bytes(visits.stay_ids[stay]).decode(),
        tokens=tuple(visits.tokens[begin:end].tolist()),
        minutes=_rounded(visits.minutes[begin:end]),
        launches=tuple(
            ShownLaunch(prefix_length=length, draws=_draws(rollouts.generated, of_launch))
            for length, of_launch in rows.items()
        ),
    )


def _draws(generated: Suffixes, rows: NDArray[np.integer]) -> tuple[ShownDraw, ...]:
    bounds = [(generated.offsets[i], generated.offsets[i + 1]) for i in rows[:DRAWS_A_LAUNCH]]
    return tuple(
        ShownDraw(
            tokens=tuple(generated.tokens[a:b].tolist()), minutes=_rounded(generated.minutes[a:b])
        )
        for a, b in bounds
    )


def _rounded(minutes: NDArray[np.float32]) -> tuple[float, ...]:
    return tuple(round(float(gap), 2) for gap in minutes)
