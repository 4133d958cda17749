"""`edsim bench cohort`: drawing visits, and raw MIMIC files to a finished cohort."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

from edsim.bench.measure import Measurement, measure
from edsim.cohort.manifest import read_manifest
from edsim.progress import Progress, silent

SEED = 1
BUILD = "raw files to cohort (ed7, ed32)"
_DRAW = "from edsim.sources import SOURCES as s; from edsim.progress import silent; "
_DRAW += "o = s['synthetic']; o.read(o.options(stays={n}, seed={seed}), silent)"


def bench_cohort(
    n_stays: int, *, plain_share: float = 0.1, times: int = 1, progress: Progress = silent
) -> list[Measurement]:
    """Draw, write and build; the plain build on a share; and all again, `times` larger."""
    with tempfile.TemporaryDirectory(prefix="edsim-bench-") as name:
        folder = Path(name)
        rows = _measure_size(folder, n_stays, progress)
        n_plain = max(50, round(n_stays * plain_share))
        _write_raw(folder / "small", n_plain, progress)
        rows.append(_plain(folder / "small", n_plain, progress))
        if times > 1:
            rows += _measure_size(folder, n_stays * times, progress)
    return rows


def _measure_size(folder: Path, n_stays: int, progress: Progress) -> list[Measurement]:
    raw, out, cache = folder / "raw", folder / "cohort", folder / f"compiled-{n_stays}"
    written = _write_raw(raw, n_stays, progress)
    progress.stage(f"building a cohort of {n_stays:,} stays")
    build = ["-m", "edsim", "cohort", "build", "mimic", "--ed", f"{raw}/ed"]
    build += ["--mimicel", f"{raw}/mimicel.csv", "--hosp", f"{raw}/hosp", "--overwrite"]
    built = measure(
        BUILD,
        [*build, "--out", str(out)],
        n_stays=n_stays,
    )
    n_events = read_manifest(out).n_events
    progress.stage(f"drawing {n_stays:,} stays")
    draw = ["-c", _DRAW.format(n=n_stays, seed=SEED)]
    cold = measure(
        "draw visits, compiling first",
        draw,
        n_stays=n_stays,
        n_events=n_events,
        environment={"NUMBA_CACHE_DIR": str(cache)},
    )
    warm = measure(
        "draw visits, compiled before",
        draw,
        n_stays=n_stays,
        n_events=n_events,
        environment={"NUMBA_CACHE_DIR": str(cache)},
    )
    return [
        cold,
        warm,
        replace(written, n_events=n_events),
        replace(built, n_events=n_events),
    ]


def _write_raw(raw: Path, n_stays: int, progress: Progress) -> Measurement:
    progress.stage(f"writing raw files of {n_stays:,} stays")
    write = ["-m", "edsim", "synthetic", "write", "--layout", "mimic", "--stays", str(n_stays)]
    write += ["--seed", str(SEED), "--out", str(raw), "--overwrite"]
    return measure("write raw MIMIC files", write, n_stays=n_stays)


def _plain(raw: Path, n_stays: int, progress: Progress) -> Measurement:
    progress.stage(f"the plain build of {n_stays:,} stays")
    out = raw.parent / "plain"
    row = measure(
        "the same, plainly with pandas",
        ["-m", "edsim.bench.plain_cohort", str(raw), str(out)],
        n_stays=n_stays,
        beside=BUILD,
    )
    return replace(row, n_events=int((out / "n_events").read_text()))
