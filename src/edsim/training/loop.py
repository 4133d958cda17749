"""Training: epochs of steps, validation after each, the best weights kept.

Chance comes from (seed, step), so a run that was killed goes on as if nothing had happened: on the
CPU it ends with the same weights.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from edsim import __version__, seeds
from edsim.errors import BadInputError, TrainingError
from edsim.models.devices import checked_device
from edsim.models.neural.checkpoint import (
    Checkpoint,
    Manifest,
    checkpoint_of,
    read_checkpoint,
    save_checkpoint,
)
from edsim.models.neural.model import NeuralModel
from edsim.models.neural.networks import Transformer
from edsim.progress import Progress, silent
from edsim.tables.whole_file import whole_file
from edsim.training.audit import Audit, audit_of
from edsim.training.batches import MOST, Batches, Chosen
from edsim.training.captured import Captured
from edsim.training.examples import StayList, TrainingData, examples_of
from edsim.training.losses import HEADS
from edsim.training.recipes import Recipe
from edsim.training.repeatable import repeatable
from edsim.training.saved import Standing, save_standing, take_up
from edsim.training.validation import Validation, means
from edsim.training.weights import Weights

LOOK_EVERY = {"cpu": 1, "cuda": 100}
"""Steps between two looks at whether the loss is still a number, and at the time since the last
saving: each look waits for the device."""
SAVE_SECONDS = 60.0
"""Between two savings within an epoch; it is also saved at the end of each."""

Probe = Callable[[NeuralModel], Mapping[str, float]]
"""Measures a model after an epoch; what it finds stands in the log."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What is to be trained."""

    name: str
    """Of the recipe."""
    recipe: Recipe
    seed: int
    device: str = "cpu"

    def __post_init__(self) -> None:
        if self.seed < 0:
            raise BadInputError(f"a seed is a whole number from 0 on, not {self.seed}.")


def train(
    data: TrainingData,
    run: Run,
    out: Path,
    *,
    progress: Progress = silent,
    probe: Probe | None = None,
) -> Checkpoint:
    """Train and write the checkpoint; work that was begun beside `out` is gone on with."""
    work = work_folder(out)
    if run.recipe.rates_to_try:
        checkpoint = _best_rate(data, run, work, progress, probe)
    else:
        checkpoint = _trained(data, run, work, progress, probe)
    save_checkpoint(checkpoint, out)
    shutil.rmtree(work, ignore_errors=True)
    return checkpoint


def work_folder(out: Path) -> Path:
    """Where unfinished training is kept."""
    return out.with_name(f".{out.name}.training")


def _best_rate(
    data: TrainingData, run: Run, work: Path, progress: Progress, probe: Probe | None
) -> Checkpoint:
    """The learning rate with the best validation loss; each is trained in full."""
    found: list[Checkpoint] = []
    for rate in run.recipe.rates_to_try:
        out = work / f"rate-{rate:g}.npz"
        one = replace(run, recipe=replace(run.recipe, rate=rate, rates_to_try=()))
        if not out.exists():
            train(data, one, out, progress=progress, probe=probe)
        found.append(read_checkpoint(out))
    best = min(found, key=_best_loss)
    tried = [
        f"rate {one.manifest.recipe['rate']:g}: validation loss {_best_loss(one):.4f}"
        for one in found
    ]
    return Checkpoint(replace(best.manifest, notes=(*best.manifest.notes, *tried)), best.weights)


def _best_loss(checkpoint: Checkpoint) -> float:
    manifest = checkpoint.manifest
    return float(manifest.epochs[manifest.best_epoch - 1]["validation"]["all"])


def _trained(
    data: TrainingData, run: Run, work: Path, progress: Progress, probe: Probe | None
) -> Checkpoint:
    device = checked_device(run.device)
    try:
        with repeatable(device):
            return _Training(data, run, device, work, progress, probe).finish()
    except (torch.OutOfMemoryError, RuntimeError) as error:
        if not _is_out_of_memory(error):
            raise
        size = run.recipe.batch_size
        raise TrainingError(
            f"{run.name}@{run.seed} needs more memory than {device} has with batches of {size} "
            f"stays. Try --batch-size {max(1, size // 2)}."
        ) from None


