"""`edsim bench train`: positions a second in training, beside a plain padded loop."""

from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from pathlib import Path

from edsim.bench.measure import Measurement, measure
from edsim.progress import Progress, silent


def bench_train(
    n_stays: int, recipe: str, *, n_steps: int, progress: Progress = silent
) -> list[Measurement]:
    """Some steps of a recipe, packed as `edsim train` does and padded as a plain loop does."""
    with tempfile.TemporaryDirectory(prefix="edsim-bench-") as name:
        cohort = Path(name) / "cohort"
        progress.stage(f"building a cohort of {n_stays:,} stays")
        build = ["-m", "edsim", "cohort", "build", "synthetic", "--stays", str(n_stays)]
        measure("build", [*build, "--out", str(cohort)], n_stays=n_stays)
        ours = f"train {recipe}, packed"
        rows = []
        for work, kind in (
            (ours, "packed"),
            ("the same, each batch padded to its longest", "padded"),
        ):
            progress.stage(work)
            result = Path(name) / f"{kind}.json"
            arguments = [kind, str(cohort), recipe, str(n_steps), str(result)]
            row = measure(work, ["-m", "edsim.bench.train_work", *arguments], n_stays=n_stays)
            rows.append(replace(row, **json.loads(result.read_text())))
    return [rows[0], replace(rows[1], beside=ours)]
