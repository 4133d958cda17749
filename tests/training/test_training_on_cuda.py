"""Training on a graphics card: graphs, bf16, and the same weights every time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from edsim.models.neural.model import NeuralModel
from edsim.training.batches import Batches
from edsim.training.captured import Captured
from edsim.training.examples import StayList, examples_of
from edsim.training.loop import Run, train
from edsim.training.recipes import RECIPES
from edsim.training.weights import Weights
from training_runs import data_of, small

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")

DATA = data_of()


def on_cuda(name: str) -> Run:
    return Run(name=name, recipe=small(name), seed=1, device="cuda")


@pytest.mark.parametrize("name", RECIPES)
def test_every_recipe_trains_near_what_the_cpu_finds(name: str, tmp_path: Path) -> None:
    cuda = train(DATA, on_cuda(name), tmp_path / "a.npz").manifest
    cpu = train(DATA, Run(name=name, recipe=small(name), seed=1), tmp_path / "b.npz").manifest
    first, second = (one.epochs[-1]["validation"]["all"] for one in (cuda, cpu))
    assert first == pytest.approx(second, rel=0.03)
    assert cuda.device == "cuda"


@pytest.mark.parametrize("name", ["causal_transformer_all", "joint"])
def test_the_same_seed_gives_the_same_weights(name: str, tmp_path: Path) -> None:
    first = train(DATA, on_cuda(name), tmp_path / "a.npz")
    second = train(DATA, on_cuda(name), tmp_path / "b.npz")
    for key, array in first.weights.items():
        assert np.array_equal(array, second.weights[key]), key


def test_a_captured_step_is_the_step_and_its_warm_up_leaves_no_trace() -> None:
    """The trap: a graph's warm-up steps move weights and moments, on one batch again and again."""
    recipe = small("joint", ema=0.9)
    torch.manual_seed(1)
    model = NeuralModel.untrained(recipe.design, DATA.train, 9, ())
    examples = examples_of(DATA.train, model).to("cuda")
    stays = StayList.of(DATA.train, 1, most=1024)
    steps = Batches(stays, recipe, DATA.n_events).epoch(1).on(torch.device("cuda"))
    state = {name: tensor.clone() for name, tensor in model.state_dict().items()}

    def weights() -> Weights:
        fresh = NeuralModel(model.design, model.sizes, model.time_classes)
        fresh.load_state_dict(state)
        return Weights(fresh.to("cuda").train(), examples, recipe, n_steps=len(steps))

    plain, graphed = weights(), weights()
    before = {name: tensor.clone() for name, tensor in graphed.tensors().items()}
    captured = Captured(graphed, steps[0])
    for name, tensor in graphed.tensors().items():
        assert torch.equal(tensor, before[name]), name
    for chosen in steps:
        plain.step(chosen)
        captured.step(chosen)
    for name, tensor in plain.tensors().items():
        torch.testing.assert_close(graphed.tensors()[name], tensor, rtol=1e-3, atol=1e-4)
