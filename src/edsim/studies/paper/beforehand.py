"""The runs of all tables made before any table, by several processes or a cluster.

Afterwards tables find them. What could not be made is not tried again: its cells say why.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from edsim.errors import EdsimError
from edsim.lab.cohort import Cohort
from edsim.lab.scores import ScoreSettings
from edsim.progress import Progress, silent
from edsim.studies.engine import Force, make
from edsim.studies.graph import Building
from edsim.studies.paper.asking import asked_by
from edsim.studies.paper.entry import Entry
from edsim.studies.paper.scales import Scale
from edsim.studies.pieces import Graph
from edsim.studies.results import Results
from edsim.studies.runs import OpenLoop, Run


@dataclass(frozen=True, slots=True)
class Pieces:
    """Everything that tables ask for, and which pieces each run of theirs comes down to."""

    graph: Graph
    of_run: dict[Run | OpenLoop, list[str]]

    @property
    def n_runs(self) -> int:
        """How many rollouts and predictions it is about."""
        return len(self.of_run)


def pieces_of(
    entries: Sequence[Entry], results: Results, scale: Scale, device: str = "cpu"
) -> Pieces:
    """The pieces of these tables; what cannot be asked for is left to the table, which says why."""
    asking = asked_by(entries, results, scale, device)
    wanted: list[tuple[Run | OpenLoop, ScoreSettings | None]] = [
        *((run, scoring) for (run, _), scoring in asking.sheets.items()),
        *((run, None) for run in asking.rollouts),
        *((asked, None) for asked in asking.predictions),
    ]
    building = Building({one for one, _ in wanted if isinstance(one, Run)})
    found = Pieces(building.graph, {})
    for asked, scoring in wanted:
        cohort = results.cohort(asked.cohort)
        with suppress(EdsimError):
            keys = [] if cohort is None else _keys(building, cohort, asked, scoring)
            found.of_run.setdefault(asked, []).extend(keys)
    return found


def _keys(
    building: Building, cohort: Cohort, asked: Run | OpenLoop, scoring: ScoreSettings | None
) -> list[str]:
    if isinstance(asked, OpenLoop):
        return [building.predictions(cohort, asked)]
    if scoring is None:
        return building.rollouts(cohort, asked)
    return [building.sheet(cohort, asked, scoring)]


def make_beforehand(
    entries: Sequence[Entry],
    results: Results,
    scale: Scale,
    force: Force,
    *,
    device: str = "cpu",
    progress: Progress = silent,
) -> dict[Run | OpenLoop, str]:
    """Make what is missing; the runs of which something failed, and why.

    One process alone makes nothing beforehand, so that the first tables are there the sooner.
    """
    if force == Force():
        return {}
    pieces = pieces_of(entries, results, scale, device)
    outcomes = make(pieces.graph, force, progress=progress)
    failed = {}
    for run, keys in pieces.of_run.items():
        messages = [outcomes[key].message for key in keys if key in outcomes]
        why = next((message for message in messages if message), "")
        if why:
            failed[run] = why
    return failed
