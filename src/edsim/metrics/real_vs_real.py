"""How far apart two samples of real suffixes are: yardsticks of a divergence, and no bounds.

A simulator shares its launches with the truth, two samples do not: a good one may lie below them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from edsim import seeds
from edsim.metrics.composition import divergences
from edsim.metrics.measure import Floats, Measure, ScoringFacts
from edsim.metrics.resampling import StaySums, stay_sums, stays_of
from edsim.tables.rollouts import Scored
from edsim.tables.scores import ScoreRow
from edsim.tables.visits import Launches, Suffixes

TRIALS = 5

YARDSTICKS: dict[str, str] = {
    "real_vs_real": "two samples of all observed suffixes, each of the size scored",
    "population_vs_sample": "all observed suffixes and a sample of the size scored",
    "halves_by_stay": "the observed suffixes scored, of one half of the stays and of the other",
}
"""Ending of a divergence's name, and what stands on its two sides; the mean of five trials."""


def yardstick_rows(
    measure: Measure,
    kinds: Sequence[str],
    population: tuple[Suffixes, Launches],
    scored: tuple[Suffixes, Launches],
    facts: ScoringFacts,
) -> list[ScoreRow]:
    """Rows of some yardsticks of an event-mix divergence; low and high are the extremes of five.

    `population` are the observed suffixes of all launches of the split, `scored` those scored.
    """
    n = len(scored[1])
    found: dict[str, tuple[Floats, int]] = {}
    if {"real_vs_real", "population_vs_sample"} & set(kinds):
        whole = _by_launch(measure, population[0], facts)
        samples = _totals(whole, _samples(len(population[1]), n))
        found["real_vs_real"] = divergences(samples[:TRIALS], samples[TRIALS:]), n
        all_of_it = np.tile(whole.totals(), (TRIALS, 1))
        found["population_vs_sample"] = divergences(samples[:TRIALS], all_of_it), n
    if "halves_by_stay" in kinds:
        half = _halves(scored[1])
        sums = _by_launch(measure, scored[0], facts)
        sides = [_totals(sums, weights) for weights in (half, 1 - half)]
        found["halves_by_stay"] = divergences(*sides), n
    return [_row(measure, kind, *found[kind], len(stays_of(scored[1])[0])) for kind in kinds]


def _by_launch(measure: Measure, events: Suffixes, facts: ScoringFacts) -> StaySums:
    """What each launch adds to the histogram of observed runs."""
    n = len(events)
    nothing = Suffixes(events.tokens[:0], events.minutes[:0], np.zeros(n + 1, dtype=np.int64))
    launches = np.zeros((n, 2), dtype=np.int32)
    sums = measure.sums(Scored(events, nothing, launches, facts.n_tokens, 0), facts)  # type: ignore[arg-type]
    return stay_sums(sums, np.arange(n), n)


def _totals(sums: StaySums, weights: NDArray[np.uint8]) -> Floats:
    return sums.map(lambda totals: totals, weights)


def _samples(n_population: int, n: int) -> NDArray[np.uint8]:
    """[launches, 2 x trials]: how often a launch was drawn, with replacement."""
    chance = np.random.Generator(np.random.Philox(key=seeds.key("real against real", n)))
    drawn = [
        np.bincount(chance.integers(n_population, size=n), minlength=n_population)
        for _ in range(2 * TRIALS)
    ]
    return np.minimum(np.stack(drawn, axis=1), 255).astype(np.uint8)


def _halves(launches: Launches) -> NDArray[np.uint8]:
    """[launches, trials]: whether the stay lies in the first half."""
    stays, place = stays_of(launches)
    chance = np.random.Generator(np.random.Philox(key=seeds.key("halves by stay", len(stays))))
    first = np.zeros((TRIALS, len(stays)), dtype=np.uint8)
    for trial in first:
        trial[chance.permutation(len(stays))[: len(stays) // 2]] = 1
    return np.ascontiguousarray(first[:, place].T)


def _row(measure: Measure, kind: str, values: Floats, n_launches: int, n_stays: int) -> ScoreRow:
    defined = values[np.isfinite(values)]
    whole = len(defined) == len(values)
    return ScoreRow(
        metric=f"{measure.name}_{kind}",
        value=float(defined.mean()) if whole else None,
        low=float(defined.min()) if whole else None,
        high=float(defined.max()) if whole else None,
        unit=measure.unit,
        n_launches=n_launches,
        n_stays=n_stays,
        note=YARDSTICKS[kind] if whole else "a sample of this size has no such run of events",
    )
