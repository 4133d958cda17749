"""`edsim bench rollout`: fitting count models and rolling them out, beside a plain count model."""

from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from pathlib import Path

from edsim.bench.measure import Measurement, measure
from edsim.progress import Progress, silent

ORDERS = (3, 7)
PLAIN_ORDER = 3


def bench_rollout(
    n_stays: int, *, plain_share: float = 0.1, progress: Progress = silent
) -> list[Measurement]:
    """Fit, store and roll out orders 3 and 7 from every test launch; order 3 plainly on a share."""
    with tempfile.TemporaryDirectory(prefix="edsim-bench-") as name:
        bench = _Bench(Path(name), n_stays, progress)
        progress.stage(f"building a cohort of {n_stays:,} stays")
        build = ["-m", "edsim", "cohort", "build", "synthetic", "--stays", str(n_stays)]
        measure("build", [*build, "--out", str(bench.cohort)], n_stays=n_stays)
        rows = [row for order in ORDERS for row in bench.fit_and_roll_out(order)]
        beside = bench.roll_out_sentence(PLAIN_ORDER)
        plain = bench.measure(
            "the same, plainly on a share of launches",
            "roll-out-plainly",
            PLAIN_ORDER,
            str(plain_share),
        )
    return [*rows, replace(plain, beside=beside)]


class _Bench:
    def __init__(self, folder: Path, n_stays: int, progress: Progress) -> None:
        self.cohort = folder / "cohort"
        self._folder, self._n_stays, self._progress = folder, n_stays, progress

    def fit_and_roll_out(self, order: int) -> list[Measurement]:
        """Two lines; the file's size stands with the fit."""
        fitted = self.measure(f"fit order {order}", "fit", order)
        size = self._model(order).stat().st_size / 1e6
        rolled_out = self.measure(self.roll_out_sentence(order), "roll-out", order)
        return [replace(fitted, file_mb=size), rolled_out]

    def roll_out_sentence(self, order: int) -> str:
        """How a line is named."""
        return f"roll out order {order}, all test launches"

    def measure(self, work: str, kind: str, order: int, *more: str) -> Measurement:
        """One line: the seconds of the work itself, the memory of its whole process."""
        self._progress.stage(work)
        result = self._folder / "result.json"
        arguments = ["-m", "edsim.bench.rollout_work", kind, str(self.cohort)]
        arguments += [str(self._model(order)), str(order), str(result), *more]
        row = measure(work, arguments, n_stays=self._n_stays)
        return replace(row, **json.loads(result.read_text()))

    def _model(self, order: int) -> Path:
        return self._folder / f"order-{order}.npz"
