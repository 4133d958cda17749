"""Comparisons that are kept: one pair, found by the rollouts of both sides, or made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from edsim.lab.cohort import Cohort
from edsim.lab.compare import compare
from edsim.lab.references import found_rollouts, rollouts_asked
from edsim.lab.sheets import Rolled, scoring_code
from edsim.lab.store import Asked, store_of
from edsim.metrics.paired import EXCHANGES
from edsim.metrics.seed_spread import FEWEST_SEEDS
from edsim.progress import Progress, silent
from edsim.tables.comparisons import write_comparisons

SUFFIX = ".comparisons.json"


@dataclass(frozen=True, slots=True)
class Compared:
    """Two sides, each one producer or a recipe's training seeds, and what is compared of them."""

    a: Sequence[Rolled]
    b: Sequence[Rolled]
    names: tuple[str, str]
    metrics: Sequence[str] | None
    resamples: int

    def sides(self) -> tuple[Sequence[Rolled], Sequence[Rolled]]:
        """With all seeds where each side has enough of them; the first of each otherwise."""
        if min(len(self.a), len(self.b)) >= FEWEST_SEEDS:
            return self.a, self.b
        return self.a[:1], self.b[:1]


def comparison_path(cohort: Cohort, asked: Compared, progress: Progress = silent) -> Path:
    """The file of the comparison, found or made."""

    def make(path: Path) -> None:
        sides = [
            [found_rollouts(cohort, one.producer, one.settings, progress=progress) for one in side]
            for side in asked.sides()
        ]
        made = compare(
            sides,
            cohort,
            names=asked.names,
            metrics=asked.metrics,
            resamples=asked.resamples,
            progress=progress,
        )
        write_comparisons(made, path)

    return store_of(cohort).get(comparison_asked(cohort, asked), make, progress)


def comparison_asked(cohort: Cohort, asked: Compared) -> Asked:
    """A comparison, by all that decides it."""
    sides = [
        [rollouts_asked(cohort, one.producer, one.settings).key for one in side]
        for side in asked.sides()
    ]
    n_launches = cohort.n_launches(asked.a[0].settings.launches)
    return Asked(
        kind="comparisons",
        name="-".join(asked.names),
        inputs={
            "sides": sides,
            "names": list(asked.names),
            "metrics": None if asked.metrics is None else list(asked.metrics),
            "resamples": asked.resamples,
            "exchanges": EXCHANGES,
            "code": scoring_code(),
        },
        ending=SUFFIX,
        units=float(n_launches * sum(map(len, sides))),
        counted="comparisons",
    )
