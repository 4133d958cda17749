"""A machine with numpy and torch alone: trains, rolls out, and what it made is taken up again."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from edsim.cli import run
from edsim.errors import BadInputError
from edsim.lab.assembling import assembled
from edsim.lab.build import build_cohort
from edsim.lab.cohort import Cohort, open_cohort
from edsim.lab.rollouts import RolloutSettings, roll_out
from edsim.lab.training import adopt
from edsim.models.neural.checkpoint import read_checkpoint, save_checkpoint
from edsim.rollout.__main__ import main as roll_out_alone
from edsim.sources import SOURCES
from edsim.tables.rollouts_file import read_rollouts

ALONE = """
import runpy, sys
for name in ("polars", "pyarrow", "pandas", "pydantic", "sklearn", "scipy", "numba", "cyclopts", "rich",
             "rapidfuzz", "jinja2", "altair", "safetensors"):
    sys.modules[name] = None  # as if it were not installed
del sys.argv[0]
runpy.run_module(sys.argv[0], run_name="__main__")
"""


def alone(module: str, *arguments: object) -> str:
    done = subprocess.run(
        [sys.executable, "-c", ALONE, module, *map(str, arguments)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def built(folder: Path, seed: int = 0, stays: int = 60) -> Cohort:
    source = SOURCES["synthetic"]
    build_cohort(source, source.options(stays=stays, seed=seed), folder)
    return open_cohort(folder)


@pytest.fixture(scope="module")
def cohort(tmp_path_factory: pytest.TempPathFactory) -> Cohort:
    return built(tmp_path_factory.mktemp("elsewhere") / "C")


@pytest.fixture(scope="module")
def checkpoint(cohort: Cohort) -> Path:
    """Trained where nothing else is installed."""
    out = cohort.directory.parent / "gru.npz"
    given = ["--encoded", cohort.encoded("ed32"), "--recipe", "gru", "--epochs", 2, "--out", out]
    said = alone("edsim.training", *given)
    assert "warning: only the final position" in said
    assert "weights of epoch" in said
    return out


def where(cohort: Cohort, checkpoint: Path, out: Path) -> list[str]:
    given = {
        "--model": checkpoint,
        "--encoded": cohort.encoded("ed32"),
        "--launches": cohort.directory / "launches" / "all.npy",
        "--out": out,
    }
    return [str(word) for pair in given.items() for word in pair]


def test_rolled_out_there_it_is_what_it_would_be_here(
    cohort: Cohort, checkpoint: Path, tmp_path: Path
) -> None:
    alone("edsim.rollout", *where(cohort, checkpoint, tmp_path / "shards"), "--clock", "sampled")
    out = tmp_path / "there.rollouts.parquet"
    there = assembled(cohort, tmp_path / "shards", out)
    settings = RolloutSettings(launches="all", clock="sampled")
    here = roll_out(cohort, str(checkpoint), settings)
    assert np.array_equal(there.generated.tokens, here.generated.tokens)
    np.testing.assert_allclose(
        there.generated.minutes, here.generated.minutes, rtol=1e-4, atol=1e-4
    )
    header = read_rollouts(out).header
    assert (header.producer, header.training_seed, header.clock) == ("gru@1", 1, "sampled")
    assert (header.launches, header.device, header.recipe["name"]) == ("all", "cpu", "gru")


def test_its_checkpoint_is_taken_up_with_other_epochs_than_the_recipes(
    cohort: Cohort, checkpoint: Path
) -> None:
    kept = adopt(cohort, checkpoint)
    first, second = read_checkpoint(checkpoint), read_checkpoint(kept)
    assert first.manifest == second.manifest
    assert first.manifest.recipe["epochs"] == 2
    assert kept.with_suffix(".md").exists()


def test_a_checkpoint_of_other_data_is_refused_there_too(
    cohort: Cohort, checkpoint: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = built(tmp_path / "other", seed=1)
    assert roll_out_alone(where(other, checkpoint, tmp_path / "a")) == 2
    assert "gru@1 was trained on another cohort" in capsys.readouterr().err
    given = where(cohort, checkpoint, tmp_path / "a")
    given[given.index("--encoded") + 1] = str(cohort.encoded("ed7"))
    assert roll_out_alone(given) == 2
    assert "another vocabulary" in capsys.readouterr().err
    assert not (tmp_path / "a").exists()


def test_shards_of_another_cohorts_visits_are_not_assembled(
    cohort: Cohort, checkpoint: Path, tmp_path: Path
) -> None:
    assert roll_out_alone(where(cohort, checkpoint, tmp_path / "shards")) == 0
    other = built(tmp_path / "other", seed=1)
    with pytest.raises(BadInputError, match="visits of another cohort"):
        assembled(other, tmp_path / "shards", tmp_path / "a.rollouts.parquet")


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--device", "cuda:7"], "CUDA devices"),
        (["--device", "quantum"], "no device 'quantum'"),
        (["--clock", "lattice"], "no clock 'lattice'"),
        (["--clock", "median", "--loader", "edsim.models.counts_file:load_model"], "Drop --clock"),
    ],
)
def test_what_cannot_run_there_is_one_sentence(
    cohort: Cohort,
    checkpoint: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    more: list[str],
    says: str,
) -> None:
    assert roll_out_alone([*where(cohort, checkpoint, tmp_path / "a"), *more]) == 2
    assert says in capsys.readouterr().err


def test_a_damaged_checkpoint_is_refused_there_too(
    cohort: Cohort, checkpoint: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = tmp_path / "broken.npz"
    broken.write_bytes(checkpoint.read_bytes()[:5000])
    assert roll_out_alone(where(cohort, broken, tmp_path / "a")) == 2
    assert "cannot be read as a checkpoint" in capsys.readouterr().err


def test_a_foreign_checkpoint_is_not_adopted(
    cohort: Cohort, checkpoint: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    foreign = read_checkpoint(checkpoint)
    other = replace(foreign.manifest, content_hash="0" * 64)
    save_checkpoint(replace(foreign, manifest=other), tmp_path / "foreign.npz")
    given = ["--adopt", str(tmp_path / "foreign.npz"), "--cohort", str(cohort.directory)]
    assert run(["train", *given]) == 2
    assert "another cohort" in " ".join(capsys.readouterr().err.split())
