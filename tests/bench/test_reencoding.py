"""The plain neural loop that the bench compares with is the same simulator."""

from __future__ import annotations

import pytest

from edsim.bench.reencoding import Reencoding
from edsim.models.neural.simulator import NeuralSimulator
from edsim.rollout.engine import roll_out
from edsim.rollout.slots import roll_out_fast
from neural_models import N_TOKENS, rule_of, small_model
from random_visits import all_launches, random_visits

VISITS = random_visits(20, N_TOKENS, seed=5)
LAUNCHES = all_launches(VISITS)


@pytest.mark.parametrize("network", ["causal_transformer", "gru"])
def test_reading_everything_again_gives_the_same_rollouts(network: str) -> None:
    model = small_model(network, "joint")  # type: ignore[arg-type]
    again = roll_out(Reencoding(model), VISITS.prefixes(LAUNCHES), rule=rule_of(), cap=20, seed=2)
    seats = roll_out_fast(NeuralSimulator(model), VISITS, LAUNCHES, rule=rule_of(), cap=20, seed=2)
    assert again.tokens.tolist() == seats.tokens.tolist()
