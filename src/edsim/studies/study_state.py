"""How far a study is: asked of the stores, so that it is true whoever worked on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from edsim.errors import BadInputError
from edsim.lab.store import Made
from edsim.studies.pieces import Piece, State
from edsim.studies.study_file import StudyFile, read_study
from edsim.studies.study_folder import STUDY, StudyFolder
from edsim.studies.study_run import planned, study_cohort, study_graph


@dataclass(frozen=True, slots=True)
class PieceState:
    """One piece of a study."""

    title: str
    kind: str
    state: State
    message: str = ""
    """Why it failed when it was last tried."""
    seconds: float | None = None
    peak_mib: float | None = None
    """What it took, or the attempt where it failed; None where that was not measured."""


@dataclass(frozen=True, slots=True)
class StudyState:
    """All pieces of a study."""

    title: str
    results: Path
    pieces: tuple[PieceState, ...]
    to_draw: bool = False
    """Whether even the cohort is not there yet."""
    of_another_cohort: bool = False
    """Whether the folder holds results of a cohort that has changed since."""


def state_of(place: Path, cohort: Path | None = None) -> StudyState:
    """The state of a study by its file or its folder of results."""
    file = _file_at(place)
    plan, title = planned(file), file.study.title or file.path.stem
    results = place if place.is_dir() else file.results
    said = StudyFolder(results).said()
    if cohort is None and file.study.synthetic is not None and not file.cohort.exists():
        return StudyState(title, results, (), to_draw=True)
    opened = study_cohort(file, cohort)
    built = study_graph(plan, opened)
    other = said is not None and said["content_hash"] != opened.manifest.content_hash
    failed = [] if said is None or other else said["failures"]
    failures = {str(one["title"]): one for one in failed}
    wanted = built.graph.wanted()
    return StudyState(
        title,
        results,
        tuple(
            _state(piece, failures)
            for piece in built.graph.pieces.values()
            if piece.done() or piece.key in wanted
        ),
        of_another_cohort=other,
    )


def _file_at(place: Path) -> StudyFile:
    if not place.is_dir():
        return read_study(place)
    said = StudyFolder(place).said()
    if said is None:
        raise BadInputError(
            f"'{place}' holds no results of a study: it has no {STUDY}. Name a study file, or a "
            "folder that `edsim study run` wrote."
        )
    return read_study(place / said["file"])


def _state(piece: Piece, failures: Mapping[str, Mapping[str, Any]]) -> PieceState:
    kind = piece.asked.kind
    if piece.done():
        made = _measured(piece)
        took = (None, None) if made is None else (made.seconds, made.peak_mib)
        return PieceState(piece.title, kind, "done", "", *took)
    if piece.running():
        return PieceState(piece.title, kind, "running")
    if piece.title in failures:
        said = failures[piece.title]
        took = (said.get("seconds"), said.get("peak_mib"))
        return PieceState(piece.title, kind, "failed", str(said["message"]), *took)
    return PieceState(piece.title, kind, "waiting")


def _measured(piece: Piece) -> Made | None:
    return piece.store.manifest(piece.asked) if piece.store.holds(piece.asked) else None
