"""What is null says why, and says the true reason."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from edsim.metrics.paired import Field, compared
from edsim.metrics.registry import measures_named
from edsim.metrics.seed_spread import compared_seeds
from edsim.tables.comparisons import ComparisonRow, SeedRow
from edsim.tables.visits import Suffixes
from metrics.groups import FACTS, group, row_of, rows_of, table
from metrics.rows import lasting, only_tokens


def test_a_multiple_has_the_reason_of_its_own_divergence_first() -> None:
    ends_at_once, goes_on = only_tokens([0], [0]), only_tokens([1, 0], [1, 0])
    one = group(table(ends_at_once, goes_on), reference=table(goes_on, goes_on))
    assert row_of(one, "jsd_pairs").value is None
    assert row_of(one, "xf_pairs").note == row_of(one, "jsd_pairs").note
    at_truth = group(table(goes_on, goes_on), reference=table(goes_on, goes_on))
    assert "order-3 model's divergence is 0" in row_of(at_truth, "xf_pairs").note


def field(*generated: Suffixes, observed: Suffixes, cap: int = 128, draws: int = 1) -> Field:
    return Field(
        names=("A", "B"),
        tables=tuple(table(one, observed, cap=cap, draws=draws) for one in generated),
        subject_of_stay=np.arange(len(observed)),
        facts=FACTS,
    )


def compared_rows(of: Field, name: str) -> list[ComparisonRow]:
    return compared(of, measures_named([name]), n_resamples=20, n_exchanges=20)


def compared_by_seeds(of: Field, name: str) -> list[SeedRow]:
    return compared_seeds(of, 3, measures_named([name]), n_resamples=20)


STOPPED, RUNNING = lasting(*[0.0] * 12), lasting(*[float(n) for n in range(30, 42)])


def test_a_clock_that_stands_still_has_a_ratio_and_no_logarithm_of_it() -> None:
    row = row_of(group(table(STOPPED, RUNNING)), "duration_ratio")
    assert (row.value, row.loss, row.position, row.floor) == (0.0, None, None, None)
    assert row.note == "the ratio is 0, so its logarithm is not defined"


@pytest.mark.parametrize("other", [STOPPED, RUNNING])
def test_clocks_that_stand_still_are_compared_without_a_warning(other: Suffixes) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in ("duration_ratio", "duration_ratio_by_cap"):
            rows = compared_rows(field(STOPPED, other, observed=RUNNING), name)
            seeds = compared_by_seeds(field(*[STOPPED] * 3, *[other] * 3, observed=RUNNING), name)
            assert (rows[0].a, rows[0].difference, rows[0].p_value) == (0.0, None, None)
            assert rows[0].note == "the ratio is 0, so its logarithm is not defined"
            assert "the ratio is 0" in seeds[0].note


def test_that_no_launch_ends_on_both_sides_is_the_reason_and_not_that_none_ended() -> None:
    first, second = ([1, 0], [1, 1]), ([1, 1], [1, 0])
    of = field(only_tokens(*first), only_tokens(*second), observed=lasting(30, 60), cap=2)
    for name in ("duration_ratio", "los_mae", "los_w1"):
        (row,) = compared_rows(of, name)
        assert (row.n_launches, row.difference) == (0, None)
        assert row.note == "there is no launch on which both ended"


@pytest.mark.parametrize("name", ["longer_than_cap", "occupancy_observed", "token_share_observed"])
def test_what_describes_the_truth_is_not_compared(name: str) -> None:
    rows = compared_rows(field(STOPPED, RUNNING, observed=RUNNING), name)
    seeds = compared_by_seeds(field(*[STOPPED] * 3, *[RUNNING] * 3, observed=RUNNING), name)
    for row in (*rows, *seeds):
        assert row.difference is None
        assert row.note == "describes the truth: nothing to compare"


def test_a_single_stay_has_no_interval() -> None:
    """Drawn again it is the same stay; the width would be 0, as if nothing were more certain."""
    one = group(table(lasting(30), lasting(60)), reference=table(lasting(40), lasting(60)))
    for name in ("duration_ratio", "los_mae", "occupancy_mae", "jsd", "los_w1"):
        row = row_of(one, name)
        assert row.value is not None
        assert (row.corrected, row.low, row.high, row.floor) == (None,) * 4
        assert "no other stays can be drawn" in row.note, name
    (row,) = compared_rows(field(lasting(30), lasting(40), observed=lasting(60)), "los_mae")
    assert (row.difference, row.low, row.high, row.detectable) == (10.0, None, None, None)
    assert "no other stays can be drawn" in row.note


def test_a_single_stay_has_no_interval_of_a_multiple_either() -> None:
    generated, observed, beside = only_tokens([1, 0]), only_tokens([2, 0]), only_tokens([3, 2, 0])
    one = group(table(generated, observed), reference=table(beside, observed))
    row = row_of(one, "xf")
    assert row.value is not None and (row.low, row.high, row.corrected) == (None, None, None)


def test_an_empty_bin_of_forecasts_is_told_as_that() -> None:
    one = group(table(lasting(*[30.0] * 20), lasting(*[30.0] * 10), draws=2))
    notes = {row.note for row in rows_of(one, "reliability") if row.value is None}
    assert notes == {"no launch has a forecast in this bin"}
    energy = row_of(group(table(RUNNING, RUNNING), facts=FACTS), "energy_score")
    assert "two draws" in energy.note and "discharge" not in energy.note
