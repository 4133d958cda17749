"""Tables read from files and joined to the stays of the cohort they are of."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from edsim.tables import predictions_file, rollouts_file

if TYPE_CHECKING:
    from edsim.lab.cohort import Cohort
    from edsim.tables.predictions import Predictions
    from edsim.tables.rollouts import Rollouts


def read_rollouts(path: Path | str, cohort: Cohort | None = None) -> Rollouts:
    """The rollouts of a file that fits the cohort, ready to be scored; anything else is refused.

    Without a cohort they can be looked at and no more: their stays are places among the file's ids.
    """
    if cohort is None:
        return rollouts_file.read_rollouts(path)
    from edsim.lab.rollouts_files import read_any

    return read_any(Path(path), cohort)


def read_predictions(path: Path | str, cohort: Cohort | None = None) -> Predictions:
    """The predictions of a file that fits the cohort, ready to be scored; without one, as above."""
    if cohort is None:
        return predictions_file.read_predictions(path)
    from edsim.lab.predictions import read

    return read(path, cohort)
