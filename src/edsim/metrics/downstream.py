"""Classifiers of delays: what the gaps of a visit so far tell beyond the time gone by.

Two models, two sets of features, fitted on training rows. Platt's recalibration is a logistic
regression of the outcome on the logit of what was predicted, on validation rows of the target.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edsim.metrics.features import Features
from edsim.metrics.threads import threads_for
from edsim.tables.visits import Prefixes

Labels = NDArray[np.bool_]
Shares = NDArray[np.float64]
Predict = Callable[[Features], Shares]

COLUMNS = ("count", "mean", "maximum", "last", "elapsed")
"""Of the gaps so far, in minutes; elapsed is from the stay's first row to the last one seen."""

FEATURES: Mapping[str, tuple[int, ...]] = {"gaps": (0, 1, 2, 3, 4), "elapsed alone": (4,)}
"""Which columns a classifier is given."""

BOOSTING: dict[str, Any] = {
    "learning_rate": 0.1,
    "max_iter": 100,
    "max_leaf_nodes": 15,
    "min_samples_leaf": 50,
    "early_stopping": False,
}
"""Settings of scikit-learn's HistGradientBoostingClassifier."""
LEAST = 1e-6
"""Predicted probabilities are kept this far from 0 and 1."""


def gap_features(prefixes: Prefixes) -> Features:
    """[rows, COLUMNS] of the gaps before the second to the last event seen; 0 without any."""
    lengths = prefixes.lengths()
    count = lengths - 1
    elapsed = prefixes.elapsed_minutes()  # a stay's first gap is 0
    longest = np.maximum.reduceat(prefixes.minutes, prefixes.offsets[:-1])
    last = prefixes.minutes[prefixes.offsets[1:] - 1]
    mean = elapsed / np.maximum(count, 1)
    return np.column_stack([count, mean, longest, last, elapsed]).astype(np.float32)


def fit_logistic(features: Features, labels: Labels) -> Predict:
    """Logistic regression on the logarithms of the features, brought to one scale."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1_000))
    model.fit(np.log1p(features), labels)
    return lambda some: np.asarray(model.predict_proba(np.log1p(some))[:, 1])


def fit_boosting(features: Features, labels: Labels) -> Predict:
    """Gradient boosting of trees on the features as they are."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    with threads_for(len(features)):
        model = HistGradientBoostingClassifier(**BOOSTING, random_state=0).fit(features, labels)

    def predict(some: Features) -> Shares:
        with threads_for(len(some)):
            return np.asarray(model.predict_proba(some)[:, 1])

    return predict


MODELS: Mapping[str, Callable[[Features, Labels], Predict]] = {
    "logistic": fit_logistic,
    "boosting": fit_boosting,
}


def platt(predicted: Shares, labels: Labels) -> tuple[float, float]:
    """Intercept and slope of the outcome on the logit of the prediction.

    nan, nan where the outcomes are all the same, or the predictions; and where the slope is not
    above 0: moved by it, predictions would come in the opposite order, which is no recalibration.
    """
    intercept, slope = logistic_of(logit(predicted)[None], *_counts(labels))
    if not slope[0] > 0:
        return float("nan"), float("nan")
    return float(intercept[0]), float(slope[0])


def recalibrated(predicted: Shares, intercept: float, slope: float) -> Shares:
    """The predictions moved by what `platt` found."""
    return np.asarray(1 / (1 + np.exp(-(intercept + slope * logit(predicted)))))


def logit(share: Shares) -> Shares:
    """ln(p / (1 - p)), with p kept off 0 and 1."""
    kept = np.clip(share, LEAST, 1 - LEAST)
    return np.asarray(np.log(kept) - np.log1p(-kept))


def logistic_of(x: Shares, n: Shares, positive: Shares) -> tuple[Shares, Shares]:
    """Intercepts and slopes of logistic regressions, one a row of [regressions, points].

    `n` and `positive` say how many outcomes there are at each point x, and how many are positive.
    Newton's method; nan where it does not settle: with one outcome or one point only, and where
    the outcomes are told apart without error.
    """
    with np.errstate(all="ignore"):
        total = n.sum(axis=1)
        rate = positive.sum(axis=1) / total
        centre = (n * x).sum(axis=1) / total
        z = x - centre[:, None]
        a, b = np.log(rate / (1 - rate)), np.zeros(len(x))
        for _ in range(30):
            p = 1 / (1 + np.exp(-(a[:, None] + b[:, None] * z)))
            off, weight = positive - n * p, n * p * (1 - p)
            g0, g1 = off.sum(axis=1), (off * z).sum(axis=1)
            h00, h01, h11 = ((weight * z**k).sum(axis=1) for k in range(3))
            det = h00 * h11 - h01**2
            step = (h00 * g1 - h01 * g0) / det
            a, b = a + (h11 * g0 - h01 * g1) / det, b + step
            settled = np.isfinite(a) & (np.abs(step) < 1e-6 * (1 + np.abs(b)))
            if (settled | ~np.isfinite(a)).all():
                break
        return np.where(settled, a - b * centre, np.nan), np.where(settled, b, np.nan)


def _counts(labels: Labels) -> tuple[Shares, Shares]:
    return np.ones((1, len(labels))), labels.astype(np.float64)[None]
