"""The loop: schedules, the best epoch, going on after a stop, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from edsim.errors import BadInputError, TrainingError
from edsim.models.devices import checked_device
from edsim.models.neural.checkpoint import Checkpoint, read_checkpoint
from edsim.models.neural.model import NeuralModel
from edsim.progress import Silent
from edsim.tables.visits import Visits
from edsim.training import loop
from edsim.training.batches import Batches
from edsim.training.examples import StayList, TrainingData, examples_of
from edsim.training.loop import train, work_folder
from edsim.training.recipes import JOINT, Recipe, find_recipe, form_for
from edsim.training.weights import Weights, rates
from random_visits import random_visits
from training_runs import data_of, run_of, small

DATA = data_of()


class Stopped(Exception):
    """Stands for a process that is killed."""


class StopAfter(Silent):
    """Ends the run after some steps."""

    def __init__(self, steps: int) -> None:
        self.left = steps

    def advance(self, n: int) -> None:
        self.left -= 1
        if self.left < 0:
            raise Stopped


class Heard(Silent):
    """Keeps the notices."""

    def __init__(self) -> None:
        self.notices: list[str] = []

    def notice(self, text: str) -> None:
        self.notices.append(text)


def same_weights(first: Checkpoint, second: Checkpoint) -> bool:
    return all(np.array_equal(array, second.weights[key]) for key, array in first.weights.items())


@pytest.mark.parametrize("name", ["causal_transformer_all_scheduled", "joint", "gru"])
def test_stopped_at_any_step_and_run_again_it_ends_with_the_same_weights(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "SAVE_SECONDS", 0.0)
    whole = train(DATA, run_of(name, epochs=3), tmp_path / "whole.npz")
    out = tmp_path / "stopped.npz"
    for steps in (2, 3, 4):
        with pytest.raises(Stopped):
            train(DATA, run_of(name, epochs=3), out, progress=StopAfter(steps))
        assert not out.exists()
    heard = Heard()
    again = train(DATA, run_of(name, epochs=3), out, progress=heard)
    assert any("going on from epoch" in text for text in heard.notices)
    assert same_weights(whole, again)
    assert again.manifest.best_epoch == whole.manifest.best_epoch
    for one, other in zip(again.manifest.epochs, whole.manifest.epochs, strict=True):
        assert (one["train"], one["validation"]) == (other["train"], other["validation"])


def test_work_of_another_recipe_is_not_gone_on_with(tmp_path: Path) -> None:
    out = tmp_path / "a.npz"
    with pytest.raises(Stopped):
        train(DATA, run_of("gru", epochs=3), out, progress=StopAfter(5))
    heard = Heard()
    other = train(DATA, run_of("gru", epochs=2), out, progress=heard)
    assert not heard.notices
    assert same_weights(other, train(DATA, run_of("gru", epochs=2), tmp_path / "b.npz"))


def test_a_damaged_file_of_unfinished_work_begins_anew(tmp_path: Path) -> None:
    out = tmp_path / "a.npz"
    with pytest.raises(Stopped):
        train(DATA, run_of("gru"), out, progress=StopAfter(5))
    state = work_folder(out) / "state.npz"
    state.write_bytes(state.read_bytes()[:1000])
    assert same_weights(
        train(DATA, run_of("gru"), out), train(DATA, run_of("gru"), tmp_path / "b.npz")
    )


def test_the_weights_of_the_best_epoch_are_kept_not_the_last(tmp_path: Path) -> None:
    """A rate far too large for the validation visits makes later epochs worse."""
    few = data_of(train=random_visits(12, 9, seed=81), val=random_visits(40, 9, seed=82))
    worse = train(few, run_of("joint", epochs=30, rate=0.03, ema=0.0), tmp_path / "a.npz")
    losses = [one["validation"]["all"] for one in worse.manifest.epochs]
    best = worse.manifest.best_epoch
    assert losses[best - 1] == min(losses) < losses[-1]
    stopped = train(
        few, run_of("joint", epochs=30, rate=0.03, ema=0.0, patience=3), tmp_path / "b.npz"
    )
    assert len(stopped.manifest.epochs) == best + 3
    assert same_weights(worse, stopped)


def test_the_mean_of_the_weights_follows_them_and_is_what_is_validated() -> None:
    torch.manual_seed(1)
    recipe = small("joint", ema=0.75, epochs=20)
    model = NeuralModel.untrained(recipe.design, DATA.train, 9, ())
    examples = examples_of(DATA.train, model)
    stays = StayList.of(DATA.train, 1, most=1024)
    weights = Weights(model, examples, recipe, n_steps=80)
    by_hand = model.heads.event.weight.detach().clone()
    for chosen in Batches(stays, recipe, DATA.n_events).epoch(1).steps:
        weights.step(chosen)
        by_hand = 0.75 * by_hand + 0.25 * model.heads.event.weight.detach()
    torch.testing.assert_close(weights.validated.heads.event.weight, by_hand)
    assert not torch.equal(model.heads.event.weight, by_hand)


def test_the_mean_of_a_short_training_reaches_over_a_tenth_of_it() -> None:
    model = NeuralModel.untrained(small("joint").design, DATA.train, 9, ())
    examples = examples_of(DATA.train, model)
    for n_steps, towards in ((5, 1.0), (100, 0.1), (100_000, 0.001)):
        assert Weights(model, examples, small("joint", ema=0.999), n_steps)._towards == (
            pytest.approx(towards)
        )


def test_a_rate_warms_up_and_falls_to_its_last_share() -> None:
    recipe = small("joint", rate=1.0, warmup_steps=4, last_rate=0.01)
    assert rates(recipe, 20)[:3].tolist() == [0.5, 1.0, pytest.approx(0.99, abs=0.02)]
    found = rates(recipe, 104)
    assert found[:4].tolist() == [0.25, 0.5, 0.75, 1.0]
    assert found[54].item() == pytest.approx((1 + 0.01) / 2, abs=1e-3)
    assert found[-1].item() == pytest.approx(0.01, abs=1e-3)
    constant = rates(small("gru", rate=0.5), 10)
    assert constant.tolist() == [0.5] * 10


def test_of_several_rates_the_one_with_the_best_validation_loss_is_kept(tmp_path: Path) -> None:
    run = run_of("transformer_tuned", rates_to_try=(1e-9, 1e-3))
    kept = train(DATA, run, tmp_path / "a.npz")
    assert kept.manifest.recipe["rate"] == 1e-3
    assert len(kept.manifest.notes) == 2
    alone = train(DATA, run_of("transformer", rate=1e-3), tmp_path / "b.npz")
    assert same_weights(kept, alone)


def test_a_probe_measures_after_every_epoch_and_stands_in_the_log(tmp_path: Path) -> None:
    run = run_of("gru")
    checkpoint = train(DATA, run, tmp_path / "a.npz", probe=lambda model: {"termination": 0.5})
    assert [one["probe"] for one in checkpoint.manifest.epochs] == [{"termination": 0.5}] * 2


def test_the_log_grows_with_every_epoch(tmp_path: Path) -> None:
    out = tmp_path / "a.npz"
    with pytest.raises(Stopped):
        train(DATA, run_of("joint"), out, progress=StopAfter(7))
    lines = (work_folder(out) / "log.jsonl").read_text().splitlines()
    assert [json.loads(line)["epoch"] for line in lines] == [1]
    assert json.loads(lines[0])["validation"].keys() == {"event", "time", "all"}


def test_events_replaced_by_the_models_own_change_what_is_learned(tmp_path: Path) -> None:
    for name in ("gru", "transformer"):
        plain = train(DATA, run_of(name, epochs=3), tmp_path / "a.npz").manifest.epochs
        other = train(DATA, run_of(f"{name}_scheduled", epochs=3), tmp_path / "b.npz").manifest
        assert other.epochs[0]["train"] == plain[0]["train"], "not in the first epoch"
        assert other.epochs[1]["train"] != plain[1]["train"]


# what cannot work, and what must


def trains(data: TrainingData, tmp_path: Path, name: str = "joint", **changes: Any) -> Checkpoint:
    out = tmp_path / f"{name}.npz"
    train(data, run_of(name, **changes), out)
    return read_checkpoint(out)


EVERY_HEAD = ["gru", "joint", "decoder"]


@pytest.mark.parametrize("name", EVERY_HEAD)
def test_one_training_stay_and_no_validation_stay(name: str, tmp_path: Path) -> None:
    one = random_visits(1, 9, seed=3)
    none = Visits(
        np.zeros(0, dtype=np.int16), np.zeros(0, dtype=np.float32), np.zeros(1, dtype=np.int64),
        np.zeros(0), np.zeros(0, dtype="S6"),
    )  # fmt: skip
    heard = Heard()
    found = train(data_of(one, none), run_of(name), tmp_path / "a.npz", progress=heard)
    assert found.manifest.best_epoch == 2
    assert any("no validation stays" in text for text in heard.notices)


@pytest.mark.parametrize("name", EVERY_HEAD)
def test_validation_stays_longer_than_any_training_stay(name: str, tmp_path: Path) -> None:
    long = random_visits(4, 9, seed=4, longest=90)
    found = trains(data_of(val=long), tmp_path, name)
    assert np.isfinite(found.manifest.epochs[0]["validation"]["all"])


@pytest.mark.parametrize("name", EVERY_HEAD)
def test_a_vocabulary_of_two_tokens(name: str, tmp_path: Path) -> None:
    visits = random_visits(20, 9, seed=5)
    two = Visits(
        np.minimum(visits.tokens, 1).astype(np.int16), visits.minutes, visits.offsets,
        visits.start, visits.stay_ids,
    )  # fmt: skip
    found = trains(data_of(two, two, n_tokens=2), tmp_path, name)
    assert found.weights["heads.event.weight"].shape[0] == 2


@pytest.mark.parametrize("name", EVERY_HEAD)
def test_a_vocabulary_of_five_thousand_tokens(name: str, tmp_path: Path) -> None:
    visits = random_visits(20, 5000, seed=6)
    found = trains(data_of(visits, visits, n_tokens=5000), tmp_path, name)
    assert found.weights["heads.event.weight"].shape[0] == 5000


@pytest.mark.parametrize("name", EVERY_HEAD)
@pytest.mark.parametrize("minutes", [0.0, 30 * 24 * 60.0])
def test_gaps_that_are_all_zero_or_of_thirty_days(
    name: str, minutes: float, tmp_path: Path
) -> None:
    visits = random_visits(20, 9, seed=7)
    gaps = np.full_like(visits.minutes, minutes)
    gaps[visits.offsets[:-1]] = 0
    same = Visits(visits.tokens, gaps, visits.offsets, visits.start, visits.stay_ids)
    found = trains(data_of(same, same), tmp_path, name)
    assert np.isfinite(found.manifest.epochs[-1]["validation"]["all"])


def test_a_loss_that_is_no_number_stops_with_the_step_and_keeps_the_last_good_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = train(DATA, run_of("joint", epochs=1, decay="none"), tmp_path / "whole.npz")
    real = loop.Weights.step

    def breaks(weights: Any, *given: Any, **named: Any) -> None:
        if int(weights.at) == 6:
            with torch.no_grad():
                next(weights.model.parameters()).fill_(torch.nan)
        real(weights, *given, **named)

    monkeypatch.setattr(loop.Weights, "step", breaks)
    with pytest.raises(TrainingError, match=r"not a number at step 7 \(epoch 2\)") as found:
        train(DATA, run_of("joint", decay="none"), tmp_path / "a.npz")
    kept = work_folder(tmp_path / "a.npz") / "last-good.npz"
    assert str(kept) in str(found.value)
    assert same_weights(read_checkpoint(kept), whole)


def test_memory_that_runs_out_says_which_batch_size_to_try(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(*given: Any, **named: Any) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(loop.Weights, "step", breaks)
    with pytest.raises(TrainingError, match=r"batches of 16 stays\. Try --batch-size 8"):
        train(DATA, run_of("joint"), tmp_path / "a.npz")


def test_other_faults_are_not_called_a_lack_of_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(*given: Any, **named: Any) -> None:
        raise RuntimeError("shapes differ")

    monkeypatch.setattr(loop.Weights, "step", breaks)
    with pytest.raises(RuntimeError, match="shapes differ"):
        train(DATA, run_of("joint"), tmp_path / "a.npz")


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
def test_a_gpu_that_is_not_there_is_refused() -> None:
    with pytest.raises(BadInputError, match="0 CUDA devices"):
        checked_device("cuda")


@pytest.mark.parametrize("name", ["quantum", "meta"])
def test_no_other_device_is_trained_on(name: str) -> None:
    with pytest.raises(BadInputError, match=name):
        checked_device(name)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"supervision": "every_position"}, "would see the events it is asked to predict"),
        ({"supervision": "some"}, "there is no supervision 'some'"),
        ({"replacement": 1.5}, "are shares"),
        ({"epochs": 0}, "at least 1"),
        ({"rate": 0.0}, "above 0"),
        ({"decay": "linear"}, "there is no decay"),
        ({"rates_to_try": (0.0,)}, "above 0"),
    ],
)
def test_a_recipe_that_cannot_work_is_refused(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(BadInputError, match=says):
        small("transformer", **changes)


def test_scheduled_sampling_goes_with_the_papers_heads_alone() -> None:
    with pytest.raises(BadInputError, match="heads 'joint'"):
        Recipe(design=JOINT.design, supervision="every_position", replacement=0.25)


def test_few_events_take_the_small_form_and_names_near_a_wrong_one_are_told() -> None:
    assert form_for("joint", 10_000) == "joint_small"
    assert form_for("joint", 5_000_000) == "joint"
    assert form_for("gru", 10) == "gru"
    with pytest.raises(BadInputError, match="Did you mean joint"):
        find_recipe("jiont")


def test_training_leaves_the_chance_of_others_alone(tmp_path: Path) -> None:
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    train(DATA, run_of("gru", epochs=1), tmp_path / "a.npz")
    assert torch.equal(torch.rand(3), expected)


def test_parts_of_a_recipe_can_be_chosen_behind_its_name() -> None:
    chosen = find_recipe("joint[network=lstm, supervision=final_position,epochs=3]")
    assert (chosen.design.network, chosen.design.heads) == ("lstm", "joint")
    assert (chosen.supervision, chosen.epochs, chosen.rate) == ("final_position", 3, JOINT.rate)
    for name, says in [
        ("gru[network=rnn]", "no network 'rnn'"),
        (
            "gru[epoch=3]",
            "'epoch' in 'gru\\[epoch=3\\]' is no part of a recipe. Did you mean epochs",
        ),
        ("gru[epochs=many]", "is no number for epochs: write epochs=8"),
        ("gru[small_form=joint]", "is no part of a recipe"),
        ("transformer[supervision=every_position]", "needs a causal network"),
    ]:
        with pytest.raises(BadInputError, match=says):
            find_recipe(name)
