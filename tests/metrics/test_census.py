"""Who is there at every hour: counted by hand, foretold perfectly, uselessly and not at all."""

from __future__ import annotations

import numpy as np
import pytest

from edsim.metrics.census import (
    Foretold,
    bias,
    exceed_brier,
    exceed_share,
    hourly_crps,
    mean_crps,
    present_at_hours,
    share_within,
)

INF = float("inf")


def slowly(arrival: np.ndarray, end: np.ndarray, n_hours: int) -> np.ndarray:
    """One hour, one draw, one stay at a time."""
    found = np.zeros((end.shape[1], n_hours), dtype=int)
    for stay, begins in enumerate(arrival):
        for draw, ends in enumerate(end[stay]):
            for hour in range(n_hours):
                found[draw, hour] += begins <= hour < ends
    return found


def test_present_from_arrival_until_the_end() -> None:
    found = present_at_hours(np.array([0.0, 0.5, 1.0]), np.array([[2.0], [0.9], [INF]]), 4)
    assert found.tolist() == [[1, 2, 1, 1]]


def test_counting_is_that_of_the_plain_loops() -> None:
    chance = np.random.default_rng(0)
    arrival = chance.uniform(-3, 30, 40)
    end = arrival[:, None] + chance.exponential(5, size=(40, 6))
    end[chance.random(end.shape) < 0.1] = INF
    assert np.array_equal(present_at_hours(arrival, end, 24), slowly(arrival, end, 24))
    turn = chance.permutation(40)
    assert np.array_equal(present_at_hours(arrival[turn], end[turn], 24), slowly(arrival, end, 24))


def test_who_left_before_the_period_or_within_one_hour_is_never_counted() -> None:
    assert present_at_hours(np.array([-2.0, 1.2]), np.array([[-1.0], [1.8]]), 3).sum() == 0


def test_nobody_is_no_census() -> None:
    assert present_at_hours(np.zeros(0), np.zeros((0, 3)), 2).tolist() == [[0, 0]] * 3


def foretold(observed: list[int], *draws: list[int], warm_up: int = 0) -> Foretold:
    hours = np.arange(len(observed))
    return Foretold(np.array(observed), np.array(draws), hours >= warm_up)


def test_worked_by_hand() -> None:
    one = foretold([9, 2, 4], [0, 1, 4], [0, 3, 8], warm_up=1)
    assert hourly_crps(one).tolist() == [9, 0, 0]  # mean distance less half the draws' own: 1 - 1
    assert mean_crps(one)[0] == 0
    assert bias(one) == pytest.approx((2 - 2 + 6 - 4) / 2)
    assert exceed_share(one, 3).tolist() == [0, 0, 1]
    assert exceed_brier(one, 3) == 0
    assert exceed_brier(one, 4) == pytest.approx((0 + 0.25 - 0.25) / 2)
    assert share_within(one) == 0.5  # 4.2 is the 5th percentile of 4 and 8


def test_the_truth_as_every_draw_is_perfect_and_a_department_that_never_empties_is_not() -> None:
    truth = list(range(30)) * 2
    perfect = foretold(truth, truth, truth, truth)
    assert mean_crps(perfect) == (0, 0, 0)
    assert bias(perfect) == 0 and share_within(perfect) == 1 and exceed_brier(perfect, 12) == 0
    full = foretold(truth, *[[100] * 60] * 3)
    crps, low, high = mean_crps(full)
    assert crps == pytest.approx(100 - np.mean(truth)) and low <= crps <= high
    assert share_within(full) == 0


def test_without_hours_after_the_warm_up_nothing_is_said() -> None:
    one = foretold([1, 2], [1, 2], [1, 2], warm_up=5)
    assert all(np.isnan(value) for value in (*mean_crps(one), bias(one), share_within(one)))
