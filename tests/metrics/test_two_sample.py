"""The classifier's test: what it reads, which launches, and its area under the curve."""

from __future__ import annotations

import math

import numpy as np
import pytest

from edsim.metrics.features import ContinuationFeatures, prefix_features
from edsim.metrics.two_sample import (
    FEWEST,
    FOLDS,
    c2st,
    one_launch_per_stay,
    out_of_fold,
    summarise,
)
from edsim.tables.visits import Prefixes, Suffixes
from metrics.rows import only_tokens, prefixes, scored, suffixes


def test_continuation_features_worked_by_hand() -> None:
    events = suffixes(
        ([1, 1, 2, 0], [2.0, 0.0, 0.51, 0.0]), ([3, 3, 3], [1.0, 1.0, 4.0]), ([0], [5.0])
    )
    of = ContinuationFeatures(4, np.array([1 * 4 + 1, 3 * 4 + 3]), 1.0)
    length, runs, longest = [4, 3, 1], [2, 1, 0], [2, 3, 0]
    total, mean = [2.51, 6, 5], [2.51 / 4, 2, 5]
    sd = [np.std([2, 0, 0.51, 0]), np.sqrt(2), 0]
    least, most = [0, 1, 5], [2, 4, 5]
    zero, on_lattice = [0.5, 0, 0], [0.75, 1, 1]
    first, last = [1, 3, 0], [2, 3, -1]
    counts = [[1, 2, 1, 0], [0, 0, 0, 3], [1, 0, 0, 0]]
    pairs = [[1, 0], [0, 2], [0, 0]]
    by_token = [[0, 2, 0.51, 0], [0, 0, 0, 6], [5, 0, 0, 0]]
    rest = [length, runs, longest, total, mean, sd, least, most, zero, on_lattice, first, last]
    expected = np.column_stack([counts, pairs, by_token, *rest])
    np.testing.assert_allclose(of(events), expected, rtol=1e-6)


def test_a_tenth_of_a_second_is_on_the_lattice_and_a_fifth_is_not() -> None:
    events = suffixes(([1], [3 + 0.09 / 60]), ([1], [3 + 0.2 / 60]), ([1], [3 - 0.09 / 60]))
    of = ContinuationFeatures(2, np.zeros(0, dtype=np.int64), 1.0)
    assert of(events)[:, -3].tolist() == [1, 0, 1]


def test_the_most_frequent_observed_pairs_are_features() -> None:
    of = ContinuationFeatures.of(only_tokens([2, 2, 2, 0], [1, 0]), n_tokens=3, lattice=1.0)
    assert of.pairs.tolist() == [2 * 3 + 2, 1 * 3 + 0, 2 * 3 + 0]
    many = np.random.default_rng(0).integers(30, size=5_000).tolist()
    assert len(ContinuationFeatures.of(only_tokens(many), n_tokens=30, lattice=1.0).pairs) == 90


def test_prefix_features_worked_by_hand() -> None:
    seen = Prefixes(
        np.array([1, 2, 2, 3, 1], dtype=np.int16),
        np.array([0, 7, 0, 2, 0], dtype=np.float32),
        np.array([0, 4, 5]),
        np.array([0, 1], dtype=np.int32),
    )
    expected = [
        [0, 1, 2, 1, 4, 9, 2, 7, 0.5, 3, 2, 2],
        [0, 1, 0, 0, 1, 0, 0, 0, 1.0, 1, -1, -1],
    ]
    np.testing.assert_allclose(prefix_features(seen, n_tokens=4), expected)


def all_launches(n_events: list[int]) -> Prefixes:
    """Every launch of stays with so many events."""
    lengths = np.concatenate([np.arange(1, n + 1) for n in n_events])
    return prefixes(lengths.tolist(), np.repeat(np.arange(len(n_events)), n_events).tolist())


def test_a_stay_is_chosen_once_at_most_and_most_are() -> None:
    launches = all_launches([5] * 400 + [20] * 400)
    rows = one_launch_per_stay(launches, seed=1)
    assert len(set(launches.stay_rows[rows])) == len(rows) > 400
    assert not np.array_equal(rows, one_launch_per_stay(launches, seed=2))


def test_how_long_a_visit_still_takes_does_not_decide_whether_its_launch_is_chosen() -> None:
    n = 4_000
    launches = all_launches([4] * n + [40] * n)
    rows = one_launch_per_stay(launches, seed=0)
    length, stay = launches.lengths()[rows], launches.stay_rows[rows]
    for k in (1, 2, 3, 4):
        short, long = (np.count_nonzero((length == k) & part) for part in (stay < n, stay >= n))
        assert abs(short - long) < 5 * math.sqrt(short + long)


