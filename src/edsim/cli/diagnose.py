"""`edsim diagnose`: what is wrong with a simulator, in sentences."""

from __future__ import annotations

from pathlib import Path

from edsim.cli.console import console
from edsim.cli.progress import shown_progress


def diagnose(
    *producers: str,
    cohort: Path,
    launches: str = "matched-100k",
    clock: str | None = None,
    device: str = "cpu",
) -> None:
    """Say in words what is wrong with simulators, with the measures that show it.

    Parameters
    ----------
    producers
        Rollouts files of the cohort, or producers as in `edsim rollout`: ours are rolled out once
        and kept with the cohort, simulators of yours each time.
    cohort
        A cohort made by `edsim cohort build`.
    launches
        Of producers given by name: the launch set.
    clock
        Of neural simulators given by name: median, sampled, lattice or bins.
    device
        Of producers given by name: where models are trained and run, cpu or cuda.
    """
    from edsim.cli.show_findings import show_faults
    from edsim.errors import BadInputError
    from edsim.lab.cohort import open_cohort
    from edsim.lab.diagnose import diagnose as diagnosed
    from edsim.lab.named import named_rollouts
    from edsim.lab.producers import is_trained

    if not producers:
        raise BadInputError("name what is to be diagnosed: rollouts files, or producers as markov.")
    opened = open_cohort(cohort)
    with shown_progress() as progress:
        found = [
            diagnosed(
                named_rollouts(
                    opened,
                    name,
                    launches=launches,
                    clock=clock if is_trained(name) else None,
                    device=device if is_trained(name) else "cpu",
                    progress=progress,
                ),
                opened,
            )
            for name in producers
        ]
    for verdicts in found:
        show_faults(console, verdicts)
