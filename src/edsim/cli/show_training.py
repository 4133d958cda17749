"""Recipes, supervision audits and trained models in the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from edsim.training.audit import Audit
    from edsim.training.loop import Run


_TIME = {"regression": "quantiles", "joint": "classes", "time_bins": "tokens"}


def show_recipes(console: Console) -> None:
    """One line a recipe."""
    from edsim.training.recipes import RECIPES

    table = Table("recipe", "network", "time", "learns", box=None, pad_edge=False, padding=(0, 1))
    for name in ("size", "epochs", "stays", "rate"):
        table.add_column(name, justify="right")
    for name, recipe in RECIPES.items():
        design = recipe.design
        tried = recipe.rates_to_try
        table.add_row(
            name,
            design.network.removesuffix("_transformer"),
            _TIME[design.heads],
            "all" if recipe.supervision == "every_position" else "one",
            f"{design.layers}x{design.width}",
            str(recipe.epochs),
            str(recipe.batch_size),
            f"{min(tried):g}-{max(tried):g}" if tried else f"{recipe.rate:g}",
        )
    for column in table.columns:
        column.no_wrap = True
    console.print(table)
    console.print(
        "\nlearns: all positions of a stay, or the last one of a single prefix. stays: of a step.",
        soft_wrap=True,
    )


def show_audit(console: Console, asked: str, run: Run, audit: Audit) -> None:
    """What an epoch learns from, and the warning if there is one."""
    if run.name != asked:
        console.print(
            f"{audit.eligible:,} training events are few: {asked} takes its small form {run.name}.",
            soft_wrap=True,
        )
    share = audit.supervised / max(1, audit.eligible)
    console.print(
        f"{run.name}, seed {run.seed}: {audit.supervised:,} of {audit.eligible:,} positions "
        f"supervised an epoch ({share:.1%}), {audit.end_share:.1%} of them before END "
        f"({audit.eligible_end_share:.1%} of all); {audit.steps:,} steps, "
        f"{audit.padding:.1%} padding.",
        soft_wrap=True,
        highlight=False,
    )
    table = Table("prefix length", box=None, pad_edge=False)
    for name in ("supervised", "of"):
        table.add_column(name, justify="right")
    for one in audit.by_length:
        length = f"{one.fewest}" if one.fewest == one.most else f"{one.fewest} to {one.most}"
        table.add_row(length, f"{one.supervised:,}", f"{one.eligible:,}")
    console.print(table)
    if audit.warning:
        console.print(f"warning: {audit.warning}", soft_wrap=True, highlight=False)


def show_trained(console: Console, path: Path) -> None:
    """What was trained, epoch by epoch where there are few."""
    from edsim.models.neural.checkpoint import read_checkpoint

    manifest = read_checkpoint(path).manifest
    names = [name for name in manifest.epochs[0]["train"] if name != "all"]
    table = Table("epoch", box=None, pad_edge=False)
    for name in ("training", "validation", *names, "seconds"):
        table.add_column(name, justify="right")
    every = max(1, len(manifest.epochs) // 8)
    for one in manifest.epochs:
        last = one["epoch"] in (manifest.best_epoch, len(manifest.epochs))
        if one["epoch"] % every and not last:
            continue
        found = one["validation"] or {name: float("nan") for name in one["train"]}
        cells = [f"{value:.4f}" for value in (one["train"]["all"], found["all"])]
        cells += [f"{found[name]:.4f}" for name in names]
        table.add_row(str(one["epoch"]), *cells, f"{one['seconds']:.1f}")
    console.print(table)
    console.print(
        f"{manifest.recipe_name}@{manifest.seed}: {manifest.n_parameters:,} parameters, weights of "
        f"epoch {manifest.best_epoch}. Kept as {path}",
        soft_wrap=True,
        highlight=False,
    )
