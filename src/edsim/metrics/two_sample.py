"""Can a classifier tell generated continuations from true ones? The two-sample test (C2ST).

A gradient-boosted classifier is trained to tell the observed from the generated suffix of a launch.
An area under the ROC curve of .5 means it cannot. One launch per stay at most, both suffixes of a
launch in one fold, so that nothing is told apart by knowing the stay.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edsim import seeds
from edsim.metrics.features import ContinuationFeatures, Features, prefix_features
from edsim.metrics.threads import threads_for
from edsim.tables.rollouts import Scored
from edsim.tables.visits import Prefixes, Suffixes

FOLDS = 3
RESAMPLES = 1_000
CLASSIFIER: dict[str, Any] = {
    "learning_rate": 0.1,
    "max_iter": 100,
    "max_leaf_nodes": 31,
    "min_samples_leaf": 20,
    "l2_regularization": 0.0,
    "max_bins": 255,
    "early_stopping": False,
}
"""Settings of scikit-learn's HistGradientBoostingClassifier."""
FEWEST = CLASSIFIER["min_samples_leaf"] * FOLDS // (FOLDS - 1)
"""Launches: with fewer no tree can be split in training, and everything would look alike."""

TWO_SAMPLE: dict[str, str] = {
    "c2st": "C2ST area, continuation alone",
    "c2st_conditional": "C2ST area, with the prefix",
    "c2st_headroom": "C2ST: what the prefix adds, of what is left",
    "c2st_logit": "C2ST: what the prefix adds, logit",
    "c2st_p_value": "C2ST: chance of an area this large",
    "c2st_feature": "C2ST area of one feature alone",
}
"""Names of the rows, and what a table heads them with."""

Scores = NDArray[np.float64]
"""[2, launches]: of the observed and the generated suffixes, out of fold; high means generated."""


@dataclass(frozen=True, slots=True)
class TwoSample:
    """The area under the curve, .5 is best; its interval; where it lies when nothing differs."""

    auc: float
    low: float
    high: float
    null_mean: float
    null_sd: float
    p_value: float
    """Share of relabelled data sets (this one among them) with an area at least as large."""
    n_launches: int
    again: NDArray[np.float64]
    """The area over resampled launches."""


def one_launch_per_stay(prefixes: Prefixes, seed: int) -> NDArray[np.int64]:
    """Rows, one a stay at most: the first launch of each stay that a keyed coin keeps.

    The coin keeps a launch with one over the mean number of launches a stay has here. Whether a
    launch is chosen then depends on its own prefix and chance alone. Choosing among all launches of
    a stay would depend on how many there are, that is, on the observed future: visits soon over
    would be preferred, and even the true process could be told from the truth.
    """
    keys = prefixes.keys(seeds.key("c2st", seed) >> 1)
    n_stays = len(np.unique(prefixes.stay_rows))
    kept = np.flatnonzero(seeds.uniform(keys) * len(prefixes) < n_stays)
    kept = kept[np.lexsort((prefixes.lengths()[kept], prefixes.stay_rows[kept]))]
    _, first = np.unique(prefixes.stay_rows[kept], return_index=True)
    chosen = kept[first]
    return np.asarray(chosen[np.argsort(seeds.mix(keys[chosen]), kind="stable")])


@dataclass(frozen=True, slots=True)
class Sides:
    """What a classifier sees of one launch a stay; rows correspond."""

    rows: NDArray[np.int64]
    """The launches, by their place in the table."""
    observed: Features
    generated: Features
    prefix: Features
    of: ContinuationFeatures

    @classmethod
    def of_launches(cls, scored: Scored, prefixes: Prefixes, lattice: float, seed: int) -> Sides:
        """Features of the launches that a keyed coin chooses."""
        rows = one_launch_per_stay(prefixes, seed)
        observed, generated = scored.observed.take(rows), scored.generated.take(rows)
        features = ContinuationFeatures.of(observed, n_tokens=scored.n_tokens, lattice=lattice)
        seen = Suffixes(prefixes.tokens, prefixes.minutes, prefixes.offsets).take(rows)
        chosen = Prefixes(seen.tokens, seen.minutes, seen.offsets, prefixes.stay_rows[rows])
        known = prefix_features(chosen, n_tokens=scored.n_tokens)
        return cls(rows, features(observed), features(generated), known, features)

    def __len__(self) -> int:
        return len(self.prefix)

    def told(self, *, conditional: bool, seed: int) -> TwoSample:
        """The test, with the prefix shown to the classifier or not; nan with few stays."""
        if len(self) < FEWEST:
            nan = float("nan")
            return TwoSample(nan, nan, nan, nan, nan, nan, len(self), np.full(RESAMPLES, nan))
        sides = [self.observed, self.generated]
        if conditional:
            sides = [np.hstack([side, self.prefix]) for side in sides]
        fold = np.arange(len(self)) % FOLDS
        return summarise(out_of_fold(sides[0], sides[1], fold, seed=seed), fold, seed=seed)

    def areas_alone(self) -> NDArray[np.float64]:
        """The area of each continuation feature alone, above .5 where the generated is larger."""
        found = [
            _Ranked.of(np.stack([self.observed[:, j], self.generated[:, j]]))
            for j in range(self.observed.shape[1])
        ]
        return np.array([one.auc(one.once) for one in found])


