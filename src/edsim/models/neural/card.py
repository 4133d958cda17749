"""The model card of a checkpoint: what it is, what it learned from, what it is not for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from edsim.models.neural.checkpoint import Manifest
from edsim.models.neural.clocks import CLOCKS


def card_of(manifest: Manifest) -> str:
    """Markdown."""
    return "\n".join(
        [
            f"# {manifest.recipe_name}@{manifest.seed}",
            "",
            "A simulator of emergency-department visits, trained by EDSim-Bench "
            f"{manifest.code_version}. It continues a visit event by event from any prefix.",
            "",
            *_table(_facts(manifest)),
            "",
            "## Supervision",
            "",
            *_supervision(manifest.audit),
            "",
            "## Losses",
            "",
            "Means a supervised position, after each epoch; the weights kept are those of epoch "
            f"{manifest.best_epoch}.",
            "",
            *_losses(manifest),
            "",
            "## Limits",
            "",
            "Trained on the training split of one cohort and of use for that cohort's vocabulary "
            "alone. What it is worth in closed loop is told by `edsim score`, not by the losses "
            "above. It is made for research on simulators and for no decision about a patient.",
            *_restriction(manifest),
            *[f"\n{note}" for note in manifest.notes],
            "",
        ]
    )


def _facts(manifest: Manifest) -> dict[str, str]:
    design, sizes = manifest.design, manifest.sizes
    return {
        "recipe": manifest.recipe_name,
        "training seed": str(manifest.seed),
        "network": f"{design['network']}, width {design['width']}, {design['layers']} layers, "
        f"{manifest.n_parameters:,} parameters",
        "heads": str(design["heads"]),
        "clocks": ", ".join(CLOCKS[str(design["heads"])]) + " (the first by default)",
        "vocabulary": f"{manifest.vocabulary}, {sizes['n_tokens']} tokens, "
        f"SHA-256 {manifest.vocabulary_sha256[:16]}",
        "cohort": f"content hash {manifest.content_hash[:16]}",
        "trained on": f"{manifest.device}, torch {manifest.torch_version}",
    }


def _table(rows: Mapping[str, str]) -> list[str]:
    return ["| | |", "| --- | --- |", *[f"| {name} | {value} |" for name, value in rows.items()]]


def _supervision(audit: Mapping[str, Any]) -> list[str]:
    supervised, eligible = audit["supervised"], audit["eligible"]
    return [
        f"`{audit['supervision']}`: {supervised:,} of {eligible:,} positions an epoch "
        f"({supervised / max(1, eligible):.1%}), of which "
        f"{audit['end_targets'] / max(1, supervised):.1%} are followed by END.",
        "",
        "| prefix length | supervised | eligible |",
        "| --- | --- | --- |",
        *[
            f"| {one['fewest']} to {one['most']} | {one['supervised']:,} | {one['eligible']:,} |"
            for one in audit["by_length"]
        ],
    ]


def _losses(manifest: Manifest) -> list[str]:
    heads = [name for name in manifest.epochs[0]["train"] if name != "all"]
    lines = [
        f"| epoch | training | validation | {' | '.join(heads)} |",
        "| --- " * (3 + len(heads)) + "|",
    ]
    for one in manifest.epochs:
        found = one["validation"] or one["train"]
        cells = [f"{one['train']['all']:.4f}", f"{found['all']:.4f}" if one["validation"] else "-"]
        cells += [f"{found[name]:.4f}" for name in heads]
        lines.append(f"| {one['epoch']} | {' | '.join(cells)} |")
    return lines


def _restriction(manifest: Manifest) -> list[str]:
    if not manifest.restricted:
        return []
    return [
        "",
        "**Data under a use agreement.** Weights may hold traces of the visits they were trained "
        "on: share this file only as the data themselves may be shared.",
    ]
