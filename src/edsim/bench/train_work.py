"""The work that `edsim bench train` measures, each kind in a process of its own.

Writes how long the steps took, without starting Python and reading the data, and how many positions
were learned from.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from edsim.models.neural.model import NeuralModel
    from edsim.training.examples import Examples, TrainingData
    from edsim.training.recipes import Recipe

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # as in `edsim train`

SEED = 1
VOCABULARY = "ed32"
THREADS = 2
WARM_UP = 1
"""Steps that are not timed."""
Taken = dict[str, float]
"""seconds, cpu_seconds, n_events: lines of a `Measurement`."""


def packed(
    data: TrainingData, model: NeuralModel, examples: Examples, recipe: Recipe, n_steps: int
) -> Taken:
    """Steps of the first epoch as `edsim train` takes them."""
    from edsim.training.batches import MOST, Batches
    from edsim.training.examples import StayList
    from edsim.training.weights import Weights

    batches = Batches(StayList.of(data.train, SEED, MOST), recipe, nobody=data.n_events)
    steps = batches.epoch(1).steps[: n_steps + WARM_UP]
    weights = Weights(model, examples, recipe, len(steps))
    begin, n = now(), 0
    for number, chosen in enumerate(steps):
        if number == WARM_UP:
            begin, n = now(), 0
        weights.step(chosen)
        n += int((chosen.index != data.n_events).sum())
    return taken(begin, n)


def padded(
    data: TrainingData, model: NeuralModel, examples: Examples, recipe: Recipe, n_steps: int
) -> Taken:
    """The same, each batch padded to its longest visit."""
    from edsim.bench.plain_training import PlainTraining

    plain = PlainTraining(model, data.train, examples, recipe)
    order = np.random.default_rng(SEED).permutation(len(data.train))
    begin, n = now(), 0
    for number in range(n_steps + WARM_UP):
        if number == WARM_UP:
            begin, n = now(), 0
        n += plain.step(order[number * recipe.batch_size :][: recipe.batch_size])
    return taken(begin, n)


def now() -> tuple[float, float]:
    """By the clock on the wall, and by this process's own."""
    return time.perf_counter(), time.process_time()


def taken(begin: tuple[float, float], n_events: int) -> Taken:
    """Seconds since `begin`, by either clock, and positions."""
    wall, own = now()
    return {"seconds": wall - begin[0], "cpu_seconds": own - begin[1], "n_events": n_events}


WORK: dict[str, Callable[..., Taken]] = {"packed": packed, "padded": padded}


def main(kind: str, cohort: str, recipe_name: str, n_steps: str, result: str) -> None:
    """Do one kind of work from the same initial weights and write `result`."""
    import torch

    from edsim.lab.cohort import open_cohort
    from edsim.lab.training import training_data
    from edsim.models.neural.model import NeuralModel
    from edsim.training.examples import examples_of
    from edsim.training.recipes import find_recipe

    torch.set_num_threads(THREADS)
    torch.manual_seed(SEED)
    data, recipe = training_data(open_cohort(Path(cohort)), VOCABULARY), find_recipe(recipe_name)
    model = NeuralModel.untrained(recipe.design, data.train, data.n_tokens, data.discharges)
    found = WORK[kind](data, model.train(), examples_of(data.train, model), recipe, int(n_steps))
    Path(result).write_text(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
