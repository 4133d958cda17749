"""Two producers on the same launches: differences, their intervals, and what chance makes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edsim.metrics.paired import Field, compared, holm
from edsim.metrics.registry import HEADLINE, METRICS, measures_named
from edsim.metrics.resampling import exchange_coins, same_columns, stay_sums
from edsim.metrics.seed_spread import compared_seeds, seeds_needed, welch
from edsim.tables.comparisons import ComparisonRow
from edsim.tables.visits import Suffixes
from metrics.groups import FACTS, row_of, table
from metrics.groups import group as group_of
from metrics.rows import lasting, only_tokens, suffixes

NAMES = ("A", "B")


def field(*generated: Suffixes, observed: Suffixes, cap: int = 128, draws: int = 1) -> Field:
    made = tuple(table(one, observed, cap=cap, draws=draws) for one in generated)
    return Field(
        names=NAMES,
        tables=made,
        subject_of_stay=np.arange(len(observed)),
        facts=FACTS,
    )


def one_row(of: Field, name: str, *, n_exchanges: int = 400) -> ComparisonRow:
    (row,) = compared(of, measures_named([name]), n_resamples=200, n_exchanges=n_exchanges)
    return row


def minutes(n: int, mean: float, seed: int) -> list[float]:
    return np.random.default_rng(seed).exponential(mean, n).tolist()


def test_differences_are_of_losses_and_worked_by_hand() -> None:
    observed = lasting(*[60.0] * 40)
    row = one_row(field(lasting(*[50.0] * 40), lasting(*[90.0] * 40), observed=observed), "los_mae")
    assert (row.a, row.b, row.difference) == (10.0, 30.0, -20.0)
    assert row.low == row.high == -20.0
    assert row.better == "a" and "A is lower" in row.sentence


@pytest.mark.parametrize("slower", [1.0, 1.1, 2.0])
def test_intervals_of_differences_of_distances_hold_the_true_difference(slower: float) -> None:
    """One side draws from the true law, so its distance is 0; the other is slower by a factor."""
    law = np.random.default_rng(9).exponential(60, 400_000)
    truth = float(np.mean(np.log1p(slower * law) - np.log1p(law)))
    held = []
    for i in range(100):
        seen, exact, slow = (lasting(*minutes(150, 60, 3 * i + j)) for j in range(3))
        slow = replace(slow, minutes=slow.minutes * np.float32(slower))
        row = one_row(field(slow, exact, observed=seen), "los_w1", n_exchanges=1)
        assert row.low is not None and row.high is not None
        held.append(row.low <= truth <= row.high)
    assert np.mean(held) >= 0.88


def test_a_value_with_a_target_is_compared_by_its_distance_from_it() -> None:
    observed = lasting(*[60.0] * 40)
    row = one_row(
        field(lasting(*[30.0] * 40), lasting(*[90.0] * 40), observed=observed), "duration_ratio"
    )
    assert (row.a, row.b, row.target) == (0.5, 1.5, 1.0)
    assert row.difference == pytest.approx(np.log(2) - np.log(1.5))
    assert row.better == "b" and "B is nearer to the truth" in row.sentence


def test_a_producer_does_not_differ_from_itself() -> None:
    observed, generated = lasting(*minutes(60, 100, 0)), lasting(*minutes(60, 100, 1))
    for row in compared(
        field(generated, generated, observed=observed),
        [measure for measure in METRICS.values() if measure.reads == "first draw"],
        n_resamples=20,
        n_exchanges=50,
    ):
        assert row.difference is None or (row.difference, row.p_value) == (0.0, 1.0)
        assert row.better == ""


def test_who_stands_first_only_turns_the_sign() -> None:
    observed = lasting(*minutes(80, 100, 0))
    a, b = lasting(*minutes(80, 100, 1)), lasting(*minutes(80, 160, 2))
    one, other = (
        one_row(field(*sides, observed=observed), "los_mae") for sides in ((a, b), (b, a))
    )
    assert one.difference == pytest.approx(-(other.difference or 0))
    assert one.low == pytest.approx(-(other.high or 0))
    assert one.p_value == pytest.approx(other.p_value or 0, abs=0.05)


def test_the_order_of_rows_changes_nothing() -> None:
    chance = np.random.default_rng(0)
    launches = [(i // 3, i % 3 + 1) for i in range(90)]
    sides = [lasting(*minutes(90, 100, k)) for k in range(3)]
    order = chance.permutation(90)
    rows = []
    for at in (np.arange(90), order):
        tables = tuple(
            table(one.take(at), sides[2].take(at), launches=[launches[i] for i in at])
            for one in sides[:2]
        )
        of = Field(names=NAMES, tables=tables, subject_of_stay=np.arange(30), facts=FACTS)
        rows.append(one_row(of, "occupancy_mae"))
    assert rows[0].p_value == rows[1].p_value
    for name in ("difference", "low", "high", "detectable"):
        assert getattr(rows[0], name) == pytest.approx(getattr(rows[1], name))


def test_exchanges_find_nothing_in_two_draws_of_one_law_about_as_often_as_they_should() -> None:
    found = []
    for seed in range(60):
        chance = np.random.default_rng(seed)
        rows = [
            only_tokens(*([*chance.integers(1, 5, size=4).tolist(), 0] for _ in range(40)))
            for _ in range(3)
        ]
        row = one_row(field(rows[0], rows[1], observed=rows[2]), "jsd", n_exchanges=99)
        found.append(row.p_value or 0)
    assert 0 <= sum(p <= 0.1 for p in found) <= 14
    assert 0.35 < np.mean(found) < 0.65


def test_a_large_difference_is_as_rare_as_the_number_of_exchanges_can_tell() -> None:
    observed = only_tokens(*[[1, 2, 0]] * 40)
    row = one_row(field(observed, only_tokens(*[[3, 3, 0]] * 40), observed=observed), "jsd")
    assert row.p_value == pytest.approx(1 / 401)
    assert row.better == "a"


def test_what_differs_without_saying_which_is_better_is_said_so() -> None:
    """A is as much too short as B is too long: their laws differ, their losses hardly."""
    observed = lasting(*minutes(60, 100, 0))
    total = float(observed.total_minutes().mean())
    a, b = (lasting(*(np.array(minutes(60, 1, 1)) * total * k).tolist()) for k in (0.72, 1.30))
    row = one_row(field(a, b, observed=observed), "duration_ratio")
    assert row.better == ""
    assert row.low is not None and row.high is not None and row.low < 0 < row.high


def test_capped_rows_are_left_out_on_both_sides_where_they_have_no_end() -> None:
    observed = lasting(*[60.0] * 4)
    capped = suffixes(([1, 1], [5.0, 5.0]), *(([1, 0], [30.0, 0.0]),) * 3)
    row = one_row(field(capped, lasting(600, 60, 60, 60), observed=observed, cap=2), "los_mae")
    assert (row.n_launches, row.n_stays, row.where_both_end) == (3, 3, True)
    assert (row.a, row.b) == (30.0, 0.0)  # not 135, which B's first launch would make
    assert "where both end" in row.sentence


def test_without_an_end_anywhere_there_is_no_difference_and_a_reason() -> None:
    capped = only_tokens(*[[1, 1]] * 4)
    row = one_row(field(capped, capped, observed=lasting(*[60.0] * 4), cap=2), "duration_ratio")
    assert row.difference is None and row.p_value is None and row.sentence == ""
    assert "ended" in row.note


def test_one_stay_has_a_difference_and_no_chance_beyond_it() -> None:
    row = one_row(field(lasting(30.0), lasting(40.0), observed=lasting(60.0)), "los_mae")
    assert row.difference == 10.0
    assert row.p_value == 1.0 and row.better == ""


def test_proper_scores_need_draws() -> None:
    row = one_row(field(lasting(30.0), lasting(40.0), observed=lasting(60.0)), "crps")
    assert row.difference is None and "draws" in row.note
    observed = lasting(*minutes(30, 60, 0))
    both = (lasting(*minutes(60, 60, 1)), lasting(*minutes(60, 600, 2)))
    row = one_row(field(*both, observed=observed, draws=2), "crps")
    assert row.difference is not None and row.difference < 0


def test_few_people_are_not_shown() -> None:
    of = replace(
        field(lasting(*[30.0] * 9), lasting(*[40.0] * 9), observed=lasting(*[60.0] * 9)),
        restricted=True,
    )
    row = one_row(of, "los_mae")
    assert (row.a, row.difference, row.n_stays) == (None, None, 0)
    assert "10 subjects" in row.note


def test_values_are_those_of_the_score_sheet() -> None:
    observed, a, b = (lasting(*minutes(60, 100, k)) for k in range(3))
    of = field(a, b, observed=observed)
    wanted = [one for one in HEADLINE.values() if one.reads == "first draw"]
    for row in compared(of, wanted, n_resamples=10, n_exchanges=10):
        for said, one in ((row.a, of.tables[0]), (row.b, of.tables[1])):
            value = row_of(group_of(one), row.metric).value
            assert said == (None if value is None else pytest.approx(value))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_is_never_below_the_raw_value_nor_above_bonferroni(p: list[float]) -> None:
    adjusted = holm(p)
    for raw, made in zip(p, adjusted, strict=True):
        assert raw <= made <= max(raw, min(1.0, raw * len(p))) + 1e-12
    assert sorted(adjusted) == [adjusted[i] for i in sorted(range(len(p)), key=lambda i: p[i])]


def test_exchanged_totals_are_those_of_a_plain_loop() -> None:
    chance = np.random.default_rng(1)
    one, other = chance.integers(0, 5, (2, 30, 3)).astype(float)
    stay = np.arange(30) // 2
    sums = [stay_sums(side, stay, 15) for side in (one, other)]
    coins = exchange_coins(15, 140)
    found = sums[0].exchanged(sums[1], lambda a, b: np.stack([a, b], axis=1), coins)
    for i in range(140):
        moved = coins[stay, i].astype(bool)[:, None]
        assert found[i, 0] == pytest.approx(np.where(moved, other, one).sum(axis=0))
        assert found[i, 1] == pytest.approx(np.where(moved, one, other).sum(axis=0))


def test_histograms_of_two_tables_get_the_columns_of_either() -> None:
    a, b = (
        table(only_tokens([1, 0]), only_tokens([2, 0])),
        table(only_tokens([3, 0]), only_tokens([2, 0])),
    )
    measure = METRICS["jsd_pairs"]
    sums = [stay_sums(measure.sums(t.first, FACTS), np.zeros(1, np.int64), 1) for t in (a, b)]  # type: ignore[arg-type]
    totals = [one.totals() for one in same_columns(*sums)]
    # pairs 1-0, 2-0, 3-0 generated, then observed
    assert totals[0].tolist() == [1, 0, 0, 0, 1, 0]
    assert totals[1].tolist() == [0, 0, 1, 0, 1, 0]


# Seeds ------------------------------------------------------------------------------------------


def test_welch_is_that_of_scipy() -> None:
    from scipy.stats import ttest_ind

    a, b = np.array([1.0, 2.0, 4.0]), np.array([3.0, 3.5, 7.0, 9.0])
    found = ttest_ind(a, b, equal_var=False)
    low, high, p = welch(a, b)
    interval = found.confidence_interval()
    assert (low, high, p) == pytest.approx((interval.low, interval.high, found.pvalue))


def test_seeds_needed_grow_with_their_spread() -> None:
    few, many = seeds_needed(1.0, 0.2, 0.2), seeds_needed(1.0, 1.0, 1.0)
    assert few is not None and many is not None and 2 <= few < many
    assert many == 17  # as tables of the two-sample t-test have it
    assert seeds_needed(0.0, 1.0, 1.0) is None
    assert seeds_needed(1e-6, 1.0, 1.0) is None


def seeds(means: Sequence[float], seed: int) -> list[Suffixes]:
    return [lasting(*minutes(80, mean, seed + k)) for k, mean in enumerate(means)]


def test_recipes_are_compared_by_their_seeds_and_not_by_their_stays() -> None:
    observed = lasting(*minutes(80, 100, 99))
    spread, steady = seeds([20, 100, 500], 0), seeds([100, 100, 100], 10)
    (row,) = compared_seeds(
        field(*spread, *steady, observed=observed),
        3,
        measures_named(["occupancy_mae"]),
        n_resamples=100,
    )
    assert row.between_a is not None and row.between_b is not None
    assert row.between_a > 5 * row.between_b
    assert row.better == "" and row.p_value is not None and row.p_value > 0.05
    assert row.within_b == pytest.approx(row.between_b, rel=3)
    assert "seeds a side" in row.sentence


def test_a_measure_that_one_seed_does_not_have_is_null_with_a_reason() -> None:
    capped, ended = only_tokens(*[[1, 1]] * 5), lasting(*[30.0] * 5)
    of = field(*[ended] * 3, *[ended, ended, capped], observed=ended, cap=2)
    (row,) = compared_seeds(of, 3, measures_named(["los_mae"]), n_resamples=10)
    assert row.difference is None and "every seed" in row.note
