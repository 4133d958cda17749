"""What has to be fitted or trained before a producer can run: found by the producer's name."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from edsim.errors import BadInputError
from edsim.lab.cohort import Cohort
from edsim.lab.foreign import entry_point_names
from edsim.lab.oracle import PRODUCER as ORACLE
from edsim.lab.producers import (
    fitted_asked,
    fitted_path,
    is_count_model,
    not_to_be_blended,
    parts_of_blend,
    read_blend,
)
from edsim.lab.spoiled import is_spoiled, unspoiled
from edsim.lab.store import Asked
from edsim.lab.training import planned, recipe_and_seed, run_asked, trained
from edsim.progress import Progress, silent


@dataclass(frozen=True, slots=True)
class Model:
    """A model that a producer stands on."""

    name: str
    asked: Asked
    make: Callable[..., Path]
    """Finds or makes it; called with `progress`. Can be pickled."""


def models_behind(
    producer: str, cohort: Cohort, vocabulary: str | None = None, device: str = "cpu"
) -> list[Model]:
    """All of them; none for the oracle and for anybody's own code. Networks train on `device`."""
    name = cohort.vocabulary_name(vocabulary)
    if producer.startswith("blend:"):
        return [
            model
            for part in parts_of_blend(producer)
            for model in models_behind(part, cohort, name, device)
        ]
    if is_spoiled(producer):
        return models_behind(unspoiled(producer), cohort, name, device)
    if is_count_model(producer):
        make = partial(_fit, producer, cohort, name)
        return [Model(producer, fitted_asked(producer, cohort, name), make)]
    named = recipe_and_seed(producer)
    if named is not None:
        recipe, seed = named
        asked = run_asked(cohort, name, planned(cohort, recipe, seed))
        train = partial(_train, cohort, recipe, seed, name, device)
        return [Model(producer, asked, train)]
    return []


def _fit(producer: str, cohort: Cohort, vocabulary: str, progress: Progress = silent) -> Path:
    progress.stage(f"fitting {producer}")
    return fitted_path(producer, cohort, vocabulary)


def _train(
    cohort: Cohort,
    recipe: str,
    seed: int,
    vocabulary: str,
    device: str,
    progress: Progress = silent,
) -> Path:
    """On one thread: sums in another order have other last digits, and then other rollouts."""
    from edsim.rollout.threads import one_thread

    with one_thread():
        return trained(
            cohort, recipe, seed, vocabulary=vocabulary, device=device, progress=progress
        )


@dataclass(frozen=True, slots=True)
class Traits:
    """What a producer's name alone says of it."""

    clocks: tuple[str, ...] = ()
    """Those it may be rolled out with, its own first; none where it has only its own."""
    takes_rules: bool = True
    """Whether a decoding rule can be applied to it."""
    is_network: bool = False
    """Whether it runs on a device that is named."""
    needs_seeds: bool = False
    """Whether it is trained, once for each seed."""


def traits_of(producer: str) -> Traits:
    """Of a producer's name; one that cannot be found is refused with the nearest known."""
    from edsim.models.count_models import count_recipe

    if producer == ORACLE:
        return Traits(takes_rules=False)
    if producer.startswith("blend:"):
        return _traits_of_blend(producer)
    if is_spoiled(producer):
        return replace(traits_of(unspoiled(producer)), is_network=False)
    if is_count_model(producer):
        count_recipe(producer)
        return Traits()
    if producer.endswith(".npz"):
        return _traits_of_checkpoint(Path(producer))
    if is_recipe(producer):
        return _traits_of_recipe(producer)
    if producer.endswith((".parquet", ".csv", ".csv.gz")):
        raise BadInputError(
            f"'{Path(producer).name}' is a file of rollouts, and a study makes its rollouts "
            "itself. Score the file with `edsim score FILE --cohort DIR`."
        )
    if ":" not in producer and producer not in entry_point_names():
        raise BadInputError(
            f"there is no model '{producer}'.{_nearest(producer)} Known: "
            f"{', '.join(known_names())}; or a simulator of your own, as file.py:object."
        )
    return Traits()


def _traits_of_blend(producer: str) -> Traits:
    _, *names = read_blend(producer)
    parts = [traits_of(name) for name in names]
    for name, part in zip(names, parts, strict=True):
        if not part.takes_rules:
            raise not_to_be_blended(name)
    return Traits(clocks=parts[0].clocks, needs_seeds=any(one.needs_seeds for one in parts))


def is_recipe(producer: str) -> bool:
    """Whether it is a recipe's name, with or without changes and a seed."""
    from edsim.training.recipes import RECIPES

    return producer.partition("@")[0].partition("[")[0] in RECIPES


def _traits_of_recipe(producer: str) -> Traits:
    from edsim.models.neural.clocks import CLOCKS
    from edsim.training.recipes import find_recipe

    name, at, seed = producer.partition("@")
    if at and not seed.isdigit():
        raise BadInputError(f"'{producer}': a training seed is a whole number, as in {name}@1.")
    clocks = CLOCKS[find_recipe(name).design.heads]
    return Traits(clocks=clocks, is_network=True, needs_seeds=not at)


def _traits_of_checkpoint(path: Path) -> Traits:
    from edsim.models.neural.checkpoint import read_checkpoint
    from edsim.models.neural.clocks import CLOCKS

    recipe = read_checkpoint(path).manifest.recipe
    return Traits(clocks=CLOCKS[recipe["design"]["heads"]], is_network=True)


def known_names() -> list[str]:
    """Every producer that has a name of its own."""
    from edsim.models.count_models import COUNT_MODELS
    from edsim.training.recipes import RECIPES

    return [*COUNT_MODELS, *RECIPES, ORACLE, *entry_point_names()]


def seeded(producer: str, seeds: Sequence[int]) -> list[str]:
    """The producer once for each training seed; itself alone where nothing of it is trained.

    >>> seeded("blend:0.5:gru+ngram:3", [1, 2]), seeded("markov", [1, 2])
    (['blend:0.5:gru@1+ngram:3', 'blend:0.5:gru@2+ngram:3'], ['markov'])
    """
    if not traits_of(producer).needs_seeds:
        return [producer]
    return [_with_seed(producer, seed) for seed in seeds]


def _with_seed(producer: str, seed: int) -> str:
    if producer.startswith("blend:"):
        kind, weight, _ = producer.split(":", 2)
        parts = [_with_seed(part, seed) for part in parts_of_blend(producer)]
        return f"{kind}:{weight}:{'+'.join(parts)}"
    if is_spoiled(producer):
        return producer.removesuffix(unspoiled(producer)) + _with_seed(unspoiled(producer), seed)
    return f"{producer}@{seed}" if traits_of(producer).needs_seeds else producer


def has_cuda() -> bool:
    """Whether a network could run on a GPU of this machine."""
    import torch

    return torch.cuda.is_available()


def _nearest(producer: str) -> str:
    plain = producer.partition("@")[0].partition("[")[0]
    close = difflib.get_close_matches(plain, known_names(), n=1)
    return f" Did you mean '{close[0]}'?" if close else ""
