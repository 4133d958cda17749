"""Event mixes worked out by hand, and the ends of the scale."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edsim.metrics.composition import (
    composition_jsd,
    event_counts,
    jsd,
    mix,
    ngrams,
    step_jsd,
    times_reference,
)
from metrics.rows import only_tokens, scored

ROWS = only_tokens([1, 2, 0], [2, 2, 2, 0], [0])


def test_equal_mixes_have_no_divergence_whatever_their_size() -> None:
    assert jsd(np.array([2, 2]), np.array([5, 5])) == 0.0


def test_mixes_without_a_common_event_have_the_largest_divergence() -> None:
    assert jsd(np.array([3, 0]), np.array([0, 1])) == pytest.approx(math.log(2))


def test_a_divergence_worked_by_hand() -> None:
    # p = (1/2, 1/2), q = (1, 0), m = (3/4, 1/4)
    by_hand = (0.5 * math.log(2 / 3) + 0.5 * math.log(2) + math.log(4 / 3)) / 2
    assert jsd(np.array([1, 1]), np.array([4, 0])) == pytest.approx(by_hand)


def test_an_absent_mix_is_not_a_perfect_one() -> None:
    assert math.isnan(jsd(np.zeros(3, int), np.array([1, 0, 0])))
    assert math.isnan(jsd(np.zeros(3, int), np.zeros(3, int)))


@given(
    st.lists(st.integers(0, 50), min_size=3, max_size=3),
    st.lists(st.integers(0, 50), min_size=3, max_size=3),
)
def test_divergence_is_symmetric_and_within_its_bounds(p: list[int], q: list[int]) -> None:
    one, other = jsd(np.array(p), np.array(q)), jsd(np.array(q), np.array(p))
    if sum(p) and sum(q):
        assert -1e-12 <= one <= math.log(2) + 1e-12
        assert one == pytest.approx(other, abs=1e-12)


def test_end_is_an_event_and_counts_are_by_row() -> None:
    assert event_counts(ROWS, n_tokens=4).tolist() == [[1, 1, 1, 0], [1, 0, 3, 0], [1, 0, 0, 0]]


def test_pairs_and_triples_stay_within_their_row() -> None:
    row, code = ngrams(ROWS, 2, n_tokens=4)
    assert row.tolist() == [0, 0, 1, 1, 1]
    assert code.tolist() == [1 * 4 + 2, 2 * 4 + 0, 2 * 4 + 2, 2 * 4 + 2, 2 * 4 + 0]
    row, code = ngrams(ROWS, 3, n_tokens=4)
    assert row.tolist() == [0, 1, 1]
    assert code.tolist() == [16 + 8, 32 + 8 + 2, 32 + 8]


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_runs_of_events_are_those_a_plain_loop_finds(n: int) -> None:
    chance = np.random.default_rng(n)
    rows = [chance.integers(5, size=k).tolist() for k in chance.integers(1, 9, size=40)]
    by_loop = [
        (i, sum(t * 5 ** (n - 1 - k) for k, t in enumerate(row[j : j + n])))
        for i, row in enumerate(rows)
        for j in range(len(row) - n + 1)
    ]
    row, code = ngrams(only_tokens(*rows), n, n_tokens=5)
    assert list(zip(row.tolist(), code.tolist(), strict=True)) == by_loop


def test_pooled_counts_events_and_per_rollout_counts_rollouts() -> None:
    assert mix(ROWS, n_tokens=4).tolist() == [3, 1, 4, 0]
    per_rollout = mix(ROWS, n_tokens=4, weighting="per_rollout")
    by_hand = [(1 / 3 + 1 / 4 + 1) / 3, (1 / 3) / 3, (1 / 3 + 3 / 4) / 3, 0]
    assert per_rollout.tolist() == pytest.approx(by_hand)


def test_rows_too_short_for_a_pair_are_left_out_per_rollout() -> None:
    pairs = mix(ROWS, 2, n_tokens=4, weighting="per_rollout")
    assert pairs[1 * 4 + 2] == pytest.approx(1 / 4)
    assert pairs[2 * 4 + 2] == pytest.approx(1 / 3)
    assert pairs.sum() == pytest.approx(1)


def test_the_observed_suffixes_themselves_score_zero() -> None:
    perfect = scored(ROWS, ROWS)
    for n in (1, 2, 3):
        for weighting in ("pooled", "per_rollout"):
            assert composition_jsd(perfect, n, weighting=weighting) == 0.0


def test_a_simulator_that_repeats_one_unseen_event_scores_ln_2() -> None:
    useless = scored(only_tokens([3, 3], [3, 3, 3]), only_tokens([1, 0], [2, 0]), cap=3)
    assert composition_jsd(useless) == pytest.approx(math.log(2))


def test_the_first_events_of_both_sides_are_compared_where_asked() -> None:
    loops_later = scored(only_tokens([1, 2, 3, 3, 3]), only_tokens([1, 2, 0]), cap=5)
    assert composition_jsd(loops_later, first=2) == 0.0
    assert composition_jsd(loops_later, first=3) > 0.0


def test_no_pair_anywhere_is_no_score() -> None:
    assert math.isnan(composition_jsd(scored(only_tokens([0]), only_tokens([1, 0])), 2))


def test_each_step_is_compared_among_the_rows_that_reach_it() -> None:
    observed = only_tokens(*[[1, 2, 0]] * 100, *[[1, 0]] * 100)
    generated = only_tokens(*[[1, 2, 0]] * 150, *[[1, 0]] * 50)
    table = scored(generated, observed)
    assert step_jsd(table, 1) == 0.0
    assert step_jsd(table, 2) == pytest.approx(jsd(np.array([50, 0, 150]), np.array([100, 0, 100])))
    assert step_jsd(table, 3) == 0.0  # whoever gets there ends


def test_a_step_that_few_rows_reach_has_no_score() -> None:
    ninety_nine = only_tokens(*[[1, 0]] * 99, *[[0]] * 50)
    hundred = only_tokens(*[[1, 0]] * 100, *[[0]] * 49)
    assert math.isnan(step_jsd(scored(ninety_nine, hundred), 2))
    assert math.isnan(step_jsd(scored(hundred, ninety_nine), 2))
    assert step_jsd(scored(hundred, hundred), 2) == 0.0


def test_the_multiple_of_the_reference() -> None:
    assert times_reference(0.02, 0.005) == pytest.approx(4)
    assert math.isnan(times_reference(0.02, 0.0))
    assert math.isnan(times_reference(0.02, float("nan")))
