"""`python -m edsim.training`: train where only numpy and torch are, such as on a GPU machine.

`edsim train --adopt FILE` keeps the checkpoint with the cohort afterwards.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from edsim.cohort.manifest import read_manifest
from edsim.errors import BadInputError, EdsimError
from edsim.models.neural.checkpoint import Checkpoint
from edsim.training.audit import Audit
from edsim.training.examples import TrainingData
from edsim.training.loop import Run, audit_before, train
from edsim.training.recipes import RECIPES, find_recipe, form_for
from edsim.training.written import write_beside


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code 0, or 2 and a message where something given cannot be used."""
    given = _parser().parse_args(arguments)
    try:
        if given.list:
            print("\n".join(RECIPES))
            return 0
        _train(given)
    except (EdsimError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def _train(given: argparse.Namespace) -> None:
    if given.encoded is None or given.recipe is None or given.out is None:
        raise BadInputError("--encoded, --recipe and --out are needed.")
    data = _data(given)
    run = _run(given, data.n_events)
    _say_audit(run, audit_before(data, run))
    begin = time.monotonic()
    checkpoint = train(data, run, given.out, progress=Lines())
    write_beside(checkpoint.manifest, given.out)
    _say_result(checkpoint, time.monotonic() - begin)
    print(f"written to {given.out}")


def _data(given: argparse.Namespace) -> TrainingData:
    """The cohort's hash is in cohort.json two folders up, or is given."""
    directory = given.encoded.resolve().parent.parent
    if given.content_hash is not None:
        return TrainingData.open(given.encoded, given.content_hash)
    try:
        manifest = read_manifest(directory)
    except EdsimError:
        raise BadInputError(
            f"there is no cohort.json in '{directory}', so the checkpoint could not say which "
            "cohort it is of. Copy the file there, or give the hash that `edsim cohort show` "
            "prints as --content-hash."
        ) from None
    return TrainingData.open(given.encoded, manifest.content_hash, restricted=manifest.restricted)


def _run(given: argparse.Namespace, n_events: int) -> Run:
    name = form_for(given.recipe, n_events)
    asked = {"epochs": given.epochs, "batch_size": given.batch_size, "rate": given.rate}
    changes: dict[str, Any] = {key: value for key, value in asked.items() if value is not None}
    recipe = replace(find_recipe(name), **changes)
    return Run(name=name, recipe=recipe, seed=given.seed, device=given.device)


def _say_audit(run: Run, audit: Audit) -> None:
    print(
        f"{run.name}@{run.seed}: {audit.supervised} of {audit.eligible} positions supervised an "
        f"epoch, {audit.end_share:.1%} of them before END; {audit.steps} steps, "
        f"{audit.padding:.1%} padding"
    )
    for one in audit.by_length:
        print(f"  prefixes of {one.fewest} to {one.most} events: {one.supervised}")
    if audit.warning:
        print(f"warning: {audit.warning}")


def _say_result(checkpoint: Checkpoint, seconds: float) -> None:
    manifest = checkpoint.manifest
    for one in manifest.epochs:
        found = one["validation"] or one["train"]
        heads = ", ".join(f"{name} {value:.4f}" for name, value in found.items())
        print(f"epoch {one['epoch']}: {one['seconds']:.2f} s, {heads}")
    events = manifest.audit["eligible"] * len(manifest.epochs)
    print(
        f"{seconds:.1f} s in all for {events} events, {events / seconds:,.0f} a second; "
        f"weights of epoch {manifest.best_epoch}"
    )


class Lines:
    """Progress as a line now and then, for a log file."""

    def __init__(self) -> None:
        self._done, self._total, self._said, self._began = 0, 0, 0.0, time.monotonic()

    def stage(self, title: str, total: int | None = None, unit: str = "rows") -> None:
        self._done, self._total, self._began = 0, total or 0, time.monotonic()

    def advance(self, n: int) -> None:
        self._done += n
        now = time.monotonic()
        if now - self._said > 5:
            self._said = now
            rate = self._done / max(now - self._began, 1e-9)
            print(f"{self._done} of {self._total} events, {rate:.0f} a second", flush=True)

    def notice(self, text: str) -> None:
        print(text, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m edsim.training", description=__doc__)
    parser.add_argument("--encoded", type=Path, help="encoded/<vocabulary>/ of a cohort")
    parser.add_argument("--recipe", help="for example joint; --list shows all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device", default="cpu", help="for example cuda")
    parser.add_argument("--out", type=Path, help="the checkpoint, .npz")
    parser.add_argument("--epochs", type=int, help="in place of the recipe's own")
    parser.add_argument("--batch-size", type=int, help="stays a step, in place of the recipe's")
    parser.add_argument("--rate", type=float, help="learning rate, in place of the recipe's")
    parser.add_argument("--content-hash", help="of the cohort, where its cohort.json is not there")
    parser.add_argument("--list", action="store_true", help="list the recipes")
    return parser


if __name__ == "__main__":
    sys.exit(main())
