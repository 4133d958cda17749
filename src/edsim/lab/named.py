"""Rollouts as a user names them: a file, or a producer whose rollouts are found or made."""

from __future__ import annotations

from pathlib import Path

from edsim.lab.cohort import Cohort
from edsim.lab.references import kept_rollouts
from edsim.lab.rollouts_files import is_file, read_any
from edsim.progress import Progress, silent
from edsim.tables.rollouts import Rollouts


def named_rollouts(
    cohort: Cohort,
    name: str,
    *,
    launches: str = "matched-100k",
    draws: int = 1,
    clock: str | None = None,
    device: str = "cpu",
    progress: Progress = silent,
) -> Rollouts:
    """The table of a file that fits the cohort; a producer's on a launch set otherwise."""
    if is_file(name):
        return read_any(Path(name), cohort)
    return kept_rollouts(
        cohort,
        name,
        launches=launches,
        draws=draws,
        clock=clock,
        device=device,
        progress=progress,
    )
