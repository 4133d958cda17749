"""Where training stands, on disk, so that it can be killed at any moment and goes on from there.

One file, replaced whole: everything a step changes, the best weights so far, and what was logged.
"""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from edsim.tables.whole_file import whole_file

_STATE, _BEST = "state/", "best/"


@dataclass(slots=True, kw_only=True)
class Standing:
    """How far training has come. JSON values only."""

    epoch: int = 1
    """The one that is being trained, from 1."""
    step: int = 0
    """Steps of it that are done."""
    seconds: float = 0.0
    best_epoch: int = 0
    best_loss: float = float("inf")
    epochs: list[dict[str, Any]] = field(default_factory=list)
    finished: bool = False


def save_standing(
    path: Path,
    decides: Mapping[str, Any],
    standing: Standing,
    tensors: Mapping[str, Tensor],
    best: Mapping[str, NDArray[Any]],
    *,
    restricted: bool,
) -> None:
    """Write all of it."""
    said = json.dumps({"decides": decides, "standing": asdict(standing)}, sort_keys=True).encode()
    with whole_file(path, restricted=restricted) as file:
        np.savez(
            file,
            allow_pickle=False,
            said=np.frombuffer(said, dtype=np.uint8),
            **{_STATE + name: tensor.detach().cpu().numpy() for name, tensor in tensors.items()},
            **{_BEST + name: array for name, array in best.items()},
        )


def take_up(
    path: Path, decides: Mapping[str, Any], tensors: Mapping[str, Tensor]
) -> tuple[Standing, dict[str, NDArray[Any]]] | None:
    """Put `tensors` back to where they were; None, and nothing changed, where that is not known.

    A standing of another recipe, data or code is none.
    """
    try:
        with np.load(path, allow_pickle=False) as arrays:
            said = json.loads(bytes(arrays["said"]))
            if said["decides"] != json.loads(json.dumps(decides)):
                return None
            found = {name: arrays[_STATE + name] for name in tensors}
            best = {
                name.removeprefix(_BEST): arrays[name]
                for name in arrays.files
                if name.startswith(_BEST)
            }
            standing = Standing(**said["standing"])
    except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile, zlib.error):
        return None
    with torch.no_grad():
        for name, tensor in tensors.items():
            tensor.copy_(torch.from_numpy(found[name]))
    return standing, best