def test_the_choice_does_not_depend_on_the_order_of_launches() -> None:
    launches = all_launches([3, 9, 4, 6, 12, 5])
    order = np.random.default_rng(0).permutation(len(launches))
    shuffled = prefixes(launches.lengths()[order].tolist(), launches.stay_rows[order].tolist())
    there, here = one_launch_per_stay(shuffled, seed=3), one_launch_per_stay(launches, seed=3)
    assert np.array_equal(order[there], here)


def area_by_counting(observed: np.ndarray, generated: np.ndarray) -> float:
    above = generated[None, :] > observed[:, None]
    equal = generated[None, :] == observed[:, None]
    return float((above + 0.5 * equal).mean())


def test_the_area_is_the_share_of_pairs_in_order_with_ties_halved() -> None:
    chance = np.random.default_rng(1)
    scores = np.round(chance.random((2, 90)) + np.array([[0.0], [0.1]]), 1)
    fold = np.arange(90) % FOLDS
    expected = np.mean([area_by_counting(*scores[:, fold == k]) for k in range(FOLDS)])
    found = summarise(scores, fold, seed=0)
    assert found.auc == pytest.approx(expected)
    assert found.low < found.auc < found.high


def test_swapping_labels_within_launches_puts_the_null_at_one_half() -> None:
    chance = np.random.default_rng(2)
    scores = chance.random((2, 300)) + np.array([[0.0], [0.6]])
    found = summarise(scores, np.arange(300) % FOLDS, seed=0)
    assert found.auc > 0.8
    assert found.null_mean == pytest.approx(0.5, abs=0.005)
    assert 0.5 / math.sqrt(300) * 0.2 < found.null_sd < 1 / math.sqrt(300)
    assert found.p_value == pytest.approx(1 / 1001)


def random_rows(n: int, seed: int) -> Suffixes:
    chance = np.random.default_rng(seed)
    lengths = chance.integers(1, 12, size=n)
    rows = [[*chance.integers(1, 4, size=k).tolist(), 0] for k in lengths]
    return suffixes(*((row, [float(chance.integers(9)) for _ in row]) for row in rows))


def test_suffixes_cannot_be_told_from_themselves() -> None:
    pytest.importorskip("sklearn")
    rows = random_rows(150, seed=1)
    found = c2st(scored(rows, rows), prefixes([1] * 150))
    assert found.auc == 0.5
    assert found.n_launches == 150


def test_rows_that_never_end_are_always_told() -> None:
    pytest.importorskip("sklearn")
    capped = only_tokens(*[[1, 1, 1, 1]] * 150)
    found = c2st(scored(capped, random_rows(150, seed=2), cap=4), prefixes([1] * 150))
    assert found.auc > 0.99
    assert found.p_value < 0.01


def test_what_is_wrong_for_its_prefix_alone_is_found_with_the_prefix() -> None:
    """Both sides hold a one-event and a two-event row equally often, but at other prefixes."""
    pytest.importorskip("sklearn")
    short = np.random.default_rng(0).random(600) < 0.5
    observed = only_tokens(*([1, 0] if one else [1, 1, 0] for one in short))
    generated = only_tokens(*([1, 1, 0] if one else [1, 0] for one in short))
    seen = prefixes([1 if one else 5 for one in short])
    table = scored(generated, observed)
    assert c2st(table, seen).auc == pytest.approx(0.5, abs=0.08)
    assert c2st(table, seen, conditional=True).auc > 0.99


def test_the_classifier_never_sees_the_launch_it_scores() -> None:
    """Features that name the launch and tell real from generated by noise alone teach nothing."""
    pytest.importorskip("sklearn")
    chance = np.random.default_rng(0)
    n = 600
    sides = [np.column_stack([np.arange(n), chance.random(n)]).astype(np.float32) for _ in range(2)]
    fold = np.arange(n) % FOLDS
    scores = out_of_fold(*sides, fold, seed=0)
    found = summarise(scores, fold, seed=0)
    assert abs(found.auc - 0.5) < 4 * found.null_sd


@pytest.mark.parametrize(("n", "told"), [(2, False), (FEWEST - 1, False), (FEWEST, True)])
def test_with_too_few_stays_to_split_a_tree_there_is_no_area(n: int, told: bool) -> None:
    """Otherwise even these, which never end, would be said to be like the truth."""
    pytest.importorskip("sklearn")
    capped = only_tokens(*[[1, 1, 1, 1]] * n)
    found = c2st(scored(capped, random_rows(n, seed=2), cap=4), prefixes([1] * n))
    assert (found.auc > 0.9) if told else math.isnan(found.auc)
    assert found.n_launches == n
