"""Features, recalibration and judgement of classifiers, against scikit-learn and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, roc_auc_score

from edsim.metrics.discrimination import BINS, auroc, judged
from edsim.metrics.downstream import (
    FEATURES,
    MODELS,
    gap_features,
    logistic_of,
    logit,
    platt,
    recalibrated,
)
from edsim.tables.visits import Prefixes


def prefixes(*gaps: list[float]) -> Prefixes:
    return Prefixes(
        np.ones(sum(map(len, gaps)), dtype=np.int16),
        np.concatenate(gaps).astype(np.float32),
        np.concatenate([[0], np.cumsum([len(one) for one in gaps])]),
        np.arange(len(gaps), dtype=np.int32),
    )


def test_features_worked_by_hand() -> None:
    found = gap_features(prefixes([0], [0, 10], [0, 30, 0, 6]))
    assert found.tolist() == [[0, 0, 0, 0, 0], [1, 10, 10, 10, 10], [3, 12, 30, 6, 36]]
    assert found[:, FEATURES["elapsed alone"]].tolist() == [[0], [10], [36]]


def random_case(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    chance = np.random.default_rng(seed)
    said = chance.beta(2, 4, n)
    return said, chance.random(n) < said**1.5, chance.integers(0, max(n // 4, 1), n)


def test_numbers_are_those_of_scikit_learn() -> None:
    said, came, stay = random_case(BINS - 50)  # every prediction has a bin of its own
    found = judged(said, came, stay, resamples=50)
    assert found["auroc"].value == pytest.approx(roc_auc_score(came, said))
    assert found["brier"].value == pytest.approx(brier_score_loss(came, said))
    slope = LogisticRegression(C=1e12).fit(logit(said)[:, None], came).coef_[0, 0]
    assert found["slope"].value == pytest.approx(slope, rel=1e-3)
    for one in found.values():
        assert one.low < one.value < one.high


def test_many_predictions_lose_next_to_nothing_in_bins() -> None:
    said, came, stay = random_case(20_000)
    found = judged(said, came, stay, resamples=5)
    assert found["auroc"].value == pytest.approx(roc_auc_score(came, said), abs=3e-4)
    assert found["brier"].value == pytest.approx(brier_score_loss(came, said))
    slope = LogisticRegression(C=1e12).fit(logit(said)[:, None], came).coef_[0, 0]
    assert found["slope"].value == pytest.approx(slope, rel=0.01)


def test_the_order_of_rows_changes_nothing() -> None:
    said, came, stay = random_case(300)
    turn = np.random.default_rng(1).permutation(300)
    one, other = judged(said, came, stay, 20), judged(said[turn], came[turn], stay[turn], 20)
    for name in one:
        assert other[name].value == pytest.approx(one[name].value)
        assert other[name].low == pytest.approx(one[name].low)


def test_perfect_useless_and_empty_predictions() -> None:
    came = np.array([False, True] * 20)
    stay = np.arange(40)
    perfect = judged(came.astype(float), came, stay, 20)
    assert perfect["auroc"].value == 1 and perfect["brier"].value == 0
    assert np.isnan(perfect["slope"].value)  # no finite slope separates them
    useless = judged(np.full(40, 0.5), came, stay, 20)
    assert useless["auroc"].value == 0.5 and useless["brier"].value == 0.25
    assert np.isnan(useless["slope"].value)
    nothing = judged(np.zeros(0), np.zeros(0, bool), stay[:0], 20)
    one_sided = judged(np.linspace(0.1, 0.9, 40), np.ones(40, bool), stay, 20)
    assert np.isnan(nothing["auroc"].value) and np.isnan(nothing["brier"].value)
    assert np.isnan(one_sided["auroc"].value) and np.isnan(one_sided["slope"].value)


def test_areas_worked_by_hand() -> None:
    assert auroc(np.array([1.0, 1, 0, 0, 1, 1])) == pytest.approx((1.5 + 2) / 4)
    assert np.isnan(auroc(np.array([0.0, 0, 1, 1])))


def test_recalibration_undoes_a_distortion() -> None:
    chance = np.random.default_rng(3)
    true = chance.uniform(0.05, 0.95, 40_000)
    came = chance.random(40_000) < true
    distorted = recalibrated(true, 0.7, 2.5)
    intercept, slope = platt(distorted, came)
    assert slope == pytest.approx(1 / 2.5, rel=0.05)
    assert np.abs(recalibrated(distorted, intercept, slope) - true).max() < 0.02
    assert np.isnan(platt(true, np.ones(40_000, bool))).all()


def test_predictions_that_are_turned_around_are_not_recalibrated() -> None:
    chance = np.random.default_rng(3)
    true = chance.uniform(0.05, 0.95, 2_000)
    came = chance.random(2_000) < true
    assert platt(true, came)[1] > 0.5
    assert np.isnan(platt(1 - true, came)).all()
    assert logistic_of(logit(1 - true)[None], np.ones((1, 2_000)), came[None] * 1.0)[1][0] < -0.5


def test_many_regressions_at_once_are_each_of_their_own() -> None:
    x = np.tile(np.linspace(-1, 1, 9), (2, 1))
    n = np.full((2, 9), 50.0)
    positive = np.stack([n[0] * 0.5, n[1] / (1 + np.exp(-(0.5 + 2 * x[1])))])
    intercept, slope = logistic_of(x, n, positive)
    assert intercept == pytest.approx([0, 0.5]) and slope == pytest.approx([0, 2])


@pytest.mark.parametrize("model", MODELS)
def test_a_model_learns_what_the_features_tell(model: str) -> None:
    chance = np.random.default_rng(4)
    features = chance.exponential(30, size=(2_000, 5)).astype(np.float32)
    came = features[:, 4] > 40
    predict = MODELS[model](features[:1_500], came[:1_500])
    assert roc_auc_score(came[1_500:], predict(features[1_500:])) > 0.98