def _is_out_of_memory(error: Exception) -> bool:
    return isinstance(error, torch.OutOfMemoryError) or "allocate memory" in str(error)


class _Training:
    """One training run in memory."""

    def __init__(
        self,
        data: TrainingData,
        run: Run,
        device: torch.device,
        work: Path,
        progress: Progress,
        probe: Probe | None,
    ) -> None:
        self.data, self.run, self.device = data, run, device
        self.work, self.progress, self.probe = work, progress, probe
        recipe = run.recipe
        torch.manual_seed(seeds.key("initial weights", run.seed) >> 1)
        model = NeuralModel.untrained(recipe.design, data.train, data.n_tokens, data.discharges)
        stays = StayList.of(data.train, run.seed, MOST)
        examples = examples_of(data.train, model)
        self.batches = Batches(stays, recipe, nobody=data.n_events)
        first = self.batches.epoch(1)
        self.audit = audit_of(stays, first, recipe.supervision)
        self.validation = self._validation(model)
        model = model.to(device).train()
        n_steps = recipe.epochs * len(first.steps)
        self.weights = Weights(model, examples.to(device), recipe, n_steps)
        self.standing = Standing()
        self.best: dict[str, NDArray[Any]] = {}
        self._captured: Captured | None = None
        self._saved_at = time.monotonic()

    def finish(self) -> Checkpoint:
        """All epochs that are missing."""
        recipe, standing = self.run.recipe, self._take_up()
        n_events = self.batches.epoch(standing.epoch).n_events
        self.progress.stage(f"training {self.run.name}", recipe.epochs * n_events, "events")
        self.progress.advance((standing.epoch - 1) * n_events)
        while not standing.finished:
            self._epoch()
        return Checkpoint(self._manifest(), self.best)

    def _validation(self, model: NeuralModel) -> Validation | None:
        """None where the cohort has no validation stays."""
        val = self.data.val
        if not len(val):
            self.progress.notice(
                "the cohort has no validation stays: the weights of the last epoch are kept."
            )
            return None
        stays = StayList.of(val, self.run.seed, MOST)
        examples = examples_of(val, model).to(self.device)
        batches = Batches(stays, self.run.recipe, nobody=int(val.n_events().sum()))
        return Validation(batches, examples)

    def _take_up(self) -> Standing:
        found = take_up(self._state_file, self._decides(), self.weights.tensors())
        if found is not None:
            self.standing, self.best = found
            self.progress.notice(
                f"going on from epoch {self.standing.epoch}, step {self.standing.step}."
            )
        return self.standing

    def _epoch(self) -> None:
        """One epoch, or what is left of it."""
        standing, epoch = self.standing, self.batches.epoch(self.standing.epoch)
        begin = time.monotonic()
        steps = epoch.on(self.device)
        self._seed_step(0)
        n_events = -(-epoch.n_events // len(epoch.steps))
        for number in range(standing.step, len(epoch.steps)):
            self._step(steps[number], number)
            standing.step = number + 1
            self.progress.advance(n_events)
            if standing.step % LOOK_EVERY[self.device.type] == 0:
                self._look()
                if time.monotonic() - self._saved_at > SAVE_SECONDS:
                    standing.seconds += time.monotonic() - begin
                    begin = time.monotonic()
                    self._save()
        self._look()
        self._close(begin)

    def _step(self, chosen: Chosen, number: int) -> None:
        recipe = self.run.recipe
        replace_events = bool(recipe.replacement) and self.standing.epoch >= recipe.replacement_from
        if self.device.type == "cuda" and self._can_be_captured():
            if self._captured is None:
                self._captured = Captured(self.weights, chosen)
            self._captured.step(chosen)
            return
        self._seed_step(number)
        self.weights.step(chosen, replace_events=replace_events)

    def _can_be_captured(self) -> bool:
        network = self.weights.model.network
        return isinstance(network, Transformer) and not self.run.recipe.replacement

    def _seed_step(self, number: int) -> None:
        """Dropout and replaced events of a step, whatever was drawn before."""
        key = seeds.key("steps of an epoch", self.run.seed, str(self.standing.epoch))
        step = seeds.combine(np.array([key], dtype=np.uint64), np.array([number]))
        torch.manual_seed(int(step[0]) >> 1)

    def _close(self, begin: float) -> None:
        """Validate, log, and keep the weights if they are the best so far."""
        standing, weights, recipe = self.standing, self.weights, self.run.recipe
        names = HEADS[recipe.design.heads]
        trained = means(names, weights.sums)
        weights.sums.zero_()
        shown = weights.validated
        found = self.validation.losses(shown) if self.validation else {}
        loss = found.get("all", -float(standing.epoch))  # without validation the last is the best
        if not np.isfinite(loss):
            self._stop(f"the validation loss is not a number after epoch {standing.epoch}")
        if loss < standing.best_loss:
            standing.best_loss, standing.best_epoch = loss, standing.epoch
            self.best = dict(checkpoint_of(shown, self._manifest()).weights)
        said: dict[str, Any] = {
            "epoch": standing.epoch,
            "train": trained,
            "validation": found,
            "rate": float(weights._rate),
            "seconds": round(standing.seconds + time.monotonic() - begin, 3),
        }
        if self.probe is not None:
            said["probe"] = dict(self.probe(shown))
            seen = ", ".join(f"{name} {value:.4f}" for name, value in said["probe"].items())
            self.progress.notice(f"after epoch {standing.epoch}, in closed loop: {seen}")
        standing.epochs.append(said)
        late = recipe.patience and standing.epoch - standing.best_epoch >= recipe.patience
        standing.finished = bool(late) or standing.epoch >= recipe.epochs
        standing.epoch, standing.step, standing.seconds = standing.epoch + 1, 0, 0.0
        self._save()

    def _look(self) -> None:
        bad = int(self.weights.bad_step)
        if bad >= 0:
            self._stop(f"the loss is not a number at step {bad} (epoch {self.standing.epoch})")

    def _stop(self, what: str) -> None:
        """Refuse to go on; the best weights so far are kept as a checkpoint."""
        kept = "No epoch was finished, so nothing is kept."
        found = take_up(self._state_file, self._decides(), self.weights.tensors())
        if found is not None and found[1]:
            self.standing, self.best = found
            path = self.work / "last-good.npz"
            save_checkpoint(Checkpoint(self._manifest(), self.best), path)
            kept = f"The best weights, of epoch {self.standing.best_epoch}, are kept in '{path}'."
        raise TrainingError(
            f"{self.run.name}@{self.run.seed}: {what}. {kept} Try a smaller --rate."
        )

    def _save(self) -> None:
        save_standing(
            self._state_file,
            self._decides(),
            self.standing,
            self.weights.tensors(),
            self.best,
            restricted=self.data.restricted,
        )
        lines = "".join(json.dumps(line) + "\n" for line in self.standing.epochs)
        with whole_file(self.work / "log.jsonl", restricted=self.data.restricted) as file:
            file.write(lines.encode())
        self._saved_at = time.monotonic()

    @property
    def _state_file(self) -> Path:
        return self.work / "state.npz"

    def _decides(self) -> dict[str, Any]:
        """What has to be the same for a standing to be gone on with."""
        return {
            "recipe": self.run.recipe.as_json(),
            "seed": self.run.seed,
            "cohort": self.data.content_hash,
            "vocabulary": self.data.vocabulary_sha256,
            "device": self.device.type,
            "code_version": __version__,
            "torch_version": torch.__version__,
        }

    def _manifest(self) -> Manifest:
        model = self.weights.model
        return Manifest(
            recipe_name=self.run.name,
            recipe=self.run.recipe.as_json(),
            seed=self.run.seed,
            design=asdict(model.design),
            sizes=asdict(model.sizes),
            n_parameters=sum(parameter.numel() for parameter in model.parameters()),
            content_hash=self.data.content_hash,
            vocabulary=self.data.vocabulary,
            vocabulary_sha256=self.data.vocabulary_sha256,
            best_epoch=self.standing.best_epoch,
            epochs=tuple(self.standing.epochs),
            audit=self.audit.as_json(),
            device=self.device.type,
            torch_version=torch.__version__,
            restricted=self.data.restricted,
        )


def audit_before(data: TrainingData, run: Run) -> Audit:
    """The supervision audit alone, before anything is trained."""
    stays = StayList.of(data.train, run.seed, MOST)
    batches = Batches(stays, run.recipe, nobody=data.n_events)
    return audit_of(stays, batches.epoch(1), run.recipe.supervision)
