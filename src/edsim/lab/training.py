"""Trained models of a cohort: found again by recipe, seed and data, or trained and kept."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from edsim.errors import BadInputError, OutputError
from edsim.lab.cohort import Cohort
from edsim.lab.store import Asked, cohort_inputs, store_of
from edsim.progress import Progress, silent

if TYPE_CHECKING:
    from edsim.training.audit import Audit
    from edsim.training.examples import TrainingData
    from edsim.training.loop import Probe, Run

KIND = "runs"
_NAME = re.compile(r"(?P<recipe>[A-Za-z_][\w.]*(?:\[[^]@:+]*\])?)@(?P<seed>\d+)")


def recipe_and_seed(name: str) -> tuple[str, int] | None:
    """The parts of `gru@1`; None where a name is not of that form.

    >>> recipe_and_seed("gru@1"), recipe_and_seed("ngram:3")
    (('gru', 1), None)
    >>> recipe_and_seed("gru[width=64,epochs=4]@2")
    ('gru[width=64,epochs=4]', 2)
    """
    found = _NAME.fullmatch(name)
    return None if found is None else (found["recipe"], int(found["seed"]))


def trained(
    cohort: Cohort,
    recipe: str,
    seed: int,
    *,
    vocabulary: str | None = None,
    device: str = "cpu",
    changes: Mapping[str, Any] | None = None,
    probe: Probe | None = None,
    progress: Progress = silent,
) -> Path:
    """The checkpoint of a recipe and a seed, trained where it is missing.

    Training that was stopped goes on where it was. `changes` are fields of the recipe that are to
    be otherwise. A checkpoint is found again whatever device it was trained on.
    """
    from edsim.models.devices import checked_device
    from edsim.models.neural.checkpoint import read_checkpoint
    from edsim.training.loop import train
    from edsim.training.written import write_beside

    checked_device(device)
    name = cohort.vocabulary_name(vocabulary)
    run = planned(cohort, recipe, seed, device=device, changes=changes)

    def make(path: Path) -> None:
        train(training_data(cohort, name), run, path, probe=probe, progress=progress)

    def beside(made: Path, path: Path) -> None:
        write_beside(read_checkpoint(made).manifest, path)

    return store_of(cohort).get(run_asked(cohort, name, run), make, progress, beside=beside)


def planned(
    cohort: Cohort,
    recipe: str,
    seed: int,
    *,
    device: str = "cpu",
    changes: Mapping[str, Any] | None = None,
) -> Run:
    """The run that a name stands for in a cohort: of the small form where its data are few."""
    from edsim.training.loop import Run
    from edsim.training.recipes import find_recipe, form_for

    name = form_for(recipe, n_training_events(cohort))
    chosen = replace(find_recipe(name), **(changes or {}))
    return Run(name=name, recipe=chosen, seed=seed, device=device)


def n_training_events(cohort: Cohort) -> int:
    """END not counted; the same under every vocabulary."""
    return int(cohort.manifest.split["parts"]["train"]["events"])


def training_data(cohort: Cohort, vocabulary: str) -> TrainingData:
    """The visits a model of the cohort learns from and is validated on."""
    from edsim.training.examples import TrainingData

    manifest = cohort.manifest
    return TrainingData.open(
        cohort.encoded(vocabulary), manifest.content_hash, restricted=manifest.restricted
    )


def audit(cohort: Cohort, run: Run, vocabulary: str | None = None) -> Audit:
    """What an epoch of the run would learn from."""
    from edsim.training.loop import audit_before

    return audit_before(training_data(cohort, cohort.vocabulary_name(vocabulary)), run)


def run_asked(cohort: Cohort, vocabulary: str, run: Run) -> Asked:
    """A checkpoint by all that decides it; the device decides its last digits alone."""
    return Asked(
        kind=KIND,
        name=f"{run.name}@{run.seed}-{vocabulary}",
        inputs={
            "recipe": run.recipe.as_json(),
            "seed": run.seed,
            **cohort_inputs(cohort, vocabulary),
        },
        ending=".npz",
        units=float(n_training_events(cohort) * run.recipe.epochs),
        counted=run.name,
    )


def decided_by_run(name: str, cohort: Cohort, vocabulary: str) -> dict[str, Any]:
    """What decides the model of a name as `gru@1`, without training it."""
    found = recipe_and_seed(name)
    assert found is not None
    run = planned(cohort, *found)
    return {"run": run_asked(cohort, vocabulary, run).key}


def adopt(cohort: Cohort, path: Path, progress: Progress = silent) -> Path:
    """Keep a checkpoint that was trained elsewhere as the cohort's own run of its recipe and seed.

    It has to be of this cohort and of the recipe as it is written here.
    """
    from edsim.models.neural.checkpoint import read_checkpoint
    from edsim.training.loop import Run
    from edsim.training.recipes import recipe_from_json
    from edsim.training.written import write_beside

    checkpoint = read_checkpoint(path)
    manifest = checkpoint.manifest
    name = cohort.vocabulary_name(manifest.vocabulary)
    checkpoint.check_fits(cohort.manifest.content_hash, cohort.vocabulary(name).sha256)
    run = Run(
        name=manifest.recipe_name,
        recipe=recipe_from_json(dict(manifest.recipe)),
        seed=manifest.seed,
    )
    asked, store = run_asked(cohort, name, run), store_of(cohort)
    if store.holds(asked):
        raise OutputError(
            f"the cohort already has a trained {checkpoint.producer}; its rollouts and scores "
            f"stand for that one. Remove '{store.path(asked)}' to take another."
        )
    return store.get(
        asked,
        lambda target: _copy(path, target),
        progress,
        beside=lambda _, kept: write_beside(manifest, kept),
    )


def copy_out(checkpoint: Path, out: Path) -> None:
    """A checkpoint with card and log under another name."""
    from edsim.models.neural.checkpoint import read_checkpoint, save_checkpoint
    from edsim.training.written import write_beside

    if out.suffix != ".npz":
        raise BadInputError(
            f"a checkpoint is an .npz file; name it {out.stem}.npz, not {out.name}."
        )
    read = read_checkpoint(checkpoint)
    save_checkpoint(read, out)
    write_beside(read.manifest, out)


def _copy(source: Path, target: Path) -> None:
    shutil.copyfile(source, target)


def export_to(checkpoint: Path, out: Path) -> None:
    """The weights of a checkpoint as safetensors."""
    from edsim.models.neural.checkpoint import export_safetensors, read_checkpoint

    export_safetensors(read_checkpoint(checkpoint), out)
