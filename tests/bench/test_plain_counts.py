"""The plain count model and the fast one are the same model."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from edsim.bench import plain_counts
from edsim.bench.plain_counts import PlainCounts
from edsim.models.contexts import tabulate
from edsim.models.counts import CountModel, compile_counts
from edsim.rollout.decoding import parse_rule
from edsim.rollout.engine import roll_out
from edsim.tables.facts import VocabularyFacts
from edsim.tables.visits import Visits
from random_visits import all_launches, random_visits

TRAINING = random_visits(300, 9, seed=1)
TEST = random_visits(60, 9, seed=2)


NAMES = ("END", *(f"event {i}" for i in range(1, 9)))
FACTS = VocabularyFacts("made up", "", NAMES, (), np.ones((9, 9), dtype=np.int64))


def fitted(order: int, most_entries: int, training: Visits = TRAINING) -> CountModel:
    return compile_counts(tabulate(training, 9, order), most_entries=most_entries)


@pytest.mark.parametrize("most_entries", [0, 10**9], ids=["searched", "laid out"])
@pytest.mark.parametrize("order", range(8))
def test_the_same_probabilities_after_every_prefix(order: int, most_entries: int) -> None:
    plain, fast = PlainCounts(TRAINING, order), fitted(order, most_entries)
    prefixes = TEST.prefixes(all_launches(TEST))
    state = fast.start(prefixes)
    proposed = fast.propose(state, torch.zeros(len(prefixes))).exp().numpy()
    for row in range(len(prefixes)):
        history = prefixes.tokens[prefixes.offsets[row] : prefixes.offsets[row + 1]].tolist()
        expected = np.zeros(9)
        for event, probability in plain.probabilities(history).items():
            expected[event] = probability
        np.testing.assert_allclose(proposed[row], expected, rtol=1e-14)


@pytest.mark.parametrize("most_entries", [0, 10**9], ids=["searched", "laid out"])
@pytest.mark.parametrize("order", [0, 1, 2, 3, 7])
def test_the_same_rollouts_when_given_the_same_chance(order: int, most_entries: int) -> None:
    prefixes = TEST.prefixes(all_launches(TEST))
    plain = plain_counts.roll_out(PlainCounts(TRAINING, order), prefixes, cap=12, seed=5)
    fast = roll_out(
        fitted(order, most_entries),
        prefixes,
        rule=parse_rule("vanilla").bind(FACTS),
        cap=12,
        seed=5,
    )
    assert plain.offsets.tolist() == fast.offsets.tolist()
    assert plain.tokens.tolist() == fast.tokens.tolist()
    assert plain.minutes.tolist() == fast.minutes.tolist()
