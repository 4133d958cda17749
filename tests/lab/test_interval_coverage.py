"""Intervals hold the truth as often as they say: 200 data sets drawn from one whose truth is known.

What all launches of a large synthetic cohort say is the truth; a data set is 2,000 of its stays.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from edsim.lab.build import CohortSettings, build_cohort
from edsim.lab.cohort import Cohort, open_cohort
from edsim.lab.rollouts import RolloutSettings, roll_out
from edsim.lab.scores import table_of
from edsim.lab.scoring_facts import scoring_facts
from edsim.metrics.figures import Group, Table
from edsim.metrics.measure import ScoringFacts
from edsim.metrics.registry import METRICS
from edsim.metrics.resampling import resample_weights, stays_of
from edsim.metrics.score_rows import group_rows
from edsim.sources.synthetic import SOURCE, SyntheticOptions
from edsim.tables.scores import ScoreRow

pytestmark = pytest.mark.calibration

SETS, STAYS, RESAMPLES = 200, 2_000, 300
LAUNCHES_A_STAY = 2
MEANS = (
    "reached_discharge",
    "duration_ratio",
    "los_mae",
    "los_rank_correlation",
    "occupancy_generated",
    "share_zero_gaps",
    "distinct_ratio",
    "edit_distance",
)
NOISY = ("jsd", "jsd_per_rollout", "los_w1", "occupancy_mae")
"""Noise biases them up; cut at 0, so that of a perfect simulator they hold 0 nearly always."""


@pytest.fixture(scope="module")
def cohort(tmp_path_factory: pytest.TempPathFactory) -> Cohort:
    directory = tmp_path_factory.mktemp("coverage") / "C"
    options = SyntheticOptions(stays=200_000)
    build_cohort(SOURCE, options, directory, settings=CohortSettings(vocabularies=("ed32",)))
    return open_cohort(directory)


def rolled(cohort: Cohort, producer: str) -> Table:
    """A few launches of every test stay."""
    every = np.asarray(cohort.launches("all"))
    n = LAUNCHES_A_STAY * len(np.unique(every[:, 0]))
    chosen = np.sort(np.random.default_rng(0).permutation(len(every))[:n])
    return table_of(roll_out(cohort, producer, RolloutSettings(), at=every[chosen]), cohort)


def biased(cohort: Cohort) -> Table:
    """The true process with a slow clock."""
    table = rolled(cohort, "oracle")
    slow = replace(table.first.generated, minutes=table.first.generated.minutes * np.float32(1.3))
    return Table(replace(table.first, generated=slow))


PRODUCERS: dict[str, Callable[[Cohort], Table]] = {
    "oracle": lambda cohort: rolled(cohort, "oracle"),
    "order 3": lambda cohort: rolled(cohort, "ngram:3"),
    "biased": biased,
}


def rows_of(table: Table, facts: ScoringFacts) -> list[ScoreRow]:
    stays, _ = stays_of(table.first.launches)
    weights = resample_weights(len(stays), RESAMPLES)
    group = Group(table=table, facts=facts, weights=weights, subject_of_stay=stays)
    rows = group_rows(group, [METRICS[name] for name in (*MEANS, *NOISY)])
    return [row for row in rows if row.metric in METRICS]


@pytest.mark.parametrize("producer", list(PRODUCERS))
def test_95_percent_intervals_hold_the_truth_in_90_to_99_of_100_data_sets(
    cohort: Cohort, producer: str
) -> None:
    table, facts = PRODUCERS[producer](cohort), scoring_facts(cohort, "ed32")
    truth = {
        (row.metric, row.at): row.value if row.corrected is None else row.corrected
        for row in rows_of(table, facts)
    }
    every, chance = np.unique(table.first.launches[:, 0]), np.random.default_rng(1)
    held: dict[tuple[str, float | None], list[bool]] = defaultdict(list)
    for _ in range(SETS):
        some = np.isin(table.first.launches[:, 0], chance.choice(every, STAYS, replace=False))
        for row in rows_of(table.take(some), facts):
            true = truth[row.metric, row.at]
            assert row.low is not None and row.high is not None and true is not None
            held[row.metric, row.at].append(row.low <= true <= row.high)
    shares = {at: float(np.mean(found)) for at, found in held.items()}
    assert len(shares) == len(MEANS) - 1 + 5 + len(NOISY)
    too_few = {at: share for at, share in shares.items() if share < 0.90}
    too_many = {at: share for at, share in shares.items() if share > 0.99 and at[0] in MEANS}
    assert (too_few, too_many) == ({}, {}), shares
