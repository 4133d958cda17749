"""`python -m edsim.rollout`: shards where only numpy and torch are, such as on a GPU machine.

`edsim rollout --assemble` makes a rollouts file of the folder afterwards.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import importlib
import inspect
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from edsim.cohort.manifest import read_manifest
from edsim.errors import BadInputError, EdsimError
from edsim.models.devices import checked_device
from edsim.models.protocol import Simulator
from edsim.rollout.decoding import parse_rule
from edsim.rollout.shards import SHARD_ROWS, Work, roll_out_shards
from edsim.tables.facts import VocabularyFacts

CHECKPOINTS = "edsim.models.neural.checkpoint:load_simulator"
"""The loader of what `python -m edsim.training` writes."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code 0, or 2 and a message where something given cannot be used."""
    given = _parser().parse_args(arguments)
    try:
        device = checked_device(given.device)
        if not given.exact and device.type != "cpu":
            torch.set_float32_matmul_precision("medium")
        loading = functools.partial(load, given.loader, given.model, given.device, given.clock)
        work = Work(
            load=loading,
            encoded=given.encoded,
            launches=np.load(given.launches, mmap_mode="r", allow_pickle=False),
            rule=parse_rule(given.rule),
            cap=given.cap,
            seed=given.seed,
            draws=given.draws,
            identity={
                "loader": given.loader,
                "model_sha256": _sha256(given.model),
                **_said_by(loading(), given.encoded),
            },
        )
        roll_out_shards(
            work,
            given.out,
            workers=given.workers,
            slots=given.slots,
            shard_rows=given.shard_rows,
            progress=Lines(),
        )
    except (EdsimError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def load(loader: str, path: Path, device: str, clock: str | None = None) -> Simulator[Any]:
    """The simulator that `module:function` makes of a file, on a device.

    The function takes the path alone, or a path and a clock.
    """
    module, _, name = loader.partition(":")
    try:
        function = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError):
        raise BadInputError(f"there is no loader '{loader}': give it as module:function.") from None
    if clock is not None and len(inspect.signature(function).parameters) < 2:
        raise BadInputError(f"'{loader}' makes simulators with a clock of their own. Drop --clock.")
    model = function(path) if clock is None else function(path, clock)
    return model.to(device) if device != "cpu" else model  # type: ignore[no-any-return]


def _said_by(simulator: Simulator[Any], encoded: Path) -> dict[str, Any]:
    """What a simulator says it is; refused if it was trained on other data than these."""
    said = dict(getattr(simulator, "identity", {}))
    name = said.get("producer", "the model")
    if said.get("vocabulary_sha256", "") not in ("", VocabularyFacts.open(encoded).sha256):
        raise BadInputError(
            f"{name} was trained on another vocabulary than '{encoded.name}', so its events mean "
            "something else here. Give the folder of its vocabulary as --encoded."
        )
    here, hashed = encoded.resolve().parent.parent, said.get("content_hash", "")
    if hashed and (here / "cohort.json").exists() and read_manifest(here).content_hash != hashed:
        raise BadInputError(
            f"{name} was trained on another cohort, whose training stays may be test stays of "
            "this one. Train it on this one."
        )
    clock = str(getattr(simulator, "clock", "own"))
    return {**said, "clock": clock, "device": str(getattr(simulator, "device", "cpu"))}


class Lines:
    """Progress as a line now and then, for a log file."""

    def __init__(self) -> None:
        self._done, self._total, self._said, self._began = 0, 0, 0.0, time.monotonic()

    def stage(self, title: str, total: int | None = None, unit: str = "rows") -> None:
        self._total, self._began = total or 0, time.monotonic()

    def advance(self, n: int) -> None:
        self._done += n
        now = time.monotonic()
        if now - self._said > 5 or self._done == self._total:
            self._said = now
            rate = self._done / max(now - self._began, 1e-9)
            print(f"{self._done} of {self._total} rollouts, {rate:.0f} a second", flush=True)

    def notice(self, text: str) -> None:
        print(text, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m edsim.rollout", description=__doc__)
    parser.add_argument("--model", type=Path, required=True, help="the model file")
    parser.add_argument(
        "--loader", default=CHECKPOINTS, help="module:function that reads it; ours by default"
    )
    parser.add_argument("--clock", help="of a neural simulator, as in edsim rollout")
    parser.add_argument("--encoded", type=Path, required=True, help="encoded/<vocabulary>/")
    parser.add_argument("--launches", type=Path, required=True, help="a launch set, .npy")
    parser.add_argument("--out", type=Path, required=True, help="the work folder of the shards")
    parser.add_argument("--rule", default="vanilla", help="for example top_p=0.9")
    parser.add_argument("--cap", type=int, default=128, help="most events of a rollout")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--draws", type=int, default=1, help="rollouts of each launch")
    parser.add_argument("--device", default="cpu", help="for example cuda")
    parser.add_argument("--slots", type=int, help="rows continued at a time; by default what suits")
    parser.add_argument("--exact", action="store_true", help="float32 on a graphics card, not bf16")
    parser.add_argument("--workers", type=int, default=1, help="processes, each with a model")
    parser.add_argument("--shard-rows", type=int, default=SHARD_ROWS, help="rollouts of a shard")
    return parser


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


if __name__ == "__main__":
    sys.exit(main())
