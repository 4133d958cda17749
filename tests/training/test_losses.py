"""What each head is asked for."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from edsim.models.neural.heads import LEVELS
from edsim.models.neural.model import NeuralModel
from edsim.models.neural.sheets import sheet_of
from edsim.training.batches import Batches, sheet_at
from edsim.training.examples import NO_DISPOSITION, Examples, StayList, examples_of
from edsim.training.losses import HEADS, head_losses, pinball, summed_losses, vectors
from random_visits import random_visits
from training_runs import N_TOKENS, small

VISITS = random_visits(30, N_TOKENS, seed=71)


def parts(name: str) -> tuple[NeuralModel, Examples, Batches]:
    torch.manual_seed(1)
    recipe = small(name)
    model = NeuralModel.untrained(recipe.design, VISITS, N_TOKENS, (N_TOKENS - 1,)).eval()
    stays = StayList.of(VISITS, 1, most=1024)
    n_events = int(VISITS.n_events().sum())
    return model, examples_of(VISITS, model), Batches(stays, recipe, nobody=n_events)


def test_pinball_of_one_value_by_hand() -> None:
    quantiles = torch.zeros(1, len(LEVELS))
    quantiles[:, :] = 2.0
    above = sum(levels * 1.0 for levels in LEVELS) / len(LEVELS)
    assert pinball(quantiles, torch.tensor([3.0])).item() == pytest.approx(above)
    assert pinball(quantiles, torch.tensor([1.0])).item() == pytest.approx(1 - above)
    assert pinball(quantiles, torch.tensor([2.0])).item() == 0.0


def test_pinball_is_smallest_in_mean_at_the_quantiles_of_the_truth() -> None:
    truth = torch.from_numpy(np.random.default_rng(0).exponential(2.0, 20_000)).float()
    right = torch.quantile(truth, torch.tensor(LEVELS)).expand(len(truth), -1)
    best = pinball(right, truth).mean()
    for moved in (right + 0.2, right - 0.2, right * 1.3, right.mean() + 0 * right):
        assert pinball(moved, truth).mean() > best


@pytest.mark.parametrize("name", ["gru_all", "lstm_all"])
def test_a_recurrent_network_reads_flat_visits_as_it_reads_padded_ones(name: str) -> None:
    model, examples, batches = parts(name)
    for chosen in batches.epoch(1).steps:
        sheet = sheet_at(examples, chosen.index)
        flat = vectors(model, sheet, chosen, examples.next_gaps[chosen.index])[0]
        firsts = (sheet.place[0] == 0).nonzero()[:, 0].numpy()
        padded_sheet = sheet_of(
            sheet.tokens[0].numpy(), sheet.gaps[0].numpy(), np.append(firsts, len(flat))
        )
        padded = model(padded_sheet)[padded_sheet.visit >= 0]
        torch.testing.assert_close(flat, padded)


@pytest.mark.parametrize("name", ["causal_transformer_all", "joint", "decoder"])
def test_visits_that_share_a_row_do_not_see_each_other(name: str) -> None:
    model, examples, batches = parts(name)
    chosen = batches.epoch(1).steps[0]
    sheet = sheet_at(examples, chosen.index)
    together = vectors(model, sheet, chosen, examples.next_gaps[chosen.index])
    length = int(VISITS.n_events()[3])
    begin = int(VISITS.n_events()[:3].sum())
    alone = replace(chosen, index=torch.arange(begin, begin + length)[None])
    for one, read in zip(
        together,
        vectors(model, sheet_at(examples, alone.index), alone, examples.next_gaps[alone.index]),
        strict=True,
    ):
        here = (chosen.index.flatten()[:, None] == alone.index).nonzero()
        if len(here):
            torch.testing.assert_close(one[here[:, 0]], read[here[:, 1]])


@pytest.mark.parametrize("name", ["gru_all", "joint", "decoder"])
def test_certainty_costs_nothing_and_ignorance_the_logarithm(name: str) -> None:
    model, examples, batches = parts(name)
    chosen = batches.epoch(1).steps[0]
    sheet = sheet_at(examples, chosen.index)
    read = vectors(model, sheet, chosen, examples.next_gaps[chosen.index])
    at = chosen.index.flatten()
    with torch.no_grad():
        model.heads.event.weight.zero_()
        model.heads.event.bias.zero_()
    event = head_losses(model, read, examples, at)[0]
    torch.testing.assert_close(event, torch.full_like(event, math.log(N_TOKENS)))
    with torch.no_grad():
        model.heads.event.bias[3] = 100.0
    event = head_losses(model, read, examples, at)[0]
    assert event[examples.next_tokens[at] == 3].abs().max() < 1e-4
    assert event[examples.next_tokens[at] != 3].min() > 99


def test_a_stay_without_a_disposition_asks_nothing_of_that_head() -> None:
    model, examples, batches = parts("gru_all")
    chosen = batches.epoch(1).steps[0]
    read = vectors(model, sheet_at(examples, chosen.index), chosen, examples.next_gaps)
    place = HEADS["regression"].index("disposition")
    nothing = replace(examples, dispositions=torch.full_like(examples.dispositions, NO_DISPOSITION))
    lost = head_losses(model, read, nothing, chosen.index.flatten())
    assert bool((lost[place] == 0).all())


def test_only_counted_places_are_summed() -> None:
    model, examples, batches = parts("causal_transformer_all")
    chosen = batches.epoch(1).steps[0]
    sheet = sheet_at(examples, chosen.index)
    every = torch.ones(chosen.index.numel(), dtype=torch.bool)
    one = torch.zeros_like(every)
    one[0] = True
    some, n_some = summed_losses(model, sheet, chosen, examples, one)
    rest, n_rest = summed_losses(model, sheet, chosen, examples, every & ~one)
    both, n_both = summed_losses(model, sheet, chosen, examples, every)
    assert (int(n_some), int(n_rest) + 1) == (1, int(n_both))
    torch.testing.assert_close(some + rest, both)
