"""Resampling of stays: the sums of a measure by stay, and their totals under each resample.

Stays are drawn, not launches: the launches of a stay share its events. The sums are kept by stay
once; a resample is a weight for every stay, the same for all measures and for every table of the
same launches, so that generated, observed and reference counts are of the same resampled stays.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from edsim import seeds
from edsim.metrics.measure import Floats, RunCounts, SparseSums, Sums
from edsim.tables.visits import Launches, Suffixes

RESAMPLES = 1_000
BLOCK = 128
"""Resamples at a time, so that memory grows with neither their number nor the columns."""

_LARGEST_COUNT = 2**27
"""No resample of counts that sum up to less comes near the largest 32-bit number."""

Weights = NDArray[np.uint8]
"""[stays, resamples]: how often a stay was drawn."""


@dataclass(frozen=True, slots=True)
class StaySums:
    """Sums [stays, columns], column after column, zeros left out."""

    begin: NDArray[np.int64]
    stay: NDArray[np.int32]
    value: NDArray[np.float64] | NDArray[np.int32]
    n_stays: int
    labels: NDArray[np.int64] | None = None
    """What each column counts, in rising order, where another table has other columns."""

    def totals(self) -> Floats:
        """[columns]: the sums over all stays."""
        return np.asarray(self._weighted(np.ones((self.n_stays, 1), dtype=np.uint8))[0])

    def map(self, function: Callable[[Floats], Floats], weights: Weights) -> Floats:
        """What `function` makes of the totals [resamples, columns], block after block, joined."""

        def block(first: int) -> Floats:
            return function(self._weighted(weights[:, first : first + BLOCK]))

        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            return np.concatenate(list(pool.map(block, range(0, weights.shape[1], BLOCK))))

    def exchanged(
        self, other: StaySums, function: Callable[[Floats, Floats], Floats], coins: Weights
    ) -> Floats:
        """What `function` makes of the totals of both sides after exchanges, block after block.

        Where a coin [stays, exchanges] is 1, a stay's sums stand on the other side.
        """
        whole = self.totals() + other.totals()

        def block(first: int) -> Floats:
            some = coins[:, first : first + BLOCK]
            here = self._weighted(1 - some) + other._weighted(some)
            return function(here, whole - here)

        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            return np.concatenate(list(pool.map(block, range(0, coins.shape[1], BLOCK))))

    def _weighted(self, weights: Weights) -> Floats:
        from edsim.metrics.sum_kernels import weighted_totals

        some = np.ascontiguousarray(weights)
        found: Floats = weighted_totals(self.begin, self.stay, self.value, some)
        return found.T

    @classmethod
    def of(
        cls,
        begin: NDArray[np.int64],
        stay: NDArray[np.int32],
        value: Floats,
        n_stays: int,
        labels: NDArray[np.int64] | None = None,
    ) -> StaySums:
        """With counts kept as whole numbers, which are added up faster and as exactly."""
        counts = value.astype(np.int32) if np.abs(value).sum() < _LARGEST_COUNT else value
        return cls(begin, stay, counts if np.array_equal(counts, value) else value, n_stays, labels)

    def stays_in(self, column: int) -> NDArray[np.int32]:
        """The stays that have anything in a column."""
        return self.stay[self.begin[column] : self.begin[column + 1]]


def stay_sums(sums: Sums, stay_of_row: NDArray[np.integer], n_stays: int) -> StaySums:
    """Rows added up by stay; `stay_of_row` counts stays from 0."""
    from edsim.metrics.sum_kernels import by_column, dense_by_column

    stay = stay_of_row.astype(np.int32)
    if isinstance(sums, RunCounts):
        return _runs_by_stay(sums, stay, n_stays)
    if not isinstance(sums, SparseSums):
        return StaySums.of(*dense_by_column(np.ascontiguousarray(sums), stay, n_stays), n_stays)
    row, column, value = sums.row, sums.column, sums.value
    of_entry = stay[row]
    if len(stay) and (np.diff(stay) < 0).any():
        order = np.argsort(of_entry, kind="stable")
        of_entry, column, value = of_entry[order], column[order], value[order]
    begin, of_stay, amount = by_column(
        of_entry,
        np.asarray(column, dtype=np.int32),
        np.asarray(value, dtype=np.float64),
        sums.shape[1],
    )
    return StaySums.of(begin, of_stay, amount, n_stays, sums.labels)


def _runs_by_stay(counts: RunCounts, stay: NDArray[np.int32], n_stays: int) -> StaySums:
    """Single events get a column each; of longer runs those that either side has."""
    from edsim.metrics.sum_kernels import runs_by_stay

    order = np.argsort(stay, kind="stable") if (np.diff(stay) < 0).any() else None

    def side(events: Suffixes) -> tuple[NDArray[np.int64], NDArray[np.int32], Floats]:
        rows = events if order is None else events.take(order)
        of_row = stay if order is None else stay[order]
        return runs_by_stay(
            rows.tokens, rows.offsets, of_row, counts.n, counts.n_tokens, counts.per_row
        )

    with ThreadPoolExecutor(2) as pool:
        ours, theirs = pool.map(side, (counts.generated, counts.observed))
    lengths = [np.diff(begin) for begin, _, _ in (ours, theirs)]
    labels = None
    if counts.n > 1:
        held = np.flatnonzero(lengths[0] + lengths[1])
        labels = np.concatenate([held, held + len(lengths[0])])
        lengths = [one[held] for one in lengths]
    begin = np.concatenate([[0], np.cumsum(np.concatenate(lengths))])
    of_stay, amount = (np.concatenate([ours[k], theirs[k]]) for k in (1, 2))
    return StaySums.of(begin, of_stay, amount, n_stays, labels)


def same_columns(one: StaySums, other: StaySums) -> tuple[StaySums, StaySums]:
    """Both with the columns of either, in one order."""
    if one.labels is None or other.labels is None:
        return one, other
    labels = np.union1d(one.labels, other.labels)
    return _under(one, one.labels, labels), _under(other, other.labels, labels)


def _under(sums: StaySums, said: NDArray[np.int64], labels: NDArray[np.int64]) -> StaySums:
    """Columns that were not there are empty; said labels are in rising order, as all are."""
    lengths = np.zeros(len(labels), dtype=np.int64)
    lengths[np.searchsorted(labels, said)] = np.diff(sums.begin)
    return replace(sums, begin=np.concatenate([[0], np.cumsum(lengths)]), labels=labels)


def stays_of(launches: Launches) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The stays of some launches as rows of the cohort, and each launch's place among them."""
    rows, place = np.unique(launches[:, 0], return_inverse=True)
    return rows.astype(np.int64), place.astype(np.int64)


def exchange_coins(n_stays: int, n_exchanges: int, seed: int = 0) -> Weights:
    """[stays, exchanges] of 0 and 1: whether a stay changes sides; decided as resamples are."""
    chance = np.random.Generator(np.random.Philox(key=seeds.key("exchange of sides", seed)))
    coins = chance.integers(2, size=(n_exchanges, n_stays), dtype=np.uint8)
    return np.ascontiguousarray(coins.T)


def resample_weights(n_stays: int, n_resamples: int = RESAMPLES, seed: int = 0) -> Weights:
    """As many stays as there are, drawn with replacement; decided by their number and the seed."""
    chance = np.random.Generator(np.random.Philox(key=seeds.key("bootstrap of stays", seed)))
    weights = np.empty((n_resamples, n_stays), dtype=np.uint8)
    for i in range(n_resamples if n_stays else 0):
        drawn = chance.integers(n_stays, size=n_stays, dtype=np.int32)
        weights[i] = np.minimum(np.bincount(drawn, minlength=n_stays), 255)
    return np.ascontiguousarray(weights.T)
