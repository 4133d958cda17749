"""The downstream tasks: which rows of a cohort are asked about, and what the answer was."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from edsim import seeds
from edsim.lab.cohort import Cohort
from edsim.tables.visits import SPLITS, Launches, Visits

LONG_STAY, READINESS = "top-decile LOS", "discharge readiness"
LONG = 0.9
"""Quantile of the training split's lengths of stay that a long one exceeds."""
READY_MINUTES = 60.0
ROUNDING = 1e-6
"""Minutes; sums of gaps are compared with this to spare."""
MOST_ROWS = {"train": 200_000, "val": 50_000, "test": 100_000}
"""Of the readiness task, where every row of a stay is one: the smallest keyed hashes are taken."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Rows of one split, given by stay and prefix length, and the outcome of each."""

    launches: Launches
    outcome: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Department:
    """A cohort opened for the tasks."""

    visits: Visits
    los: NDArray[np.float64]
    """Minutes of each stay."""
    discharges: tuple[int, ...]
    subject: NDArray[np.int64]

    @classmethod
    def of(cls, cohort: Cohort, vocabulary: str | None, subjects: NDArray[np.int64]) -> Department:
        """Where a length of stay is not recorded, it is that of the events."""
        name = cohort.vocabulary_name(vocabulary)
        visits = cohort.visits(name)
        recorded = cohort.stays()["los_minutes"].cast(float).fill_null(float("nan")).to_numpy()
        found = cls(visits, recorded, cohort.vocabulary(name).discharges, subjects)
        of_events = visits.start + found.elapsed()[visits.offsets[1:] - 1]
        return replace(found, los=np.where(np.isnan(recorded), of_events, recorded))

    def elapsed(self) -> NDArray[np.float64]:
        """Minutes from its stay's first row to every event, END too."""
        visits = self.visits
        sums = np.cumsum(visits.minutes, dtype=np.float64)
        return np.asarray(sums - np.repeat(sums[visits.offsets[:-1]], np.diff(visits.offsets)))

    def stays(self, split: str) -> NDArray[np.int64]:
        """Rows of a split's stays."""
        assert self.visits.split is not None
        return np.flatnonzero(self.visits.split == SPLITS.index(split))

    def long_minutes(self) -> float:
        """The training split's 90th percentile; nan without training stays."""
        training = self.los[self.stays("train")]
        return float(np.quantile(training, LONG)) if len(training) else float("nan")


def at_completion(
    department: Department, split: str, long_minutes: float, *, share: float
) -> Asked:
    """Once a share of the visit's events is seen, which nobody knows at the time."""
    stays = department.stays(split)
    n = department.visits.n_events()[stays]
    lengths = np.maximum(np.ceil(share * n - 1e-9), 1)
    return _long(department, stays, lengths, long_minutes)


def after_arrival(
    department: Department, split: str, long_minutes: float, *, hours: float
) -> Asked:
    """So long after arrival, of whom is still there; the events seen by then."""
    visits = department.visits
    stays = department.stays(split)
    stays = stays[department.los[stays] > 60 * hours]
    since_arrival = department.elapsed() + np.repeat(visits.start, np.diff(visits.offsets))
    seen = since_arrival <= 60 * hours + ROUNDING
    seen[visits.offsets[1:] - 1] = False  # END is no event
    lengths = np.add.reduceat(seen, visits.offsets[:-1], dtype=np.int64)[stays]
    return _long(department, stays[lengths > 0], lengths[lengths > 0], long_minutes)


def every_row(department: Department, split: str, long_minutes: float) -> Asked:
    """Every row before the stay's first discharge row: does that come within the hour?"""
    visits, stays = department.visits, department.stays(split)
    n = visits.n_events()[stays]
    stay = np.repeat(stays, n)
    length = np.arange(len(stay)) - np.repeat(np.cumsum(n) - n, n) + 1
    at = visits.offsets[stay] + length - 1
    discharges = np.flatnonzero(np.isin(visits.tokens, department.discharges))
    first = np.append(discharges, len(visits.tokens))[
        np.searchsorted(discharges, visits.offsets[:-1])
    ]
    before = at < first[stay]
    elapsed = np.append(department.elapsed(), np.inf)
    has_one = first < visits.offsets[1:]
    wait = np.where(has_one[stay], elapsed[first[stay]], np.inf) - elapsed[at]
    rows = np.flatnonzero(before)
    rows = rows[_sample(visits, stay[rows], length[rows], MOST_ROWS[split])]
    launches = np.stack([stay[rows], length[rows]], axis=1).astype(np.int32)
    return Asked(launches, wait[rows] <= READY_MINUTES + ROUNDING)


def _sample(
    visits: Visits, stay: NDArray[np.int64], length: NDArray[np.int64], most: int
) -> NDArray[np.int64]:
    """Places of the rows with the smallest keyed hashes, in their own order."""
    if len(stay) <= most:
        return np.arange(len(stay))
    assert visits.stay_ids is not None
    stays, place = np.unique(stay, return_inverse=True)
    ids = seeds.keys("downstream", 0, (bytes(name) for name in visits.stay_ids[stays]))
    return np.sort(np.argsort(seeds.combine(ids[place], length), kind="stable")[:most])


def _long(
    department: Department,
    stays: NDArray[np.int64],
    lengths: NDArray[np.generic],
    long_minutes: float,
) -> Asked:
    launches = np.stack([stays, lengths], axis=1).astype(np.int32)
    return Asked(launches, department.los[stays] > long_minutes)


@dataclass(frozen=True, slots=True)
class Task:
    """One question: what is asked, when, and whether the moment is known at the time."""

    name: str
    landmark: str
    on_outcome: bool
    rows: Callable[[Department, str, float], Asked]


TASKS: Mapping[str, Task] = {
    f"{task.name}, {task.landmark}": task
    for task in (
        *(
            Task(
                LONG_STAY,
                f"{share:.0%}".replace("%", " %"),
                True,
                partial(at_completion, share=share),
            )
            for share in (0.25, 0.5, 0.75)
        ),
        *(
            Task(LONG_STAY, f"{hours} h", False, partial(after_arrival, hours=hours))
            for hours in (1, 2, 4)
        ),
        Task(READINESS, "every row", False, every_row),
    )
}
