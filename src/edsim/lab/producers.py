"""Whatever makes rollouts, by the name a user gives it.

marginal  markov  ngram:2 .. ngram:7  semi_markov    count models, fitted on the training split
blend:0.25:A+B                                       B with weight .25, mixed into A
defect:NAME:A                                        A with a fault planted: the paper's audit
RECIPE@SEED, as gru@1 or joint@2                      trained where it is missing, and kept
file.npz                                             a checkpoint of `edsim train`
oracle                                               the process behind a synthetic cohort
module:object  file.py:object  an entry point's name anyone's simulator
"""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from edsim import __version__
from edsim.cohort.manifest import hash_file
from edsim.errors import BadInputError
from edsim.lab.cohort import Cohort
from edsim.lab.foreign import code_hash, entry_point_names, is_simulator, load_foreign
from edsim.lab.oracle import PRODUCER as ORACLE
from edsim.lab.oracle import oracle_of
from edsim.lab.spoiled import is_spoiled, spoil, unspoiled
from edsim.lab.store import Asked, cohort_inputs, store_of
from edsim.lab.training import decided_by_run, recipe_and_seed, trained
from edsim.lab.unknown import unknown_producer
from edsim.progress import Progress, silent
from edsim.tables.facts import VocabularyFacts

if TYPE_CHECKING:
    from edsim.models.coverage import OrderCoverage


@dataclass(frozen=True, slots=True)
class Producer:
    """A name, and how to make what it stands for; small enough to be sent to other processes."""

    name: str
    directory: Path
    vocabulary: str
    clock: str | None = None
    """Of a neural simulator; its own default where it is None."""
    device: str = "cpu"

    @property
    def label(self) -> str:
        """The name without the folders of checkpoints: it travels, they do not."""
        return re.sub(r"[^:+]*/(?=[^/:+]*\.npz)", "", self.name)

    def make(self, progress: Progress = silent) -> Any:
        """The Simulator or the Process, on its device."""
        from edsim.lab.cohort import open_cohort

        made = _made(self, open_cohort(self.directory), progress)
        if self.device == "cpu":
            return made
        if not hasattr(made, "to"):
            raise BadInputError(f"'{self.name}' runs on the CPU alone. Leave --device out.")
        return made.to(_checked_device(self.device))

    def part(self, name: str, *, clock: str | None = None) -> Producer:
        """Another producer of the same cohort and vocabulary, on the same device."""
        return replace(self, name=name, clock=clock)


def find_producer(
    name: str,
    cohort: Cohort,
    vocabulary: str | None = None,
    *,
    clock: str | None = None,
    device: str = "cpu",
) -> Producer:
    """The producer of that name; what cannot be one is refused when it is made."""
    chosen = cohort.vocabulary_name(vocabulary)
    return Producer(name.strip(), cohort.directory, chosen, clock, device)


def kind_of(made: Any) -> Literal["simulator", "process"]:
    """Whether the loop runs it, or it runs by itself."""
    return "simulator" if is_simulator(made) else "process"


def version_of(made: Any) -> str:
    """What it says of its own version; ours where it is ours."""
    ours = type(made).__module__.startswith("edsim.")
    return str(getattr(made, "version", __version__ if ours else ""))


def source_hash(made: Any) -> str:
    """SHA-256 of the file its class is written in: a changed simulator is another one."""
    try:
        file = inspect.getsourcefile(made if inspect.isfunction(made) else type(made))
    except TypeError:
        return ""
    return "" if file is None else hash_file(Path(file))


