"""What is wrong with the simulator behind a rollouts table of a cohort."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from edsim.lab.beside_truth import beside_truth
from edsim.lab.cohort import Cohort
from edsim.lab.few_people import sayable
from edsim.metrics.diagnosis import diagnosed
from edsim.metrics.proper import launch_chance
from edsim.metrics.seen import Seen
from edsim.tables.rollouts import Rollouts
from edsim.tables.verdicts import Verdict

MOST_LAUNCHES = 100_000
"""Of more launches so many are looked at, chosen by keyed chance: more would tell nothing else."""


def diagnose(rollouts: Rollouts, cohort: Cohort) -> tuple[Verdict, ...]:
    """Every fault found, or one verdict without a fault; the first draw of each launch is read.

    Of restricted data of few people the sentences are without their numbers.
    """
    scored = beside_truth(_some(rollouts), cohort)
    visits = cohort.visits(rollouts.header.vocabulary)
    rows, lengths = visits.checked(scored.launches)
    last_seen = visits.tokens[visits.offsets[rows] + lengths - 1]
    vocabulary = cohort.vocabulary(rollouts.header.vocabulary)
    seen = Seen.of(scored, last_seen, rollouts.header.tokens, tuple(vocabulary.discharges))
    return tuple(
        replace(verdict, sentence=sayable(verdict.sentence, cohort, scored.launches))
        for verdict in diagnosed(seen, rollouts.header.producer)
    )


def _some(rollouts: Rollouts) -> Rollouts:
    """The first draw of at most so many launches, the same whatever their order."""
    rows = np.flatnonzero(rollouts.draw == 0)
    if len(rows) > MOST_LAUNCHES:
        chance = launch_chance(rollouts.launches[rows], "diagnosis")
        rows = np.sort(rows[np.argpartition(chance, MOST_LAUNCHES)[:MOST_LAUNCHES]])
    return Rollouts(
        rollouts.header,
        rollouts.launches[rows],
        rollouts.draw[rows],
        rollouts.generated.take(rows),
    )
