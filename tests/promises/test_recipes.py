"""What every recipe promises, whatever its network and supervision."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from edsim.models.neural.checkpoint import Checkpoint, load_simulator
from edsim.models.neural.clocks import CLOCKS
from edsim.rollout.engine import roll_out
from edsim.training.loop import train, work_folder
from edsim.training.recipes import RECIPES, recipe_from_json
from neural_models import rule_of
from random_visits import all_launches
from training_runs import data_of, run_of

DATA = data_of()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module", params=RECIPES)
def trained(request: pytest.FixtureRequest, folder: Path) -> tuple[str, Path, Checkpoint]:
    path = folder / f"{request.param}.npz"
    return request.param, path, train(DATA, run_of(request.param), path)


Trained = tuple[str, Path, Checkpoint]


def test_the_same_seed_gives_the_same_weights_and_another_one_others(
    trained: Trained, folder: Path
) -> None:
    name, _, checkpoint = trained
    again = train(DATA, run_of(name), folder / "again.npz")
    other = train(DATA, run_of(name, seed=2), folder / "other.npz")
    for key, array in checkpoint.weights.items():
        assert np.array_equal(array, again.weights[key]), key
    event = "heads.event.weight"
    assert not np.array_equal(checkpoint.weights[event], other.weights[event])


def test_it_learns(trained: Trained, folder: Path) -> None:
    name, _, checkpoint = trained
    longer = train(DATA, run_of(name, epochs=6, rate=3e-3, ema=0.0), folder / "longer.npz")
    losses = [one["validation"]["all"] for one in longer.manifest.epochs]
    assert min(losses) < losses[0]
    assert longer.manifest.best_epoch == 1 + int(np.argmin(losses))
    assert checkpoint.manifest.epochs[0]["validation"].keys() >= {"event", "all"}


def test_what_was_trained_is_what_is_read_and_rolled_out(trained: Trained) -> None:
    _, path, checkpoint = trained
    model = checkpoint.model()
    for clock in CLOCKS[model.design.heads]:
        simulator = load_simulator(path, clock)
        assert simulator.clock == clock
        for name, tensor in model.state_dict().items():
            assert torch.equal(tensor, simulator.model.state_dict()[name])
        prefixes = DATA.val.prefixes(all_launches(DATA.val)[:8])
        generated = roll_out(simulator, prefixes, rule=rule_of(), cap=10, seed=3)
        assert len(generated) == 8


def test_the_manifest_says_what_it_is_and_gives_the_recipe_back(trained: Trained) -> None:
    name, path, checkpoint = trained
    manifest = checkpoint.manifest
    assert (manifest.recipe_name, manifest.seed, manifest.content_hash) == (name, 1, "c" * 64)
    recipe = recipe_from_json(dict(manifest.recipe))
    assert recipe.design == run_of(name).recipe.design
    assert manifest.audit["supervision"] == recipe.supervision
    assert not work_folder(path).exists(), "nothing is left beside a finished checkpoint"
