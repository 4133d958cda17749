"""Ends, durations and occupancy, with capped rows."""

from __future__ import annotations

import math

import numpy as np
import pytest

from edsim.metrics.occupancy import HOURS, occupancy_error, occupancy_mae
from edsim.metrics.termination import reached_discharge, termination
from edsim.metrics.timing import duration_ratio, mean_remaining_minutes, remaining_minutes
from metrics.rows import lasting, only_tokens, scored, suffixes

CAPPED_THEN_ENDED = suffixes(([1, 1], [600.0, 600.0]), ([1, 0], [30.0, 0.0]))


def test_a_row_terminates_when_its_last_event_is_end() -> None:
    assert termination(scored(CAPPED_THEN_ENDED, lasting(1, 1), cap=2)) == 0.5


def test_discharge_is_looked_for_in_the_whole_suffix() -> None:
    rows = only_tokens([1, 3, 0], [1, 0], [3], [0])
    assert reached_discharge(rows, (3,)) == 0.5
    assert reached_discharge(rows, (1, 3)) == 0.75
    assert reached_discharge(rows, (2,)) == 0.0


def test_a_vocabulary_without_discharges_has_no_share_of_them() -> None:
    assert math.isnan(reached_discharge(only_tokens([1, 0]), ()))


def test_the_observed_suffixes_take_as_long_as_they_do() -> None:
    perfect = scored(lasting(30, 90, 0), lasting(30, 90, 0))
    assert duration_ratio(perfect) == 1.0
    assert mean_remaining_minutes(perfect) == (40.0, 40.0)


def test_capped_rows_are_left_out_of_the_ratio_on_both_sides() -> None:
    table = scored(CAPPED_THEN_ENDED, lasting(1000, 60), cap=2)
    assert duration_ratio(table) == 0.5
    assert mean_remaining_minutes(table) == (30.0, 60.0)


def test_the_ratio_can_be_asked_of_some_rows() -> None:
    table = scored(lasting(10, 100), lasting(20, 50))
    assert duration_ratio(table, np.array([True, False])) == 0.5
    assert math.isnan(duration_ratio(table, np.array([False, False])))


def test_a_capped_row_is_left_out_also_where_it_is_asked_for() -> None:
    table = scored(CAPPED_THEN_ENDED, lasting(1000, 60), cap=2)
    assert duration_ratio(table, np.array([True, True])) == 0.5
    assert math.isnan(duration_ratio(table, np.array([True, False])))


def test_minutes_before_end_count() -> None:
    late_end = suffixes(([1, 0], [10.0, 50.0]))
    assert duration_ratio(scored(late_end, lasting(60))) == 1.0


def test_without_an_end_or_without_anything_left_there_is_no_ratio() -> None:
    assert math.isnan(duration_ratio(scored(suffixes(([1], [5.0])), lasting(60), cap=1)))
    assert math.isnan(duration_ratio(scored(lasting(3), lasting(0))))


def test_the_end_of_a_capped_row_is_not_known() -> None:
    table = scored(CAPPED_THEN_ENDED, lasting(1, 1), cap=2)
    assert remaining_minutes(table).tolist() == [math.inf, 30.0]


def test_presence_means_more_than_the_hours_asked() -> None:
    # observed leave after 60, 61, 500 minutes; generated after 60, 60, 800
    table = scored(lasting(60, 60, 800), lasting(60, 61, 500))
    third = 100 / 3
    assert occupancy_error(table).tolist() == pytest.approx([-third, 0, 0, 0, third])
    assert occupancy_mae(table) == pytest.approx(2 * third / 5)


def test_a_capped_row_is_present_at_every_horizon() -> None:
    table = scored(suffixes(([1], [5.0])), lasting(30), cap=1)
    assert occupancy_error(table).tolist() == [100.0] * len(HOURS)
    assert occupancy_mae(table) == 100.0


def test_the_observed_suffixes_make_no_error() -> None:
    assert occupancy_mae(scored(lasting(30, 700), lasting(30, 700))) == 0.0