def _made(producer: Producer, cohort: Cohort, progress: Progress) -> Any:
    name, vocabulary = producer.name, producer.vocabulary
    if name.startswith("blend:"):
        return _blend(producer, cohort, progress)
    if is_spoiled(name):
        inside = producer.part(unspoiled(name), clock=producer.clock)
        return spoil(name, _made(inside, cohort, progress))
    if is_trained(name):
        return _neural(producer, cohort, progress)
    if producer.clock is not None:
        raise BadInputError(f"'{name}' has one clock, its own. Leave --clock out.")
    if name == ORACLE:
        return oracle_of(cohort, vocabulary)
    if is_count_model(name):
        return count_model(name, cohort, vocabulary)
    installed = entry_point_names()
    if ":" in name or name in installed:
        return load_foreign(name, VocabularyFacts.open(cohort.encoded(vocabulary)))
    from edsim.models.count_models import COUNT_MODELS

    raise unknown_producer(name, [*COUNT_MODELS, ORACLE], installed)


def is_trained(name: str) -> bool:
    """Whether it is a recipe and a seed, or a checkpoint's path."""
    return recipe_and_seed(name) is not None or name.endswith(".npz")


def checkpoint_path(
    name: str,
    cohort: Cohort,
    vocabulary: str | None = None,
    *,
    device: str = "cpu",
    progress: Progress = silent,
) -> Path:
    """The checkpoint that a name stands for, trained where it is missing."""
    asked = recipe_and_seed(name)
    if asked is None:
        return Path(name)
    return trained(cohort, *asked, vocabulary=vocabulary, device=device, progress=progress)


def trained_on(producer: Producer, cohort: Cohort) -> tuple[dict[str, Any], int | None]:
    """Recipe and seed of a trained model that has been made; of all others nothing."""
    if not is_trained(producer.name):
        return {}, None
    from edsim.models.neural.checkpoint import read_checkpoint

    path = checkpoint_path(producer.name, cohort, producer.vocabulary)
    manifest = read_checkpoint(path).manifest
    return {"name": manifest.recipe_name, **manifest.recipe}, manifest.seed


def _neural(producer: Producer, cohort: Cohort, progress: Progress) -> Any:
    from edsim.models.neural.checkpoint import read_checkpoint
    from edsim.models.neural.simulator import NeuralSimulator

    path = checkpoint_path(
        producer.name, cohort, producer.vocabulary, device=producer.device, progress=progress
    )
    checkpoint = read_checkpoint(path)
    sha256 = cohort.vocabulary(producer.vocabulary).sha256
    checkpoint.check_fits(cohort.manifest.content_hash, sha256)
    return NeuralSimulator(checkpoint.model(), producer.clock)


def _checked_device(name: str) -> str:
    from edsim.models.devices import checked_device

    return str(checked_device(name))


def always_the_same(name: str) -> bool:
    """Whether the cohort and the name decide all of it: true of ours, false of anyone's code."""
    if name.startswith("blend:"):
        return all(always_the_same(part) for part in parts_of_blend(name))
    if is_spoiled(name):
        return always_the_same(unspoiled(name))
    ours = (ORACLE, "marginal", "markov", "semi_markov")
    return name in ours or name.startswith("ngram:") or is_trained(name)


def decided_by(name: str, cohort: Cohort, vocabulary: str) -> dict[str, Any]:
    """What decides a producer beside its name and the cohort; JSON values only."""
    if name.startswith("blend:"):
        return {part: decided_by(part, cohort, vocabulary) for part in parts_of_blend(name)}
    if is_spoiled(name):
        return {unspoiled(name): decided_by(unspoiled(name), cohort, vocabulary)}
    if recipe_and_seed(name) is not None:
        return decided_by_run(name, cohort, vocabulary)
    if name.endswith(".npz"):
        return {"checkpoint": hash_file(Path(name)) if Path(name).is_file() else ""}
    if always_the_same(name) or is_count_model(name):
        return {}
    return {"code": code_hash(name)}


def parts_of_blend(name: str) -> list[str]:
    """The producers of a blend.

    >>> parts_of_blend("blend:0.25:markov+ngram:3")
    ['markov', 'ngram:3']
    """
    return name.split(":", 2)[-1].split("+")


