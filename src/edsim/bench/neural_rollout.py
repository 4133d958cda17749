"""`edsim bench rollout --neural`: a network in seats beside a loop that reads everything again.

The same weights and launches, each kind of work in a process of its own on the same threads; beside
them `generate()` of a GPT-2 of the same size, and what the products of an event would take alone.
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from edsim.bench.measure import Measurement, measure
from edsim.progress import Progress, silent

SEATS = "causal Transformer in seats"
NETWORKS = {
    "decoder in seats": ("causal_transformer", "time_bins"),
    "GRU in seats": ("gru", "joint"),
    "LSTM in seats": ("lstm", "joint"),
}
SHARE_READ_AGAIN = 0.05
"""Of the launches; all would take an hour."""


def bench_neural_rollout(
    n_stays: int, n_launches: int, progress: Progress = silent
) -> list[Measurement]:
    """Untrained networks of the paper's small size: what they draw matters little to how fast."""
    with tempfile.TemporaryDirectory(prefix="edsim-bench-") as name:
        cohort, result = Path(name) / "cohort", Path(name) / "result.json"
        progress.stage(f"building a cohort of {n_stays:,} stays")
        build = ["-m", "edsim", "cohort", "build", "synthetic", "--stays", str(n_stays)]
        measure("build", [*build, "--out", str(cohort)], n_stays=n_stays)

        def line(work: str, kind: str, *more: str, beside: str | None = SEATS) -> Measurement:
            progress.stage(work)
            arguments = ["-m", "edsim.bench.neural_work", kind, "--result", str(result)]
            arguments += ["--encoded", str(cohort / "encoded" / "ed32"), *more]
            row = measure(work, arguments, n_stays=n_stays)
            said: dict[str, Any] = json.loads(result.read_text())
            batch = f", batch {said['batch']}" if said.get("batch") else ""
            took = {name: said[name] for name in ("seconds", "cpu_seconds", "n_events")}
            return replace(row, work=work + batch, beside=beside, **took)

        some = ["--launches", str(n_launches)]
        few = ["--launches", str(max(64, round(n_launches * SHARE_READ_AGAIN)))]
        return [
            line(SEATS, "seats", *some, beside=None),
            line("the same network, reading everything again", "reencoding", *few),
            line("GPT-2 of the same size, generate()", "gpt2", *few),
            line("products alone, as one large product", "bound"),
            *(
                line(work, "seats", *some, "--network", network, "--heads", heads)
                for work, (network, heads) in NETWORKS.items()
            ),
        ]
