"""A study from its file to its folder of results: what is missing is made, the rest is found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from edsim.errors import BadCohortError, BadInputError, EdsimError
from edsim.lab.build import build_cohort
from edsim.lab.cohort import Cohort, open_cohort
from edsim.lab.models import has_cuda
from edsim.lab.sheets import read_shared
from edsim.progress import Progress, silent
from edsim.sources import SOURCES
from edsim.studies.engine import Failure, Force, failures, make
from edsim.studies.graph import Building
from edsim.studies.pieces import Graph, Piece
from edsim.studies.plan import Plan, check_beside, plan_of
from edsim.studies.runs import Run
from edsim.studies.study_file import StudyFile
from edsim.studies.study_folder import StudyFolder, sheet_name
from edsim.tables.comparisons import Comparisons, read_comparisons
from edsim.tables.scores import ScoreRow, ScoreSheet, read_sheet


@dataclass(frozen=True, slots=True)
class StudyResults:
    """What a study came to."""

    arms: dict[str, list[ScoreSheet]]
    """The sheets of each line, one a training seed; those that could not be made are not there."""
    comparisons: Comparisons | None
    failures: list[Failure]
    n_made: int
    """Pieces that were made by this run of the study."""
    n_pieces: int


def planned(file: StudyFile) -> Plan:
    """The plan of a study's file; what is refused names the file."""
    try:
        return plan_of(file.study)
    except EdsimError as error:
        raise type(error)(f"{file.path.name}: {error}") from None


def run_study(
    file: StudyFile,
    *,
    cohort: Path | None = None,
    out: Path | None = None,
    force: Force | None = None,
    progress: Progress = silent,
) -> StudyResults:
    """Make what is missing of a study and write its folder of results."""
    plan, force = planned(file), force or Force()
    _check_device(file, plan, force)
    folder = StudyFolder(out or file.results)
    with folder.held():
        opened = study_cohort(file, cohort, progress)
        check_beside(plan, opened)
        folder.check(file, opened)
        folder.begin(file, opened)
        built = study_graph(plan, opened)
        outcomes = make(built.graph, force, progress=progress)
        failed = failures(built.graph, outcomes)
        arms, comparisons = _sheets(plan, built), _comparisons(built)
        folder.write(
            {
                sheet_name(arm, number): sheet
                for arm in plan.arms
                for number, sheet in arms[arm.name].items()
            },
            comparisons,
        )
        folder.begin(file, opened, failed)
    sheets = {name: list(of_arm.values()) for name, of_arm in arms.items()}
    n_made = sum(not one.failed and not one.found for one in outcomes.values())
    return StudyResults(sheets, comparisons, failed, n_made, len(built.graph.pieces))


def _check_device(file: StudyFile, plan: Plan, force: Force) -> None:
    """A GPU that is asked for has to be here; a cluster is asked for its own."""
    if force.ray is not None or all(run.device == "cpu" for run in plan.all_runs()):
        return
    if not has_cuda():
        raise BadInputError(
            f'{file.path.name} says device = "cuda", and this machine has no CUDA device that '
            'torch can use. Write device = "cpu", or hand the study to a cluster with --ray.'
        )


def study_cohort(file: StudyFile, given: Path | None, progress: Progress = silent) -> Cohort:
    """The cohort of a study: the one that is given, or its own, drawn where it is not there."""
    synthetic, directory = file.study.synthetic, given or file.cohort
    if given is not None or synthetic is None:
        return open_cohort(directory)
    source = SOURCES["synthetic"]
    if not directory.exists():
        build_cohort(source, source.options(**asdict(synthetic)), directory, progress=progress)
    cohort = open_cohort(directory)
    options = dict(cohort.manifest.source_options)
    if cohort.manifest.source != "synthetic" or options != asdict(synthetic):
        raise BadCohortError(
            f"the cohort in '{directory}' is not the one that `synthetic` of {file.path.name} asks "
            "for. Name another directory in `cohort`, or remove it: it will be drawn anew."
        )
    return cohort


@dataclass(frozen=True, slots=True)
class StudyGraph:
    """Every piece of a study, and which of them its results are read from."""

    graph: Graph
    sheets: dict[Run, Piece]
    shared: Piece | None
    """Durations on the launches where all runs end."""
    comparisons: list[Piece]


def study_graph(plan: Plan, cohort: Cohort) -> StudyGraph:
    """The pieces of a plan."""
    runs, pieces = plan.all_runs(), Building(set(plan.all_runs()))
    sheets = {run: pieces.sheet(cohort, run, plan.scoring) for run in runs}
    measures = {measure.name for measure in plan.scoring.measures()}
    shared = None
    if len(runs) > 1 and "duration_ratio" in measures:
        shared = pieces.shared(cohort, runs, plan.scoring.resamples)
    compared = [
        pieces.comparison(cohort, (a.name, b.name), plan.runs(a), plan.runs(b), plan.scoring)
        for a, b in plan.pairs
    ]
    found = pieces.graph.pieces
    return StudyGraph(
        pieces.graph,
        {run: found[key] for run, key in sheets.items()},
        None if shared is None else found[shared],
        [found[key] for key in compared],
    )


def _sheets(plan: Plan, built: StudyGraph) -> dict[str, dict[int, ScoreSheet]]:
    """The sheets that are there, by arm and number of the training seed."""
    shared: dict[Run, list[ScoreRow]] = {}
    if built.shared is not None and built.shared.done():
        rows = read_shared(built.shared.path)
        shared = dict(zip(plan.all_runs(), rows, strict=True))
    sheets: dict[str, dict[int, ScoreSheet]] = {}
    for arm in plan.arms:
        there = [(i, run) for i, run in enumerate(plan.runs(arm)) if built.sheets[run].done()]
        sheets[arm.name] = {
            number: _with_rows(read_sheet(built.sheets[run].path), shared.get(run, []))
            for number, run in there
        }
    return sheets


def _with_rows(sheet: ScoreSheet, rows: Sequence[ScoreRow]) -> ScoreSheet:
    return replace(sheet, rows=(*sheet.rows, *rows))


def _comparisons(built: StudyGraph) -> Comparisons | None:
    """The comparisons that are there, as one table."""
    there = [read_comparisons(piece.path) for piece in built.comparisons if piece.done()]
    if not there:
        return None
    return replace(there[0], comparisons=tuple(one for made in there for one in made.comparisons))
