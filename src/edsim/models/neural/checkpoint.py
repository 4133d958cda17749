"""A trained model as one .npz: weights, and a manifest that says exactly what they are.

No pickle is read. A file that is no checkpoint, is damaged, or belongs to another cohort or
vocabulary is refused before a single weight is used.
"""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from edsim import __version__
from edsim.errors import BadInputError, BadTableError, MissingExtraError
from edsim.models.neural.design import Design
from edsim.models.neural.model import FITTED, NeuralModel, Sizes
from edsim.models.neural.simulator import NeuralSimulator
from edsim.tables.whole_file import whole_file

FORMAT = 1
_WEIGHTS = "weights/"
_UNREADABLE = (
    OSError, ValueError, KeyError, TypeError, EOFError, RuntimeError, BadInputError,
    zipfile.BadZipFile, zlib.error,
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What the weights are. JSON values only."""

    recipe_name: str
    recipe: Mapping[str, Any]
    seed: int
    design: Mapping[str, Any]
    sizes: Mapping[str, Any]
    n_parameters: int
    content_hash: str
    """Of the cohort whose training visits it was trained on."""
    vocabulary: str
    vocabulary_sha256: str
    best_epoch: int
    """Whose weights these are, counted from 1."""
    epochs: Sequence[Mapping[str, Any]]
    """Of each epoch: losses by head in training and validation, rate, seconds."""
    audit: Mapping[str, Any]
    device: str
    torch_version: str
    restricted: bool
    code_version: str = __version__
    notes: Sequence[str] = field(default_factory=tuple)


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Manifest and weights."""

    manifest: Manifest
    weights: Mapping[str, NDArray[Any]]

    @property
    def producer(self) -> str:
        """Recipe and seed, as `gru@1`."""
        return f"{self.manifest.recipe_name}@{self.manifest.seed}"

    @property
    def identity(self) -> dict[str, Any]:
        """What a rollouts table says of its producer. JSON values only."""
        own = self.manifest
        return {
            "producer": self.producer,
            "recipe": {"name": own.recipe_name, **own.recipe},
            "training_seed": own.seed,
            "content_hash": own.content_hash,
            "vocabulary_sha256": own.vocabulary_sha256,
        }

    def model(self) -> NeuralModel:
        """The model with its weights, on the CPU."""
        tensors = {name: torch.from_numpy(array.copy()) for name, array in self.weights.items()}
        design = Design(**self.manifest.design)
        kind = FITTED.get(design.heads)
        times = None
        if kind is not None:
            times = kind(**{each.name: tensors[f"times_{each.name}"] for each in fields(kind)})
        sizes = {**self.manifest.sizes, "discharges": tuple(self.manifest.sizes["discharges"])}
        model = NeuralModel(design, Sizes(**sizes), times)
        model.load_state_dict(tensors)
        return model

    def check_fits(self, content_hash: str, vocabulary_sha256: str) -> None:
        """Refuse to be used for a cohort or a vocabulary that it was not trained on."""
        own = self.manifest
        if own.vocabulary_sha256 != vocabulary_sha256:
            raise BadTableError(
                f"the checkpoint {self.producer} was trained on another vocabulary (its "
                f"'{own.vocabulary}'), so its events mean something else here. Name that "
                "vocabulary with --vocabulary, or train again."
            )
        if own.content_hash != content_hash:
            raise BadTableError(
                f"the checkpoint {self.producer} was trained on another cohort, whose training "
                f"stays may be test stays of this one. Train it here: `edsim train "
                f"{own.recipe_name} --cohort DIR --seed {own.seed}`."
            )


def checkpoint_of(model: NeuralModel, manifest: Manifest) -> Checkpoint:
    """A copy of a model's weights as they are now."""
    state = model.state_dict()
    return Checkpoint(manifest, {name: t.cpu().numpy().copy() for name, t in state.items()})


def save_checkpoint(checkpoint: Checkpoint, path: Path) -> None:
    """Write the file; it is there whole or not at all."""
    said = json.dumps(asdict(checkpoint.manifest), sort_keys=True).encode()
    with whole_file(path, restricted=checkpoint.manifest.restricted) as file:
        np.savez(
            file,
            allow_pickle=False,
            format=np.array(FORMAT),
            manifest=np.frombuffer(said, dtype=np.uint8),
            **{_WEIGHTS + name: array for name, array in checkpoint.weights.items()},
        )


def read_checkpoint(path: Path) -> Checkpoint:
    """Read a file written by `save_checkpoint`; anything else is refused with one sentence."""
    path = Path(path)
    if not path.is_file():
        raise BadTableError(f"there is no checkpoint '{path}'.")
    try:
        with np.load(path, allow_pickle=False) as arrays:
            if not {"format", "manifest"} <= set(arrays.files):
                raise BadTableError(
                    f"'{path.name}' is no checkpoint of a neural model: it holds no manifest. "
                    "`edsim train` writes such files."
                )
            if int(arrays["format"]) != FORMAT:
                raise BadTableError(
                    f"'{path.name}' was written in format {int(arrays['format'])} of checkpoints; "
                    f"this version reads format {FORMAT}. Train the model again."
                )
            manifest = Manifest(**json.loads(bytes(arrays["manifest"])))
            weights = {
                name.removeprefix(_WEIGHTS): arrays[name]
                for name in arrays.files
                if name.startswith(_WEIGHTS)
            }
        checkpoint = Checkpoint(manifest, weights)
        _check_weights(checkpoint)
    except _UNREADABLE as error:
        raise BadTableError(
            f"'{path.name}' cannot be read as a checkpoint ({type(error).__name__}): it is "
            "damaged, or something else. Copy it again, or train the model again."
        ) from None
    return checkpoint


def load_simulator(path: Path, clock: str | None = None) -> NeuralSimulator:
    """The simulator in a file, which knows what it is: the loader of `python -m edsim.rollout`."""
    checkpoint = read_checkpoint(path)
    return NeuralSimulator(checkpoint.model(), clock, checkpoint.identity)


def export_safetensors(checkpoint: Checkpoint, path: Path) -> None:
    """Weights as safetensors, the manifest in its header as `manifest`."""
    try:
        from safetensors.numpy import save
    except ImportError:
        raise MissingExtraError("safetensors", "safetensors", "an export of weights") from None
    said = json.dumps(asdict(checkpoint.manifest), sort_keys=True)
    arrays = {name: np.ascontiguousarray(array) for name, array in checkpoint.weights.items()}
    with whole_file(path, restricted=checkpoint.manifest.restricted) as file:
        file.write(save(arrays, metadata={"manifest": said, "format": "edsim"}))


def _check_weights(checkpoint: Checkpoint) -> None:
    """Names and shapes have to be those of the design, and every number finite."""
    with torch.random.fork_rng(devices=()):
        checkpoint.model()
    for array in checkpoint.weights.values():
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise ValueError("weights that are not finite")
