"""Scheduled sampling: what is replaced, and by what."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from edsim.models.neural.sheets import NOBODY
from edsim.tables.visits import END
from edsim.training.batches import Batches, sheet_at
from edsim.training.examples import StayList, examples_of
from edsim.training.exposure import elapsed_of, exposed
from neural_models import small_model
from random_visits import random_visits
from training_runs import small

VISITS = random_visits(60, 9, seed=91)
ALWAYS = 7
"""The event that the models below always draw."""


@pytest.mark.parametrize(
    ("network", "recipe"),
    [
        ("pooled_transformer", "transformer"),
        ("causal_transformer", "causal_transformer_all"),
        ("gru", "gru_all"),
    ],
)
def test_a_share_of_the_events_becomes_the_models_own_and_no_first_event(
    network: str, recipe: str
) -> None:
    model = small_model(network, training=VISITS).train()  # type: ignore[arg-type]
    with torch.no_grad():
        model.heads.event.bias[ALWAYS] = 1e4
        model.heads.event.bias[END] = 1e6
    examples = examples_of(VISITS, model)
    stays = StayList.of(VISITS, 1, most=1024)
    chosen = (
        Batches(stays, small(recipe, batch_size=60), len(examples.tokens) - 1).epoch(1).steps[0]
    )
    sheet = sheet_at(examples, chosen.index)
    torch.manual_seed(1)
    seen = exposed(model, sheet, chosen, share=0.25)
    may = (sheet.visit != NOBODY) & (sheet.place > 0)
    changed = (seen.gaps != sheet.gaps) | (seen.tokens != sheet.tokens)
    assert not changed[~may].any()
    assert bool((seen.tokens[changed] == ALWAYS).all()), "END is never put in"
    assert 0.15 < changed[may].float().mean() < 0.35
    assert model.training


def test_a_network_that_is_not_causal_sees_only_what_came_before() -> None:
    """Whatever stands at the place and after it changes nothing of what is drawn there."""
    from edsim.training.exposure import _after_contexts

    model = small_model("pooled_transformer", training=VISITS).eval()
    examples = examples_of(VISITS, model)
    stays = StayList.of(VISITS, 1, most=1024)
    recipe = small("transformer", batch_size=60)
    chosen = Batches(stays, recipe, len(examples.tokens) - 1).epoch(1).steps[0]
    sheet = sheet_at(examples, chosen.index)
    where = ((sheet.place == 3) & (sheet.visit != NOBODY)).flatten().nonzero()[:, 0]
    before = _after_contexts(model, sheet, where)
    later = sheet.place >= 3
    sheet.tokens[later] = 5
    torch.testing.assert_close(_after_contexts(model, sheet, where), before)
    sheet.tokens[sheet.place == 2] = 5
    assert not torch.allclose(_after_contexts(model, sheet, where), before)


def test_elapsed_minutes_follow_the_gaps_as_they_are_now() -> None:
    gaps = torch.tensor([[0.0, 5.0, 10.0, 0.0, 1.0]])
    place = torch.tensor([[0, 1, 2, 0, 1]])
    assert elapsed_of(gaps, place).tolist() == [[0.0, 5.0, 15.0, 0.0, 1.0]]
    assert np.dtype(elapsed_of(gaps, place).numpy().dtype) == np.float64
