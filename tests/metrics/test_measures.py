"""Every measure worked by hand, and as the plain functions beside it say."""

from __future__ import annotations

import math

import numpy as np
import pytest

from edsim.metrics.composition import composition_jsd, step_jsd
from edsim.metrics.edit import edit_distances
from edsim.metrics.figures import Table
from edsim.metrics.occupancy import HOURS, occupancy_error, occupancy_mae
from edsim.metrics.registry import METRICS
from edsim.metrics.steps import STEPS
from edsim.metrics.termination import reached_discharge, termination
from edsim.metrics.timing import centred_ranks, duration_ratio
from edsim.tables.visits import END, Suffixes
from metrics.groups import FACTS, TOKENS, group, row_of, rows_of, table
from metrics.rows import lasting, only_tokens, suffixes

LAUNCHES = [(i // 3, i % 3 + 1) for i in range(400)]


def random_rows(n: int, seed: int, *, cap: int = 6) -> Suffixes:
    """Rows of up to `cap` events, most of which end."""
    chance = np.random.default_rng(seed)
    made = []
    for _ in range(n):
        tokens = chance.integers(1, len(TOKENS), size=chance.integers(0, cap)).tolist()
        tokens = [*tokens, END] if chance.random() < 0.8 or not tokens else tokens
        made.append((tokens, chance.integers(0, 90, size=len(tokens)).tolist()))
    return suffixes(*made)


@pytest.fixture(scope="module")
def mixed() -> Table:
    """400 launches, up to three of a stay."""
    return table(random_rows(400, 0), random_rows(400, 1), launches=LAUNCHES, cap=6)


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("kind", ["", "per_rollout", "first10"])
def test_divergences_are_those_of_the_plain_histograms(mixed: Table, n: int, kind: str) -> None:
    name = "jsd" + {1: "", 2: "_pairs", 3: "_triples"}[n] + (f"_{kind}" if kind else "")
    plain = composition_jsd(
        mixed.first,
        n,
        weighting="per_rollout" if kind == "per_rollout" else "pooled",
        first=10 if kind == "first10" else None,
    )
    assert row_of(group(mixed), name).value == pytest.approx(plain, rel=1e-5)


def test_noise_and_excess_are_columns_of_their_own(mixed: Table) -> None:
    one = group(
        mixed, reference=table(random_rows(400, 2), mixed.first.observed, launches=LAUNCHES)
    )
    jsd, xf = rows_of(one, "jsd")
    assert jsd.value is not None and jsd.corrected is not None and jsd.bias is not None
    assert jsd.corrected == pytest.approx(max(jsd.value - jsd.bias, 0.0)) and jsd.bias > 0
    assert jsd.loss is not None and jsd.floor is not None and jsd.excess is not None
    assert jsd.excess == pytest.approx(jsd.loss - jsd.floor)
    assert xf.loss is not None and xf.floor is not None
    assert xf.bias is None and xf.excess == pytest.approx(xf.loss - xf.floor)
    error, ratio = row_of(one, "los_mae"), row_of(one, "duration_ratio")
    assert (error.bias, error.excess, ratio.bias) == (None, None, None)
    assert ratio.excess is not None


def test_many_codes_are_sorted_where_no_table_holds_them(
    mixed: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("edsim.metrics.mix_measures._LARGEST_TABLE", 0)
    found = row_of(group(mixed), "jsd_pairs").value
    assert found == pytest.approx(composition_jsd(mixed.first, 2))


def test_no_pair_on_either_side_is_no_score() -> None:
    row = row_of(group(table(only_tokens([0], [0]), only_tokens([0], [0]))), "jsd_pairs")
    assert row.value is None and "no such run" in row.note


def test_steps_are_those_of_the_plain_histograms(mixed: Table) -> None:
    rows = rows_of(group(mixed), "step_jsd")
    assert [row.at for row in rows] == list(STEPS)
    for row in rows:
        plain = step_jsd(mixed.first, int(row.at or 0))
        assert row.value is None if math.isnan(plain) else row.value == pytest.approx(plain)


def test_other_measures_are_the_plain_functions(mixed: Table) -> None:
    one, first = group(mixed), mixed.first
    plain = {
        "termination": termination(first),
        "reached_discharge": reached_discharge(first.generated, FACTS.discharges),
        "duration_ratio": duration_ratio(first),
        "occupancy_mae": occupancy_mae(first),
        "edit_distance": edit_distances(first).mean(),
    }
    for name, value in plain.items():
        assert row_of(one, name).value == pytest.approx(value), name
    errors = [row.value for row in rows_of(one, "occupancy_error")]
    assert errors == pytest.approx(occupancy_error(first).tolist())
    target = reached_discharge(first.observed, FACTS.discharges)
    assert float(row_of(one, "reached_discharge").target) == pytest.approx(target, rel=1e-5)


def test_the_gap_of_a_step_is_the_mean_over_rows_that_reach_it() -> None:
    hundred = [([1, 0], [10.0, 5.0])] * 100
    found = rows_of(group(table(suffixes(*hundred), suffixes(*hundred[::-1]))), "step_gap")
    assert [row.value for row in found[:3]] == [10.0, 5.0, None]
    assert found[0].target == "10"
    assert "100" in found[2].note


def test_errors_of_remaining_minutes_leave_capped_rows_out_or_take_what_they_have() -> None:
    generated = suffixes(([1, 0], [40.0, 0.0]), ([1, 0], [10.0, 0.0]), ([1, 1], [50.0, 50.0]))
    one = group(table(generated, lasting(30, 30, 500), cap=2))
    assert row_of(one, "los_mae").value == 15.0
    assert row_of(one, "los_mae_with_capped").value == pytest.approx((10 + 20 + 400) / 3)
    assert row_of(one, "remaining_minutes").value == 25.0
    assert row_of(one, "remaining_minutes").target == "30"


def test_ranks_are_those_of_scipy_ties_included() -> None:
    from scipy.stats import rankdata, spearmanr

    chance = np.random.default_rng(3)
    values, others = chance.integers(0, 9, size=(2, 60)).astype(float)
    ranks = centred_ranks(values)
    assert np.allclose((ranks - ranks[0]) * 60, rankdata(values) - rankdata(values)[0])
    assert ranks.sum() == pytest.approx(0)
    one = group(table(lasting(*values), lasting(*others)))
    expected = spearmanr(values, others).statistic
    assert row_of(one, "los_rank_correlation").value == pytest.approx(expected)


def test_a_constant_clock_has_no_rank_correlation() -> None:
    row = row_of(group(table(lasting(5, 5, 5), lasting(1, 2, 3))), "los_rank_correlation")
    assert row.value is None
    assert "equal" in row.note


def test_the_distance_of_durations_is_that_of_scipy() -> None:
    from scipy.stats import wasserstein_distance

    chance = np.random.default_rng(4)
    ours, theirs = chance.exponential(200, size=(2, 300))
    expected = wasserstein_distance(np.log1p(ours), np.log1p(theirs * 2))
    found = row_of(group(table(lasting(*ours), lasting(*theirs * 2))), "los_w1").value
    assert found == pytest.approx(expected, abs=0.007)  # a bin of the grid


def test_late_launches_have_three_quarters_of_their_visit_behind_them() -> None:
    observed = only_tokens([1, 0], [1, 0])  # one event and END to come
    launches = [(0, 3), (1, 2)]  # 3 of 4 events, 2 of 3 events
    generated = suffixes(([1, 0], [1.0, 1.0]), ([1, 0], [600.0, 0.0]))
    row = row_of(group(table(generated, observed, launches=launches)), "late_w1")
    assert row.value == pytest.approx(0, abs=1e-9)
    nobody = group(table(generated, observed, launches=[(0, 1), (1, 1)]))
    assert row_of(nobody, "late_w1").value is None


def test_repetition_worked_by_hand() -> None:
    loop, mixed_row = [2] * 12, [1, 2, 2, 4, 0]
    generated = only_tokens(loop, mixed_row)
    one = group(table(generated, only_tokens([1, 0], [1, 2, 0]), cap=12))
    values = {
        name: row_of(one, name).value
        for name in ("longest_run", "share_runs_10", "distinct_ratio", "share_tail_10")
    }
    assert values == {
        "longest_run": 7.0,  # (12 + 2) / 2
        "share_runs_10": 0.5,
        "distinct_ratio": pytest.approx((1 / 12 + 4 / 5) / 2),
        "share_tail_10": 1.0,  # of the one rollout with ten events
    }


def test_a_tail_is_of_the_last_ten_events() -> None:
    stands_still = [1, *[2] * 10, 0]
    moves = [*[2] * 9, 1, 2, 0]
    ends_in_another = [*[2] * 10, 1, 0]
    rows = only_tokens(stands_still, moves, ends_in_another)
    assert row_of(group(table(rows, rows)), "share_tail_10").value == pytest.approx(1 / 3)
    short = only_tokens([2] * 9 + [0])
    assert row_of(group(table(short, short)), "share_tail_10").value is None


def test_gaps_on_the_lattice_are_within_a_tenth_of_a_second_of_it() -> None:
    generated = suffixes(([1, 2, 1, 0], [0.0, 2.0, 3.5, 5.0015]))
    one = group(table(generated, lasting(1)))
    assert row_of(one, "share_zero_gaps").value == 0.25
    assert row_of(one, "share_on_lattice").value == 0.75
    assert row_of(one, "share_on_lattice").target == "1"


def test_shares_of_tokens_stand_under_their_names() -> None:
    one = group(table(only_tokens([1, 1, 3, 0]), only_tokens([1, 0])))
    ours = {row.group: row.value for row in rows_of(one, "token_share_generated")}
    theirs = {row.group: row.value for row in rows_of(one, "token_share_observed")}
    assert ours == {"END": 0.25, "Triage": 0.5, "Vitals": 0, "Discharge": 0.25, "Enter": 0}
    assert theirs == {"END": 0.5, "Triage": 0.5, "Vitals": 0, "Discharge": 0, "Enter": 0}


def test_edit_distances_worked_by_hand() -> None:
    one = table(only_tokens([1, 2, 0], [1, 1], [0]), only_tokens([1, 3, 0], [1, 0], [1, 2, 3, 0]))
    assert edit_distances(one.first).tolist() == pytest.approx([1 / 3, 1 / 2, 3 / 4])


def test_present_shares_stand_beside_each_other() -> None:
    one = group(table(lasting(60, 61), lasting(30, 700)))
    hours = [float(h) for h in HOURS]
    ours, theirs = rows_of(one, "occupancy_generated"), rows_of(one, "occupancy_observed")
    assert [row.at for row in ours] == hours
    assert [row.value for row in ours] == [50, 0, 0, 0, 0]
    assert [row.value for row in theirs] == [50, 50, 50, 50, 0]


def test_every_measure_has_a_name_a_title_and_a_reason_for_being_null() -> None:
    for name, measure in METRICS.items():
        assert name.startswith(measure.name)
        assert measure.title and measure.undefined
