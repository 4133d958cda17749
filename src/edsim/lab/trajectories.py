"""Rollouts of a cohort as a folder of MEDS trajectories, numbered and timed as its MEDS export."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from edsim.lab.cohort import Cohort
from edsim.lab.directory import whole_directory
from edsim.privacy import set_permissions
from edsim.tables.rollouts import Rollouts, RolloutsHeader
from edsim.tables.rollouts_meds import HEADER_FILE, Times, launch_times, write_meds
from edsim.tables.rollouts_meds_reading import has_own_columns, read_foreign_meds, read_meds_rows
from edsim.tables.rollouts_rows import Rows
from edsim.tables.visits import Launches


def write_trajectories(
    rollouts: Rollouts, directory: Path, cohort: Cohort, *, plain: bool = False
) -> None:
    """Write the folder, whole or not at all; `plain` keeps to the columns of the schema."""
    stay_ids = cohort.visits(rollouts.header.vocabulary).stay_ids
    assert stay_ids is not None
    with whole_directory(directory) as folder:
        write_meds(
            rollouts,
            folder,
            stay_ids,
            subjects=_subjects(cohort),
            launched=_launched(cohort, rollouts.launches),
            plain=plain,
        )
        set_permissions(folder, restricted=rollouts.header.restricted)


def read_trajectories(
    directory: Path, cohort: Cohort, foreign: RolloutsHeader, launches: str = "all"
) -> Rows:
    """Read the folder; another tool's trajectories are found among the launches of a set."""
    if (directory / HEADER_FILE).exists() and has_own_columns(directory):
        return read_meds_rows(directory)
    chosen = np.asarray(cohort.launches(launches))
    stay_ids = cohort.visits(foreign.vocabulary).stay_ids
    assert stay_ids is not None
    return read_foreign_meds(
        directory,
        foreign,
        stay_ids=stay_ids,
        launches=chosen,
        subjects=_subjects(cohort),
        launched=_launched(cohort, chosen),
    )


def _subjects(cohort: Cohort) -> NDArray[np.int64]:
    """The number that the MEDS export gives to the subject of each stay."""
    from edsim.sources.meds.export import with_subjects

    return with_subjects(cohort.stays())["subject"].to_numpy()


def _launched(cohort: Cohort, launches: Launches) -> Times:
    stays = cohort.stays()
    offsets = np.concatenate([[0], np.cumsum(stays["n_events"].to_numpy(), dtype=np.int64)])
    minutes = cohort.scan_events().select("minutes").collect()["minutes"].to_numpy()
    return launch_times(stays["arrival"].to_numpy(), minutes, offsets, launches)