def read_blend(name: str) -> tuple[float, str, str]:
    """The weight of a blend's second producer, and both producers.

    >>> read_blend("blend:0.25:markov+ngram:3")
    (0.25, 'markov', 'ngram:3')
    """
    weight, _, pair = name.removeprefix("blend:").partition(":")
    parts = pair.split("+")
    try:
        share = float(weight)
    except ValueError:
        share = -1.0
    if len(parts) != 2 or not all(parts) or not 0 <= share <= 1:
        raise BadInputError(
            f"'{name}' is no blend: write blend:W:A+B, where W from 0 to 1 is the weight of B, as "
            "in blend:0.25:markov+ngram:3."
        )
    return share, parts[0], parts[1]


def not_to_be_blended(part: str) -> BadInputError:
    """The refusal of a process in a blend."""
    return BadInputError(f"'{part}' runs by itself and proposes nothing to be blended.")


def is_count_model(name: str) -> bool:
    """Whether the name is that of a count model."""
    from edsim.models.count_models import COUNT_MODELS

    return name in COUNT_MODELS or name.startswith("ngram:")


def count_model(name: str, cohort: Cohort, vocabulary: str) -> Any:
    """A count model, fitted on the training split."""
    from edsim.models.counts_file import load_counts

    model, _ = load_counts(fitted_path(name, cohort, vocabulary))
    return model


def fitted_path(name: str, cohort: Cohort, vocabulary: str) -> Path:
    """The file of a count model, fitted once and kept as an artifact of the cohort."""
    from edsim.models.count_models import count_recipe
    from edsim.models.counts_file import FittedOn, save_counts

    recipe = count_recipe(name)
    chosen = cohort.vocabulary(vocabulary)
    fitted_on = FittedOn(
        vocabulary=chosen.name,
        vocabulary_sha256=chosen.sha256,
        content_hash=cohort.manifest.content_hash,
    )

    def make(path: Path) -> None:
        training = cohort.visits(vocabulary).part("train")
        model = recipe.fit(training, len(chosen.tokens))
        save_counts(model, path, fitted_on, restricted=cohort.manifest.restricted)

    return store_of(cohort).get(fitted_asked(name, cohort, vocabulary), make)


def fitted_asked(name: str, cohort: Cohort, vocabulary: str) -> Asked:
    """The file of a count model, by all that decides it."""
    return Asked(
        kind="models",
        name=f"{name}-{vocabulary}",
        inputs={"model": name, **cohort_inputs(cohort, vocabulary)},
        ending=".npz",
        units=float(cohort.manifest.split["parts"]["train"]["events"]),
        counted=name,
    )


def _blend(producer: Producer, cohort: Cohort, progress: Progress) -> Any:
    from edsim.models.blend import Blend

    share, first, second = read_blend(producer.name)
    parts = [
        _made(producer.part(first, clock=producer.clock), cohort, progress),
        _made(producer.part(second), cohort, progress),
    ]
    for part, made in zip((first, second), parts, strict=True):
        if kind_of(made) != "simulator":
            raise not_to_be_blended(part)
    first_made, second_made = parts
    return Blend(first_made, second_made, share)


def coverage_of(
    cohort: Cohort, orders: int, vocabulary: str | None = None, progress: Progress = silent
) -> list[tuple[OrderCoverage, float]]:
    """Coverage of each order from 1, with the size of the fitted model's file in megabytes."""
    from edsim.models.count_models import HIGHEST_ORDER
    from edsim.models.counts import name_of_order
    from edsim.models.coverage import coverage

    if not 1 <= orders <= HIGHEST_ORDER:
        raise BadInputError(f"--orders goes from 1 to {HIGHEST_ORDER}; it is {orders}.")
    name = cohort.vocabulary_name(vocabulary)
    progress.stage("fitting count models", orders, "orders")
    sizes = []
    for order in range(1, orders + 1):
        path = fitted_path(name_of_order(order), cohort, name)
        sizes.append(path.stat().st_size / 1e6)
        progress.advance(1)
    model = count_model(name_of_order(orders), cohort, name)
    lines = coverage(model, cohort.visits(name).part("test"), range(1, orders + 1))
    return list(zip(lines, sizes, strict=True))