def c2st(
    scored: Scored,
    prefixes: Prefixes,
    *,
    conditional: bool = False,
    lattice: float = 1.0,
    seed: int = 0,
) -> TwoSample:
    """Area under the ROC curve of telling generated from observed suffixes, the mean of the folds.

    `prefixes` are those of the launches of `scored`. Marginal: the classifier sees features of the
    continuation alone; `conditional` shows it the prefix too, so that continuations which are right
    on average but wrong for their prefix are found. `lattice` is the record's time unit in minutes.
    Null: the labels within a launch change places at random, the classifiers stay as they are.
    Interval: percentiles over resampled launches. nan with fewer than `FEWEST` launches.
    """
    sides = Sides.of_launches(scored, prefixes, lattice, seed)
    return sides.told(conditional=conditional, seed=seed)


def out_of_fold(
    observed: Features, generated: Features, fold: NDArray[np.int64], *, seed: int
) -> Scores:
    """The classifier's score of every suffix, by the one that has not seen its launch."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    scores = np.empty((2, len(fold)))
    for k in range(FOLDS):
        held_out = fold == k
        model = HistGradientBoostingClassifier(**CLASSIFIER, random_state=seed)
        labels = np.repeat([0, 1], np.count_nonzero(~held_out))
        with threads_for(len(labels)):
            model.fit(np.vstack([observed[~held_out], generated[~held_out]]), labels)
            for side, features in enumerate((observed, generated)):
                scores[side, held_out] = model.predict_proba(features[held_out])[:, 1]
    return scores


def summarise(scores: Scores, fold: NDArray[np.int64], *, seed: int) -> TwoSample:
    """Area, interval and null from out-of-fold scores; nothing is fitted again."""
    chance = np.random.Generator(np.random.Philox(key=seeds.key("c2st resamples", seed)))
    folds = [_Ranked.of(scores[:, fold == k]) for k in range(FOLDS)]
    auc = float(np.mean([one.auc(one.once) for one in folds]))
    again = np.empty(RESAMPLES)
    null = np.empty(RESAMPLES)
    for i in range(RESAMPLES):
        again[i] = np.mean([one.auc(one.resampled(chance)) for one in folds])
        null[i] = np.mean([one.relabelled(chance) for one in folds])
    low, high = np.quantile(again, (0.025, 0.975))
    return TwoSample(
        auc=auc,
        low=float(low),
        high=float(high),
        null_mean=float(null.mean()),
        null_sd=float(null.std()),
        p_value=float((1 + np.count_nonzero(null >= auc)) / (1 + RESAMPLES)),
        n_launches=len(fold),
        again=again,
    )


@dataclass(frozen=True, slots=True)
class _Ranked:
    """The scores of one fold as places among the distinct ones, [2, launches]."""

    place: NDArray[np.int64]
    n_places: int
    ranks: NDArray[np.float64]  # mid-ranks, [2, launches]

    @classmethod
    def of(cls, scores: Scores) -> _Ranked:
        _, place, counts = np.unique(scores, return_inverse=True, return_counts=True)
        place = place.reshape(scores.shape)
        middle = np.cumsum(counts) - (counts - 1) / 2
        return cls(place, len(counts), middle[place])

    @property
    def once(self) -> NDArray[np.int64]:
        return np.ones(self.place.shape[1], dtype=np.int64)

    def auc(self, weight: NDArray[np.int64]) -> float:
        """Share of pairs (observed, generated) in order; a launch counts `weight` times."""
        observed, generated = (
            np.bincount(side, weights=weight, minlength=self.n_places) for side in self.place
        )
        below = np.cumsum(observed) - observed / 2
        return float((generated * below).sum() / (observed.sum() * generated.sum()))

    def resampled(self, chance: np.random.Generator) -> NDArray[np.int64]:
        n = self.place.shape[1]
        return np.bincount(chance.integers(n, size=n), minlength=n)

    def relabelled(self, chance: np.random.Generator) -> float:
        """The area after the two labels of each launch have changed places with probability 1/2."""
        n = self.ranks.shape[1]
        chosen = chance.integers(2, size=n)
        total = self.ranks[chosen, np.arange(n)].sum()
        return float((total - n * (n + 1) / 2) / (n * n))
