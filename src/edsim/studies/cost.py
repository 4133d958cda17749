"""What a study will cost: its pieces, those that are there, and minutes by measured rates."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from edsim.lab.rates import Rates
from edsim.studies.engine import rates_of
from edsim.studies.pieces import Graph, Piece
from edsim.studies.study import Arm
from edsim.studies.study_file import StudyFile
from edsim.studies.study_run import planned, study_cohort, study_graph

WORK: Mapping[str, str] = {
    "models": "count models to fit",
    "runs": "training runs",
    "parts": "parts of rollouts",
    "rollouts": "rollouts",
    "predictions": "predictions",
    "scores": "score sheets",
    "comparisons": "comparisons",
}
"""Kinds of the store, as the work is called."""


@dataclass(frozen=True, slots=True)
class CostLine:
    """Work of one kind and one name."""

    kind: str
    counted: str
    n_pieces: int
    n_done: int
    seconds: float | None
    """For those that are missing; None where nothing like it was measured."""
    mib: float | None
    alike: bool
    """Whether it was measured on work of the same name."""


@dataclass(frozen=True, slots=True)
class Cost:
    """All that a study will take."""

    title: str
    n_runs: int
    lines: tuple[CostLine, ...]
    longest_seconds: float
    """The longest chain of pieces, which no number of workers can shorten."""
    to_draw: int
    """Synthetic visits that are drawn first, where the cohort is not there; 0 where it is."""
    arms: tuple[Arm, ...] = ()
    """The lines of the results, all that is known where the cohort is not there."""

    @property
    def seconds(self) -> float:
        """Of what could be estimated."""
        return sum(line.seconds or 0.0 for line in self.lines)

    @property
    def unknown(self) -> int:
        """Missing pieces of which nothing alike was measured."""
        missing = [line for line in self.lines if line.seconds is None]
        return sum(line.n_pieces - line.n_done for line in missing)


def cost_of(file: StudyFile, *, cohort: Path | None = None) -> Cost:
    """Look at everything, make nothing."""
    plan, synthetic = planned(file), file.study.synthetic
    title, n_runs = file.study.title or file.path.stem, len(plan.all_runs())
    if cohort is None and synthetic is not None and not file.cohort.exists():
        return Cost(title, n_runs, (), 0.0, synthetic.stays, plan.arms)
    return cost_of_graph(title, n_runs, study_graph(plan, study_cohort(file, cohort)).graph)


def cost_of_graph(title: str, n_runs: int, graph: Graph, *, by_name: bool = True) -> Cost:
    """The same of any pieces; in one line for all work of a kind where not by name."""
    rates, missing = rates_of(graph), graph.wanted()
    by_work: dict[tuple[str, str], list[Piece]] = defaultdict(list)
    for piece in graph.pieces.values():
        by_work[piece.asked.kind, piece.asked.counted if by_name else ""].append(piece)
    lines = tuple(_line(*work, pieces, missing, rates) for work, pieces in by_work.items())
    return Cost(title, n_runs, lines, _longest(missing, rates), 0)


def _line(
    kind: str, counted: str, pieces: list[Piece], missing: Mapping[str, Piece], rates: Rates
) -> CostLine:
    expected = [rates.expected(piece.asked) for piece in pieces if piece.key in missing]
    seconds = [one.seconds for one in expected if one.seconds is not None]
    return CostLine(
        kind,
        counted,
        n_pieces=len(pieces),
        n_done=len(pieces) - len(expected),
        seconds=sum(seconds) if len(seconds) == len(expected) else None,
        mib=max((one.mib for one in expected if one.mib is not None), default=None),
        alike=all(one.like for one in expected),
    )


def _longest(missing: Mapping[str, Piece], rates: Rates) -> float:
    """Seconds of the longest way through what is missing."""
    until: dict[str, float] = {}
    for key, piece in missing.items():  # what is needed stands first
        before = max((until[one] for one in piece.needs if one in until), default=0.0)
        until[key] = before + (rates.expected(piece.asked).seconds or 0.0)
    return max(until.values(), default=0.0)
