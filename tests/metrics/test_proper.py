"""Proper scores: against the definition written out, against scoringrules, and by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edsim.metrics import forecasts
from edsim.metrics.forecasts import MEASURES
from edsim.metrics.measure import Floats, Measure, ScoringFacts
from edsim.metrics.proper import (
    HORIZON_MINUTES,
    brier_fair,
    crps_fair,
    energy_fair,
    log_score,
    randomised_rank,
)
from edsim.tables.rollouts import Ensemble
from edsim.tables.visits import Suffixes
from metrics.groups import group, rows_of, table
from metrics.rows import lasting, suffixes

FACTS = ScoringFacts(tokens=("END", "Check", "Home", "Ward"), discharges=(2, 3), lattice=1.0)
BY_NAME = {one.name + one.group: one for one in MEASURES}


def ensemble(generated: Suffixes, observed: Suffixes, draws: int) -> Ensemble:
    n = len(observed)
    launches = np.stack([np.arange(n), np.ones(n)], axis=1).astype(np.int32)
    return Ensemble(generated, observed, launches, draws, n_tokens=4, cap=128)


def value(name: str, rows: Ensemble) -> Floats:
    measure = BY_NAME[name]
    sums = measure.sums(rows, FACTS)  # type: ignore[arg-type]
    assert isinstance(sums, np.ndarray)
    assert np.isfinite(sums).all()
    return measure.value(sums.sum(axis=0))


def crps_written_out(draws: Floats, observed: float) -> float:
    k = len(draws)
    apart = sum(abs(x - observed) for x in draws) / k
    spread = sum(abs(x - y) for x in draws for y in draws) / (2 * k * (k - 1))
    return apart - spread


def energy_written_out(draws: Floats, observed: Floats) -> float:
    k = len(draws)
    apart = sum(np.linalg.norm(x - observed) for x in draws) / k
    spread = sum(np.linalg.norm(x - y) for x in draws for y in draws) / (2 * k * (k - 1))
    return float(apart - spread)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(2, 9).flatmap(
        lambda k: st.lists(st.lists(st.floats(0, 2000), min_size=k + 1, max_size=k + 1), min_size=1)
    )
)
def test_crps_is_the_double_sum_and_that_of_scoringrules(rows: list[list[float]]) -> None:
    sr = pytest.importorskip("scoringrules")
    numbers = np.array(rows)
    draws, observed = numbers[:, 1:], numbers[:, 0]
    found = crps_fair(draws, observed)
    slow = [crps_written_out(d, o) for d, o in zip(draws, observed, strict=True)]
    assert np.allclose(found, slow, rtol=0, atol=1e-9)
    theirs = sr.crps_ensemble(observed, draws, estimator="fair", backend="numpy")
    assert np.allclose(found, theirs, rtol=0, atol=1e-9)


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 6), st.integers(1, 8), st.integers(0, 2**32 - 1))
def test_energy_is_the_double_sum_over_times_and_kinds(k: int, n: int, seed: int) -> None:
    chance = np.random.default_rng(seed)
    times, time_ = chance.random((n, k)) * 5, chance.random(n) * 5
    kinds, kind = chance.integers(-1, 3, (n, k)), chance.integers(-1, 3, n)
    one_hot = np.eye(4) / math.sqrt(2)
    found = energy_fair(times, kinds, time_, kind)
    for i in range(n):
        draws = np.column_stack([times[i], one_hot[kinds[i] + 1]])
        truth = np.concatenate([[time_[i]], one_hot[kind[i] + 1]])
        assert found[i] == pytest.approx(energy_written_out(draws, truth), abs=1e-9)


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 9), st.integers(1, 8), st.integers(0, 2**32 - 1))
def test_energy_brier_and_log_score_are_those_of_scoringrules(k: int, n: int, seed: int) -> None:
    sr = pytest.importorskip("scoringrules")
    chance = np.random.default_rng(seed)
    times, time_ = chance.random((n, k)) * 5, chance.random(n) * 5
    kinds, kind = chance.integers(-1, 3, (n, k)), chance.integers(-1, 3, n)
    one_hot = np.eye(4) / math.sqrt(2)
    draws = np.concatenate([times[:, :, None], one_hot[kinds + 1]], axis=2)
    truth = np.concatenate([time_[:, None], one_hot[kind + 1]], axis=1)
    theirs = sr.es_ensemble(truth, draws, estimator="fair", backend="numpy")
    assert np.allclose(energy_fair(times, kinds, time_, kind), theirs, rtol=0, atol=1e-9)
    # the fair Brier score is the fair CRPS of draws that say 0 or 1
    said, came = chance.integers(0, 2, (n, k)), chance.integers(0, 2, n)
    n_yes = said.sum(axis=1).astype(float)
    theirs = sr.crps_ensemble(came, said, estimator="fair", backend="numpy")
    assert np.allclose(brier_fair(n_yes, k, came == 1), theirs, rtol=0, atol=1e-9)
    theirs = sr.log_score(came, (n_yes + 0.5) / (k + 1), backend="numpy")
    assert np.allclose(log_score(n_yes, k, came == 1), theirs, rtol=0, atol=1e-9)


def test_energy_of_a_single_kind_is_the_crps() -> None:
    chance = np.random.default_rng(0)
    draws, observed = chance.random((50, 7)), chance.random(50)
    found = energy_fair(draws, np.zeros((50, 7), np.int64), observed, np.zeros(50, np.int64))
    assert np.allclose(found, crps_fair(draws, observed), rtol=0, atol=1e-12)


def test_the_fair_crps_does_not_depend_on_how_much_was_drawn() -> None:
    chance = np.random.default_rng(1)
    observed = chance.exponential(size=40_000)
    few, many = (crps_fair(chance.exponential(size=(40_000, k)), observed) for k in (2, 32))
    assert few.mean() == pytest.approx(0.5, abs=0.02)  # E|X - X'| / 2 of the true law
    assert many.mean() == pytest.approx(0.5, abs=0.02)


def test_crps_by_hand_in_minutes() -> None:
    rows = ensemble(lasting(10, 30, 60, 60), lasting(20, 90), draws=2)
    # first: mean distance 10, half the mean distance of two draws 10; second: 30 and 0
    assert value("crps", rows) == pytest.approx((0 + 30) / 2)
    assert value("crps_unbounded", rows) == pytest.approx(15)


def test_a_capped_draw_is_present_for_the_whole_day_and_flatters_without_horizon() -> None:
    capped = suffixes(([1, 1], [5.0, 5.0]), ([1, 1], [5.0, 5.0]))
    rows = ensemble(capped, lasting(10), draws=2)
    assert value("crps", rows) == HORIZON_MINUTES - 10
    assert value("crps_unbounded", rows) == 0.0
    assert value("brier", rows).tolist() == [1.0] * 5


def test_nothing_beyond_a_day_counts() -> None:
    rows = ensemble(lasting(2_000, 5_000), lasting(3_000), draws=2)
    assert value("crps", rows) == 0.0


def test_brier_and_log_score_by_hand() -> None:
    # present after 1 h: one of two draws, and the visit is; after 2 h none, nor the visit
    rows = ensemble(lasting(30, 90), lasting(70), draws=2)
    assert value("brier", rows)[:2].tolist() == [0.25 - 0.25, 0.0]
    assert value("log_score", rows)[:2] == pytest.approx([-math.log(0.5), -math.log(5 / 6)])
    assert brier_fair(np.array([2.0]), 4, np.array([False]))[0] == pytest.approx(0.25 - 0.25 / 3)
    assert np.isfinite(log_score(np.array([0.0]), 4, np.array([True]))).all()


def test_the_energy_score_sees_a_wrong_disposition() -> None:
    home, ward = ([2, 0], [30.0, 0.0]), ([3, 0], [30.0, 0.0])
    assert value("energy_score", ensemble(suffixes(home, home), suffixes(home), 2)) == 0.0
    assert value("energy_score", ensemble(suffixes(ward, ward), suffixes(home), 2)) == 1.0
    # the last discharge counts, and none at all is a kind of its own
    both, neither = ([3, 2, 0], [30.0, 0.0, 0.0]), ([1, 0], [30.0, 0.0])
    assert value("energy_score", ensemble(suffixes(both, both), suffixes(home), 2)) == 0.0
    assert value("energy_score", ensemble(suffixes(neither, neither), suffixes(home), 2)) == 1.0


def test_a_perfect_forecast_scores_nothing_and_a_useless_one_more() -> None:
    truth = lasting(30, 400, 1000)
    twice = Suffixes.join(
        [truth.take(np.array([0, 0])), *(truth.take(np.array([i, i])) for i in (1, 2))]
    )
    perfect, useless = ensemble(twice, truth, 2), ensemble(lasting(*[5.0] * 6), truth, 2)
    for name in ("crps", "crps_unbounded", "brier", "energy_score"):
        assert np.all(value(name, perfect) == 0)
        assert np.all(value(name, useless) >= 0) and np.any(value(name, useless) > 0)


def test_ranks_of_the_true_law_are_even_also_at_ties() -> None:
    chance = np.random.default_rng(2)
    observed, draws = chance.integers(3, size=50_000), chance.integers(3, size=(50_000, 4))
    rank = randomised_rank(draws.astype(float), observed.astype(float), chance.random(50_000))
    assert rank.min() >= 0 and rank.max() < 1
    assert np.histogram(rank, 10, (0, 1))[0] / 5_000 == pytest.approx(np.ones(10), abs=0.06)


def test_pit_is_one_everywhere_for_the_true_law_and_leans_for_a_short_one() -> None:
    chance = np.random.default_rng(3)
    n, k = 4_000, 8
    law = lambda *size: chance.exponential(300, size=size)  # noqa: E731
    rows = ensemble(lasting(*law(n * k)), lasting(*law(n)), k)
    assert value("pit", rows) == pytest.approx(np.ones(10), abs=0.2)
    short = ensemble(lasting(*law(n * k) / 3), lasting(*law(n)), k)
    assert value("pit", short)[-1] > 2.5


def test_what_is_said_comes_true_as_often() -> None:
    chance = np.random.default_rng(4)
    n, k = 20_000, 20
    mean = chance.choice([60.0, 240.0, 900.0], size=n)
    rows = ensemble(
        lasting(*(chance.exponential(size=n * k) * np.repeat(mean, k))),
        lasting(*(chance.exponential(size=n) * mean)),
        k,
    )
    measure = BY_NAME["reliabilityh=4"]
    totals = np.asarray(measure.sums(rows, FACTS)).sum(axis=0)  # type: ignore[arg-type]
    assert measure.target is not None
    said, came_true, n_rows = measure.target(totals), measure.value(totals), totals[:10]
    held = n_rows > 500
    # within the noise of the ensemble: a launch lands in a bin by its draws, not by its law
    assert np.average(came_true[held], weights=n_rows[held]) == pytest.approx(
        np.average(said[held], weights=n_rows[held]), abs=0.02
    )
    assert came_true[held][-1] > came_true[held][0] + 0.5


@pytest.mark.parametrize("measure", MEASURES, ids=lambda one: one.name + one.group)
def test_one_draw_or_no_rows_have_no_score(measure: Measure) -> None:
    nothing = Suffixes(np.zeros(0, np.int16), np.zeros(0, np.float32), np.zeros(1, np.int64))
    for rows in (
        ensemble(lasting(10, 20), lasting(10, 20), draws=1),
        ensemble(nothing, nothing, draws=2),
    ):
        found = np.atleast_1d(value(measure.name + measure.group, rows))
        assert np.isnan(found).all() and len(found) == max(1, len(measure.at))
    rows_of_one_draw = rows_of(group(table(lasting(10, 20), lasting(10, 20))), measure.name)
    assert rows_of_one_draw
    for row in rows_of_one_draw:
        assert row.value is None and "two draws" in row.note


def test_a_vocabulary_without_discharges_has_no_energy_score() -> None:
    rows = ensemble(lasting(10, 20), lasting(10), draws=2)
    sums = BY_NAME["energy_score"].sums(rows, replace(FACTS, discharges=()))  # type: ignore[arg-type]
    assert math.isnan(BY_NAME["energy_score"].value(np.asarray(sums).sum(axis=0)))


@pytest.mark.parametrize("measure", MEASURES, ids=lambda one: one.name + one.group)
def test_the_order_of_rows_changes_nothing(measure: Measure) -> None:
    chance = np.random.default_rng(5)
    n, k = 30, 4
    rows = ensemble(
        lasting(*chance.exponential(300, n * k)), lasting(*chance.exponential(300, n)), k
    )
    order = chance.permutation(n)
    draws = (order[:, None] * k + chance.permuted(np.tile(np.arange(k), (n, 1)), axis=1)).ravel()
    mixed = Ensemble(
        rows.generated.take(draws), rows.observed.take(order), rows.launches[order], k, 4, 128
    )
    name = measure.name + measure.group
    assert value(name, mixed) == pytest.approx(value(name, rows), abs=1e-12, nan_ok=True)


def test_totals_of_many_resamples_are_valued_at_once() -> None:
    chance = np.random.default_rng(6)
    rows = ensemble(lasting(*chance.exponential(300, 80)), lasting(*chance.exponential(300, 20)), 4)
    for measure in MEASURES:
        sums = np.asarray(measure.sums(rows, FACTS))  # type: ignore[arg-type]
        weights = chance.integers(3, size=(7, 20))
        together = measure.value(weights @ sums)
        apart = np.array([measure.value(w @ sums) for w in weights])
        assert np.allclose(together, apart, equal_nan=True)


def test_forecasts_are_named_once() -> None:
    assert len(BY_NAME) == len(forecasts.MEASURES)
