"""A small look at closed loop while a model is trained: how a few validation visits go on.

It decides nothing; a collapse is seen while it happens and not after a night of training.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

import numpy as np

from edsim.lab.cohort import Cohort
from edsim.metrics.composition import composition_jsd
from edsim.metrics.termination import termination
from edsim.metrics.timing import duration_ratio
from edsim.tables.facts import VocabularyFacts
from edsim.tables.rollouts import Scored

if TYPE_CHECKING:
    from edsim.models.neural.model import NeuralModel
    from edsim.training.loop import Probe

LAUNCHES = "val-2000"
SEED = 0


def closed_loop_probe(cohort: Cohort, vocabulary: str | None = None) -> Probe:
    """Termination, divergence of the event mix and duration ratio on validation launches."""
    from edsim.models.neural.simulator import NeuralSimulator
    from edsim.rollout.decoding import parse_rule
    from edsim.rollout.slots import roll_out_fast

    name = cohort.vocabulary_name(vocabulary)
    visits, facts = cohort.visits(name), VocabularyFacts.open(cohort.encoded(name))
    launches = np.asarray(cohort.launches(LAUNCHES))
    observed = visits.suffixes(launches)
    rule, cap = parse_rule("vanilla").bind(facts), cohort.manifest.cap

    def probe(model: NeuralModel) -> dict[str, float]:
        simulator = NeuralSimulator(copy.deepcopy(model))  # training goes on with its own
        generated = roll_out_fast(simulator, visits, launches, rule=rule, cap=cap, seed=SEED)
        scored = Scored(generated, observed, launches, len(facts.tokens), cap)
        return {
            "termination": termination(scored),
            "jsd": composition_jsd(scored),
            "duration": duration_ratio(scored),
        }

    return probe
