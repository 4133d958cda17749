"""The padded loop learns from the same positions and loses the same as the packed one."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from edsim.bench.plain_training import PlainTraining
from edsim.models.neural.model import NeuralModel
from edsim.training.batches import Batches, sheet_at, supervised
from edsim.training.examples import StayList, examples_of
from edsim.training.losses import summed_losses
from random_visits import random_visits
from training_runs import N_TOKENS, small

VISITS = random_visits(40, N_TOKENS, seed=19)


@pytest.mark.parametrize("name", ["causal_transformer_all", "joint", "decoder"])
def test_padded_and_packed_lose_the_same(name: str) -> None:
    recipe = small(name, batch_size=40)
    model = NeuralModel.untrained(recipe.design, VISITS, N_TOKENS, (N_TOKENS - 1,)).eval()
    examples = examples_of(VISITS, model)
    padded, n_padded = PlainTraining(model, VISITS, examples, recipe).loss(np.arange(40))
    (chosen,) = (
        Batches(StayList.of(VISITS, 1, 1024), recipe, len(examples.tokens) - 1).epoch(1).steps
    )
    sheet = sheet_at(examples, chosen.index)
    counted = supervised(sheet, "every_position").flatten()
    lost, n = summed_losses(model, sheet, chosen, examples, counted)
    assert n_padded == int(n) == VISITS.n_events().sum()
    torch.testing.assert_close(padded, lost.sum() / n)


def test_a_plain_step_changes_the_weights() -> None:
    recipe = small("joint")
    model = NeuralModel.untrained(recipe.design, VISITS, N_TOKENS, ())
    before = model.heads.event.weight.clone()
    n = PlainTraining(model, VISITS, examples_of(VISITS, model), recipe).step(np.arange(5))
    assert n == VISITS.n_events()[:5].sum()
    assert not torch.equal(before, model.heads.event.weight)
