"""Trained models of a cohort: kept, found again, rolled out, and refused elsewhere."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from edsim.cli import run
from edsim.errors import BadInputError, BadTableError, EdsimError, OutputError
from edsim.lab.build import build_cohort
from edsim.lab.cohort import Cohort, open_cohort
from edsim.lab.models import models_behind
from edsim.lab.producers import always_the_same, decided_by, find_producer
from edsim.lab.rollouts import RolloutSettings, roll_out
from edsim.lab.store import store_of
from edsim.lab.training import (
    adopt,
    copy_out,
    planned,
    recipe_and_seed,
    run_asked,
    trained,
    training_data,
)
from edsim.models.neural.checkpoint import read_checkpoint, save_checkpoint
from edsim.sources import SOURCES
from edsim.training.__main__ import main as train_alone
from edsim.training.loop import train


def built(folder: Path, seed: int = 0) -> Cohort:
    source = SOURCES["synthetic"]
    build_cohort(source, source.options(stays=150, seed=seed), folder)
    return open_cohort(folder)


@pytest.fixture(scope="module")
def cohort(tmp_path_factory: pytest.TempPathFactory) -> Cohort:
    return built(tmp_path_factory.mktemp("training") / "C")


@pytest.fixture(scope="module")
def gru(cohort: Cohort) -> Path:
    return trained(cohort, "gru", 1)


def test_a_run_is_trained_once_and_found_again(cohort: Cohort, gru: Path) -> None:
    before = gru.stat().st_mtime_ns
    assert trained(cohort, "gru", 1, device="cpu") == gru
    assert gru.stat().st_mtime_ns == before
    assert store_of(cohort).holds(run_asked(cohort, "ed32", planned(cohort, "gru", 1)))
    assert gru.with_suffix(".md").read_text().startswith("# gru@1")
    assert len(gru.with_suffix(".log.jsonl").read_text().splitlines()) == 8
    leftovers = [path.name for path in gru.parent.iterdir() if path.name.startswith(".")]
    assert leftovers == []


def test_seeds_vocabularies_and_changes_are_runs_of_their_own(cohort: Cohort) -> None:
    keys = {
        run_asked(cohort, vocabulary, planned(cohort, "gru", seed, changes=changes)).key
        for vocabulary in ("ed7", "ed32")
        for seed in (1, 2)
        for changes in ({}, {"epochs": 2})
    }
    assert len(keys) == 8


def test_a_checkpoint_says_what_it_was_trained_on(cohort: Cohort, gru: Path) -> None:
    manifest = read_checkpoint(gru).manifest
    assert manifest.content_hash == cohort.manifest.content_hash
    assert manifest.vocabulary_sha256 == cohort.vocabulary("ed32").sha256
    assert not manifest.restricted
    assert manifest.audit["n_stays"] == cohort.manifest.split["parts"]["train"]["stays"]


@pytest.mark.parametrize("clock", [None, "median", "sampled"])
def test_recipe_and_seed_roll_out_with_the_clock_asked_for(
    cohort: Cohort, gru: Path, clock: str | None
) -> None:
    settings = RolloutSettings(launches="matched-20", clock=clock)
    header = roll_out(cohort, "gru@1", settings).header
    assert (header.producer, header.training_seed) == ("gru@1", 1)
    assert header.clock == (clock or "median")
    assert header.recipe["name"] == "gru"


def test_a_path_is_the_same_model_and_leaves_no_folder_in_the_table(
    cohort: Cohort, gru: Path, tmp_path: Path
) -> None:
    copy_out(gru, tmp_path / "mine.npz")
    settings = RolloutSettings(launches="matched-20")
    by_name = roll_out(cohort, "gru@1", settings)
    by_path = roll_out(cohort, str(tmp_path / "mine.npz"), settings)
    assert np.array_equal(by_name.generated.tokens, by_path.generated.tokens)
    assert by_path.header.producer == "mine.npz"
    blended = find_producer(f"blend:0.5:{tmp_path}/mine.npz+ngram:3", cohort)
    assert blended.label == "blend:0.5:mine.npz+ngram:3"


def test_a_blend_takes_the_clock_of_the_network_in_it(cohort: Cohort, gru: Path) -> None:
    found = find_producer("blend:0.25:gru@1+ngram:3", cohort, clock="sampled").make()
    assert found.clock == "sampled"
    assert always_the_same("blend:0.25:gru@1+ngram:3")
    assert decided_by("blend:0.25:gru@1+ngram:3", cohort, "ed32")["gru@1"].keys() == {"run"}


def test_two_networks_can_be_blended_and_a_recipe_changed_behind_its_name(
    cohort: Cohort, gru: Path
) -> None:
    changed = "gru_all[width=16,attention_heads=2,epochs=1]@1"
    settings = RolloutSettings(launches="matched-20", clock="sampled")
    both = roll_out(cohort, f"blend:0.5:gru@1+{changed}", settings)
    one, other = (roll_out(cohort, name, settings) for name in ("gru@1", changed))
    assert both.header.clock == "sampled"
    assert not np.array_equal(both.generated.tokens, one.generated.tokens)
    assert not np.array_equal(both.generated.tokens, other.generated.tokens)
    assert other.header.recipe["design"]["width"] == 16


def test_studies_know_what_has_to_be_trained(cohort: Cohort, gru: Path) -> None:
    (network, counts) = models_behind("blend:0.25:gru@1+ngram:3", cohort)
    assert (network.name, counts.name) == ("gru@1", "ngram:3")
    assert network.make() == gru


@pytest.mark.parametrize(
    ("name", "clock", "device", "says"),
    [
        ("ngram:3", "sampled", "cpu", "has one clock, its own"),
        ("gru@1", "lattice", "cpu", "no clock 'lattice'"),
        ("oracle", None, "cuda", "runs on the CPU alone"),
        ("grru@1", None, "cpu", "Did you mean gru"),
        ("missing.npz", None, "cpu", "there is no checkpoint"),
        ("gru@1", None, "cuda:7", "CUDA devices"),
    ],
)
def test_what_a_producer_cannot_do_is_refused(
    cohort: Cohort, gru: Path, name: str, clock: str | None, device: str, says: str
) -> None:
    with pytest.raises(EdsimError, match=says):
        find_producer(name, cohort, clock=clock, device=device).make()


def test_a_checkpoint_of_another_cohort_or_vocabulary_is_refused(
    gru: Path, cohort: Cohort, tmp_path: Path
) -> None:
    other = built(tmp_path / "other", seed=1)
    with pytest.raises(BadTableError, match="another cohort"):
        find_producer(str(gru), other).make()
    with pytest.raises(BadTableError, match="another vocabulary"):
        find_producer(str(gru), cohort, "ed7").make()


def test_training_without_the_cohort_gives_a_checkpoint_it_can_adopt(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cohort = built(tmp_path / "C", seed=2)
    out = tmp_path / "elsewhere.npz"
    arguments = ["--encoded", str(cohort.encoded("ed32")), "--recipe", "gru", "--out", str(out)]
    assert train_alone(arguments) == 0
    assert "warning: only the final position" in capsys.readouterr().out
    kept = adopt(cohort, out)
    assert trained(cohort, "gru", 1) == kept
    with pytest.raises(OutputError, match="already has a trained gru@1"):
        adopt(cohort, out)
    foreign = read_checkpoint(out)
    save_checkpoint(
        replace(foreign, manifest=replace(foreign.manifest, content_hash="0" * 64)), out
    )
    with pytest.raises(BadTableError, match="another cohort"):
        adopt(cohort, out)


def test_training_alone_needs_to_know_the_cohort(
    cohort: Cohort, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import shutil

    alone = tmp_path / "encoded" / "ed32"
    shutil.copytree(cohort.encoded("ed32"), alone)
    for shared in cohort.encoded("ed32").parent.glob("*.np*"):
        shutil.copy(shared, alone.parent)
    arguments = ["--encoded", str(alone), "--recipe", "gru", "--out", str(tmp_path / "a.npz")]
    assert train_alone(arguments) == 2
    assert "no cohort.json" in capsys.readouterr().err
    told = [*arguments, "--epochs", "1", "--content-hash", cohort.manifest.content_hash]
    assert train_alone(told) == 0


def test_the_command_says_what_is_learned_from_and_keeps_the_files(
    cohort: Cohort, gru: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "mine.npz"
    given = ["train", "gru", "--cohort", str(cohort.directory), "--out", str(out)]
    assert run(given) == 0
    printed = capsys.readouterr().out
    assert "positions supervised an epoch" in " ".join(printed.split())
    assert "warning: only the final position" in " ".join(printed.split())
    assert {path.name for path in tmp_path.iterdir()} == {
        "mine.npz", "mine.md", "mine.log.jsonl",
    }  # fmt: skip
    assert run(given) == 2
    assert "already there" in capsys.readouterr().err
    assert run(["train", "--list"]) == 0
    assert "joint_small" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (["train", "gru"], "give a recipe and a cohort"),
        (["train", "gruu", "--cohort", "C"], "Did you mean gru"),
        (["train", "gru", "--cohort", "C", "--device", "cuda:9"], "CUDA devices"),
        (["train", "gru", "--cohort", "C", "--rate", "-1"], "above 0"),
        (["train", "gru", "--cohort", "C", "--out", "a.txt"], "is an .npz file"),
        (["train", "gru", "--cohort", "C", "--seed", "-1"], "a whole number from 0 on"),
    ],
)
def test_commands_that_cannot_work_say_why(
    cohort: Cohort,
    gru: Path,
    given: list[str],
    says: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    whole = [str(cohort.directory) if word == "C" else word for word in given]
    assert run(whole) == 2
    said = capsys.readouterr().err
    assert says in " ".join(said.split())
    assert "Traceback" not in said


def test_names_of_runs_are_a_recipe_and_a_seed() -> None:
    assert recipe_and_seed("causal_transformer_all@20260517") == (
        "causal_transformer_all",
        20260517,
    )
    for other in ("gru", "gru@", "gru@x", "@1", "ngram:3", "package:Model@1"):
        assert recipe_and_seed(other) is None
    with pytest.raises(BadInputError):
        copy_out(Path("a.npz"), Path("a.txt"))


def test_a_probe_tells_of_closed_loop_after_each_epoch_and_changes_no_weight(
    cohort: Cohort, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["train", "joint", "--cohort", str(cohort.directory), "--epochs", "2", "--seed", "4"]
    assert run([*given, "--probe"]) == 0
    assert capsys.readouterr().err.count("in closed loop: termination") == 2
    probed = read_checkpoint(trained(cohort, "joint", 4, changes={"epochs": 2}))
    assert probed.manifest.epochs[1]["probe"].keys() == {"termination", "jsd", "duration"}
    plain = planned(cohort, "joint", 4, changes={"epochs": 2})
    again = train(training_data(cohort, "ed32"), plain, tmp_path / "a.npz")
    assert all(np.array_equal(probed.weights[name], again.weights[name]) for name in again.weights)
