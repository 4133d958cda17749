"""`edsim study`: many runs asked for in one file, made, resumed, shown."""

from __future__ import annotations

from pathlib import Path

from cyclopts import App

from edsim.cli.console import console
from edsim.cli.progress import shown_progress

study = App(name="study", help="Train, roll out, score and compare all that a study file asks for.")


@study.command
def run(
    file: Path,
    /,
    *,
    cohort: Path | None = None,
    out: Path | None = None,
    dry_run: bool = False,
    workers: int = 1,
    memory: float | None = None,
    ray: str | None = None,
) -> int:
    """Make what is missing of a study, and print its results.

    What is there already is never made again: a study that was stopped goes on where it was, and
    one more seed costs one more seed. Results go to a folder that `edsim report` reads. Exit code 1
    if anything could not be made.

    Parameters
    ----------
    file
        A study as docs/studies.md describes it, in TOML.
    cohort
        In place of the cohort that the file names.
    out
        In place of the folder of results that the file names.
    dry_run
        List the work, and what it will cost by what like work took; do nothing.
    workers
        Processes on this machine that share the work.
    memory
        Most memory of these processes together, in GiB.
    ray
        Address of a Ray cluster that does the work instead: see docs/cluster.md.
    """
    from edsim.cli.show_study import show_cost, show_results
    from edsim.studies.cost import cost_of
    from edsim.studies.engine import Force
    from edsim.studies.study_file import read_study
    from edsim.studies.study_run import run_study

    force = Force(workers=workers, memory_gib=memory, ray=ray)
    read = read_study(file)
    if dry_run:
        show_cost(console, cost_of(read, cohort=cohort), workers)
        return 0
    with shown_progress() as progress:
        results = run_study(read, cohort=cohort, out=out, force=force, progress=progress)
    show_results(console, read.study, results)
    console.print(f"Written to {out or read.results}", markup=False, soft_wrap=True)
    return 1 if results.failures else 0


@study.command
def show(place: Path, /, *, cohort: Path | None = None) -> None:
    """Say how far a study is: the state of every piece, what it took, and what failed and why.

    Parameters
    ----------
    place
        A study file, or the folder of its results.
    cohort
        In place of the cohort that the file names.
    """
    from edsim.cli.show_study import show_state
    from edsim.studies.study_state import state_of

    show_state(console, state_of(place, cohort))
