"""Count models give on a graphics card what they give on the processor."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from edsim.models.contexts import tabulate
from edsim.models.counts import CountModel, compile_counts, compile_semi_markov
from edsim.rollout.decoding import parse_rule
from edsim.rollout.engine import roll_out
from edsim.rollout.slots import roll_out_fast
from edsim.tables.facts import VocabularyFacts
from random_visits import all_launches, random_visits

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA card here")

N_TOKENS = 9
TRAINING, TEST = random_visits(250, N_TOKENS, seed=21), random_visits(60, N_TOKENS, seed=22)
FACTS = VocabularyFacts(
    "made up", "", tuple("abcdefghi"), (), np.ones((N_TOKENS, N_TOKENS), dtype=np.int64)
)
MODELS = {
    "order 3 laid out": compile_counts(tabulate(TRAINING, N_TOKENS, 3)),
    "order 7 searched": compile_counts(tabulate(TRAINING, N_TOKENS, 7), most_entries=0),
    "semi-Markov": compile_semi_markov(tabulate(TRAINING, N_TOKENS, 2)),
}


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())
def test_the_same_rollouts(model: CountModel) -> None:
    launches = all_launches(TEST)
    rule = parse_rule("vanilla").bind(FACTS)
    here = roll_out(model, TEST.prefixes(launches), rule=rule, cap=20, seed=1)
    there = roll_out_fast(model.to("cuda"), TEST, launches, rule=rule, cap=20, seed=1, slots=100)
    assert here.offsets.tolist() == there.offsets.tolist()
    assert here.tokens.tolist() == there.tokens.tolist()
    np.testing.assert_allclose(here.minutes, there.minutes, rtol=1e-6)
