"""Sums by stay and their totals under resamples, beside plain loops that are obviously right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from edsim.metrics.measure import SparseSums
from edsim.metrics.resampling import BLOCK, resample_weights, stay_sums, stays_of


def dense(rows: int, columns: int, seed: int = 0) -> np.ndarray:
    chance = np.random.default_rng(seed)
    return chance.integers(-2, 3, size=(rows, columns)).astype(np.float64)


def as_sparse(sums: np.ndarray, seed: int = 0) -> SparseSums:
    """The entries in any order, one of them said in two halves."""
    row, column = np.nonzero(sums)
    value = sums[row, column]
    order = np.random.default_rng(seed).permutation(len(row))
    row, column, value = row[order], column[order], value[order]
    if len(row):
        value = np.append(value, value[0] / 2)
        value[0] /= 2
        row, column = np.append(row, row[0]), np.append(column, column[0])
    return SparseSums(row, column, value, sums.shape)


@pytest.mark.parametrize("as_given", [lambda sums: sums, as_sparse], ids=["dense", "sparse"])
@pytest.mark.parametrize("in_order", [True, False])
def test_totals_are_sums_of_stays_by_weight(as_given: Any, in_order: bool) -> None:
    sums, chance = dense(60, 7), np.random.default_rng(1)
    stay = chance.integers(9, size=60)
    stay = np.sort(stay) if in_order else stay
    found = stay_sums(as_given(sums), stay, 9)
    weights = resample_weights(9, BLOCK + 5)
    by_stay = np.stack([sums[stay == s].sum(axis=0) for s in range(9)])
    assert np.allclose(found.totals(), sums.sum(axis=0))
    assert np.allclose(found.map(lambda totals: totals, weights), weights.T @ by_stay)


def test_stays_that_have_anything_in_a_column_are_known() -> None:
    found = stay_sums(np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 3.0]]), np.array([0, 0, 2]), 3)
    assert found.stays_in(0).tolist() == [0]
    assert found.stays_in(1).tolist() == [2]


def test_every_resample_draws_as_many_stays_as_there_are() -> None:
    weights = resample_weights(50, 40)
    assert weights.shape == (50, 40)
    assert (weights.sum(axis=0, dtype=np.int64) == 50).all()
    assert len(np.unique(weights, axis=1).T) == 40
    assert np.array_equal(weights, resample_weights(50, 40))
    assert not np.array_equal(weights, resample_weights(50, 40, seed=1))


def test_the_mean_weight_of_a_stay_is_one() -> None:
    assert abs(resample_weights(100, 2_000).mean(axis=1) - 1).max() < 0.15


@pytest.mark.parametrize("n", [0, 1])
def test_nothing_and_one_stay_can_be_resampled(n: int) -> None:
    found = stay_sums(np.ones((n, 2)), np.zeros(n, dtype=np.int64), n)
    assert found.totals().tolist() == [n, n]
    again = found.map(lambda totals: totals, resample_weights(n, 3))
    assert again.tolist() == [[n, n]] * 3


def test_stays_are_numbered_in_the_order_of_the_cohort() -> None:
    rows, place = stays_of(np.array([[7, 1], [3, 2], [7, 4]], dtype=np.int32))
    assert rows.tolist() == [3, 7]
    assert place.tolist() == [1, 0, 1]


@given(arrays(np.float64, (12, 3), elements=st.floats(-100, 100)), st.permutations(range(12)))
def test_the_order_of_rows_changes_nothing(sums: np.ndarray, order: list[int]) -> None:
    stay = np.arange(12) // 3
    one = stay_sums(sums, stay, 4).totals()
    assert np.allclose(stay_sums(sums[order], stay[order], 4).totals(), one)
