"""AUROC, Brier score and calibration slope of predicted probabilities, with intervals over stays.

Predictions are put into at most `BINS` bins of equal size once; what a resample of stays makes of
the three numbers then follows from counts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from edsim.metrics.downstream import Labels, Shares, logistic_of, logit
from edsim.metrics.measure import Floats, SparseSums, share
from edsim.metrics.resampling import RESAMPLES, resample_weights, stay_sums

BINS = 512


@dataclass(frozen=True, slots=True)
class Judged:
    """A number and its 95 % interval; nan where it is not defined."""

    value: float
    low: float
    high: float


def judged(
    predicted: Shares, labels: Labels, stay: NDArray[np.integer], resamples: int = RESAMPLES
) -> dict[str, Judged]:
    """`auroc`, `brier` and `slope` of the predictions; rows of one stay are drawn together."""
    stays, place = np.unique(stay, return_inverse=True)
    bins, points = _bins(predicted)
    n = len(points)
    error = (predicted - labels) ** 2
    sums = SparseSums(
        row=np.tile(np.arange(len(labels)), 2),
        column=np.concatenate([labels * n + bins, np.full(len(labels), 2 * n)]),
        value=np.concatenate([np.ones(len(labels)), error]),
        shape=(len(labels), 2 * n + 1),
    )
    by_stay = stay_sums(sums, place, len(stays))

    def numbers(totals: Floats) -> Floats:
        counts = totals[:, :-1]
        brier = share(totals[:, -1], counts.sum(axis=1))
        slope = logistic_of(np.tile(points, (len(totals), 1)), *_at_points(counts))[1]
        return np.stack([auroc(counts), brier, slope], axis=1)

    once = numbers(by_stay.totals()[None])[0] if len(stays) else np.full(3, np.nan)
    again = (
        by_stay.map(numbers, resample_weights(len(stays), resamples))
        if len(stays)
        else np.empty((0, 3))
    )
    return {
        name: _with_interval(once[k], again[:, k])
        for k, name in enumerate(("auroc", "brier", "slope"))
    }


def auroc(counts: Floats) -> Floats:
    """Chance that a positive is predicted above a negative, ties half; nan without one of them.

    Counts are [..., negatives by rising bins and then positives].
    """
    negative, positive = np.split(counts, 2, axis=-1)
    below = np.cumsum(negative, axis=-1) - negative / 2
    pairs = negative.sum(axis=-1) * positive.sum(axis=-1)
    return share((positive * below).sum(axis=-1), pairs)


def _bins(predicted: Shares) -> tuple[NDArray[np.int64], Floats]:
    """The bin of each prediction, and the mean logit in each bin; equal ones share a bin."""
    values, place, n = np.unique(predicted, return_inverse=True, return_counts=True)
    if len(values) > BINS:
        middle = np.cumsum(n) - n / 2
        of_value = np.minimum((middle / len(predicted) * BINS).astype(np.int64), BINS - 1)
        place = np.unique(of_value, return_inverse=True)[1][place]
    weight = np.bincount(place)
    points = np.bincount(place, weights=logit(predicted)) / np.maximum(weight, 1)
    return place.astype(np.int64), points


def _at_points(counts: Floats) -> tuple[Floats, Floats]:
    negative, positive = np.split(counts, 2, axis=-1)
    return negative + positive, positive


def _with_interval(value: float, again: Floats) -> Judged:
    """No interval where most resamples leave the number undefined."""
    defined = again[np.isfinite(again)]
    if len(defined) < max(len(again) / 2, 2):
        return Judged(float(value), float("nan"), float("nan"))
    low, high = np.quantile(defined, (0.025, 0.975))
    return Judged(float(value), float(low), float(high))
