"""`edsim bench score`: scoring every launch of a full test split, and beside others' distances."""

from __future__ import annotations

import json
import tempfile
from importlib.util import find_spec
from pathlib import Path

from edsim.bench.measure import Measurement, measure
from edsim.progress import Progress, silent

SIZES = (100, 1_000, 3_000, 10_000, 100_000, 1_000_000)
"""Rollouts of the scaling table."""
LARGEST_PLAIN = 3_000


def bench_score(n_stays: int, *, progress: Progress = silent) -> list[Measurement]:
    """Score all test launches; CRPS; distances of process mining, up to a million rollouts."""
    with tempfile.TemporaryDirectory(prefix="edsim-bench-") as name:
        folder = Path(name)
        cohort, result = folder / "cohort", folder / "result.json"
        progress.stage(f"building a cohort of {n_stays:,} stays")
        build = ["-m", "edsim", "cohort", "build", "synthetic", "--stays", str(n_stays)]
        measure("build", [*build, "--out", str(cohort)], n_stays=n_stays)
        progress.stage("rolling out every test launch, by order 3 and by the true process")
        some = ["--launches", "all", "--metrics", "termination", "--resamples", "2"]
        made = ["-m", "edsim", "score", "ngram:3", "--cohort", str(cohort), *some]
        measure("roll out", made, n_stays=n_stays)
        largest = LARGEST_PLAIN if find_spec("log_distance_measures") else 0
        kinds = {
            "score": [],
            "crps": [],
            "neighbours": [str(largest), ",".join(map(str, SIZES))],
        }
        rows: list[Measurement] = []
        for kind, more in kinds.items():
            progress.stage(f"measuring: {kind}")
            arguments = ["-m", "edsim.bench.score_work", kind, str(cohort), str(result), *more]
            whole = measure(kind, arguments, n_stays=n_stays)
            rows += [_measurement(line, whole) for line in json.loads(result.read_text())]
    return rows


def _measurement(line: dict[str, object], whole: Measurement) -> Measurement:
    """A line of the work, with the peak memory of the process it was done in."""
    return Measurement(
        work=str(line["work"]),
        n_stays=int(str(line["n_rollouts"])),
        n_events=int(str(line["n_events"])),
        seconds=float(str(line["seconds"])),
        cpu_seconds=float(str(line["cpu_seconds"])),
        peak_gib=whole.peak_gib,
        beside=None if line.get("beside") is None else str(line["beside"]),
    )
