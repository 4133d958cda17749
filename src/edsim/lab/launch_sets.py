"""Which launch set of the cohort a rollouts table holds: as it says, or as its launches show."""

from __future__ import annotations

import numpy as np

from edsim.errors import BadTableError
from edsim.lab.cohort import Cohort
from edsim.tables.rollouts import Rollouts
from edsim.tables.visits import Launches


def launch_set_of(rollouts: Rollouts, cohort: Cohort) -> str:
    """The name of the set that the table holds in full; refused where it holds none."""
    held = rollouts.launches[rollouts.draw == 0]
    said = rollouts.header.launches
    if said:
        wanted = np.asarray(cohort.launches(said))
        if not _same(held, wanted):
            raise BadTableError(
                f"the rollouts table says that it holds the launch set '{said}' of "
                f"{len(wanted):,} launches; it has {len(held):,}, and not all are the same. "
                f"`edsim check` with --launches {said} says which. In Python, read a file with its "
                "cohort, so that its stays are found: edsim.read_rollouts(FILE, cohort)."
            )
        return said
    name = found_launch_set(held, cohort)
    if name is None:
        raise BadTableError(
            f"the rollouts table holds {len(held):,} launches, which are none of the cohort's "
            "launch sets, so it cannot be put beside the reference. Continue all prefixes of one "
            "set, such as matched-1000; `edsim check` with --launches says which are missing."
        )
    return name


def found_launch_set(held: Launches, cohort: Cohort) -> str | None:
    """The stored set, or the sample of that size, that is exactly these launches."""
    stored = [name for name, said in cohort.manifest.launches.items() if "n" in said]
    samples = [f"matched-{len(held)}", f"val-{len(held)}"]
    return next((name for name in [*stored, *samples] if _holds(cohort, name, held)), None)


def _holds(cohort: Cohort, name: str, held: Launches) -> bool:
    of_stored = cohort.manifest.launches.get(name, {}).get("n")
    if of_stored is not None and of_stored != len(held):
        return False
    return _same(held, np.asarray(cohort.launches(name)))


def _same(held: Launches, wanted: Launches) -> bool:
    """Both are sorted by stay row and prefix length."""
    return bool(np.array_equal(held, wanted))
