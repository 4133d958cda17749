"""`edsim train`: a neural simulator of a cohort, kept with it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from edsim.cli.console import console
from edsim.cli.progress import shown_progress


def train(
    recipe: str | None = None,
    /,
    *,
    cohort: Path | None = None,
    seed: int = 1,
    vocabulary: str | None = None,
    device: str = "cpu",
    epochs: int | None = None,
    batch_size: int | None = None,
    rate: float | None = None,
    probe: bool = False,
    out: Path | None = None,
    export: Path | None = None,
    adopt: Path | None = None,
    overwrite: bool = False,
    list: bool = False,
) -> None:
    """Train a neural simulator on the training split; `edsim rollout RECIPE@SEED` runs it.

    The checkpoint is kept with the cohort and found again. A command that was stopped, run again,
    goes on from where it was. Before training it says which positions the recipe learns from.

    Parameters
    ----------
    recipe
        A name of `edsim train --list`, such as gru, causal_transformer_all or joint.
    cohort
        A cohort made by `edsim cohort build`.
    seed
        Training seed: initial weights, order of the stays, dropout.
    vocabulary
        Vocabulary to learn; the cohort's first by default.
    device
        cpu, or cuda.
    epochs
        In place of the recipe's own.
    batch_size
        Stays a step, in place of the recipe's own.
    rate
        Learning rate, in place of the recipe's own.
    probe
        After every epoch, roll out from 2,000 validation launches and tell how they went.
    out
        Also write the checkpoint (.npz) here, its card (.md) and its losses (.log.jsonl) beside it.
    export
        Also write the weights as .safetensors here.
    adopt
        In place of a recipe: a checkpoint trained elsewhere, to be kept as the cohort's own.
    overwrite
        Replace files that are there.
    list
        List all recipes and stop.
    """
    from edsim.cli.show_training import show_audit, show_recipes, show_trained
    from edsim.errors import BadInputError
    from edsim.lab.cohort import open_cohort
    from edsim.lab.probe import closed_loop_probe
    from edsim.lab.training import adopt as adopted
    from edsim.lab.training import audit, copy_out, export_to, planned, trained

    if list:
        show_recipes(console)
        return
    if (recipe is None) == (adopt is None) or cohort is None:
        raise BadInputError(
            "give a recipe and a cohort, as in: edsim train gru --cohort C --seed 1. "
            "`edsim train --list` shows the recipes."
        )
    _check_free([path for path in (out, export) if path is not None], overwrite)
    opened = open_cohort(cohort)
    if adopt is not None:
        path = adopted(opened, adopt)
    else:
        assert recipe is not None
        changes = {
            name: value
            for name, value in (("epochs", epochs), ("batch_size", batch_size), ("rate", rate))
            if value is not None
        }
        run = planned(opened, recipe, seed, device=device, changes=changes)
        show_audit(console, recipe, run, audit(opened, run, vocabulary))
        with shown_progress() as progress:
            path = trained(
                opened,
                recipe,
                seed,
                vocabulary=vocabulary,
                device=device,
                changes=changes,
                probe=closed_loop_probe(opened, vocabulary) if probe else None,
                progress=progress,
            )
    show_trained(console, path)
    if out is not None:
        copy_out(path, out)
        console.print(f"Written to {out}", markup=False, soft_wrap=True)
    if export is not None:
        export_to(path, export)
        console.print(f"Weights written to {export}", markup=False, soft_wrap=True)


def _check_free(paths: Sequence[Path], overwrite: bool) -> None:
    from edsim.errors import OutputError

    there = [path for path in paths if path.exists()]
    if there and not overwrite:
        raise OutputError(f"'{there[0]}' is already there. Choose another place, or --overwrite.")
