"""Everything that is missing, made: by this process, by several, or by a cluster.

Tables, studies and the paper ask for runs; afterwards all of them are found in the stores.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass

from edsim.errors import BadInputError
from edsim.lab.rates import Rates
from edsim.progress import Progress, silent
from edsim.studies.crew import Alone
from edsim.studies.graph import graph_of
from edsim.studies.pieces import Graph, Outcome, Piece
from edsim.studies.results import Results
from edsim.studies.runs import OpenLoop, Run
from edsim.studies.schedule import Crew, Watch, carry_out

UNKNOWN_MIB = 1_024.0
"""What a piece is taken to need where nothing like it was measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Force:
    """Who does the work."""

    workers: int = 1
    """Processes on this machine."""
    memory_gib: float | None = None
    """Most memory of all of them together."""
    ray: str | None = None
    """Address of a Ray cluster, in place of processes here."""

    def __post_init__(self) -> None:
        if self.workers < 1:
            raise BadInputError("--workers must be at least 1.")
        if self.memory_gib is not None and self.memory_gib <= 0:
            raise BadInputError("--memory must be above 0 GiB.")
        if self.ray is not None and (self.workers > 1 or self.memory_gib is not None):
            raise BadInputError(
                "--ray hands the work to a cluster, whose nodes say how many processors and how "
                "much memory they have. Leave --workers and --memory out."
            )


@dataclass(frozen=True, slots=True)
class Failure:
    """A piece that could not be made."""

    title: str
    message: str
    n_lacking: int
    """How many pieces were not begun because of it."""
    seconds: float | None = None
    peak_mib: float | None = None
    """What the attempt took; None where it was not measured."""


def make_all(
    results: Results,
    sheets: Iterable[Run],
    rollouts: Iterable[Run] = (),
    predictions: Iterable[OpenLoop] = (),
    *,
    force: Force | None = None,
    progress: Progress = silent,
) -> list[Failure]:
    """Make score sheets of some runs, rollouts of others, and predictions; what failed, and why."""
    graph = graph_of(results, sheets, rollouts, predictions)
    outcomes = make(graph, force or Force(), progress=progress)
    return failures(graph, outcomes)


def make(
    graph: Graph, force: Force, *, progress: Progress = silent, watch: Watch | None = None
) -> dict[str, Outcome]:
    """Carry a graph out."""
    missing = graph.wanted()
    if not missing:
        return {}
    rates = rates_of(graph)
    seconds = {key: rates.expected(one.asked).seconds for key, one in missing.items()}
    known = {key: value for key, value in seconds.items() if value is not None}
    alone = force.ray is None and force.workers == 1 and force.memory_gib is None
    watch = watch or (_Quiet() if alone else _Counting(progress))
    with crew_of(force, rates, progress, missing.values()) as crew:
        return carry_out(graph, crew, watch, seconds=known)


def failures(graph: Graph, outcomes: Mapping[str, Outcome]) -> list[Failure]:
    """What failed of itself, with the number of pieces that lack it."""
    lacking = [one.because for one in outcomes.values() if one.because]
    return [
        Failure(
            graph.pieces[key].title,
            one.message,
            lacking.count(key),
            one.seconds or None,
            one.peak_mib or None,
        )
        for key, one in outcomes.items()
        if one.failed and not one.because
    ]


def rates_of(graph: Graph) -> Rates:
    """The measurements of all stores that pieces lie in."""
    return Rates({piece.store.folder: piece.store for piece in graph.pieces.values()}.values())


@contextmanager
def crew_of(
    force: Force, rates: Rates, progress: Progress, pieces: Iterable[Piece]
) -> Iterator[Crew]:
    """Those who will do the work; let go at the end."""

    def expected_mib(piece: Piece) -> float:
        return rates.expected(piece.asked).mib or UNKNOWN_MIB

    if force.ray is not None:
        from edsim.studies.ray_crew import RayCrew

        with closing(RayCrew(force.ray, expected_mib)) as cluster:
            cluster.check(pieces)
            yield cluster
    elif force.workers == 1 and force.memory_gib is None:
        yield Alone(progress)
    else:
        from edsim.studies.pool import Pool

        memory_mib = None if force.memory_gib is None else force.memory_gib * 1024
        with closing(Pool(force.workers, memory_mib=memory_mib, expected_mib=expected_mib)) as pool:
            yield pool


class _Quiet:
    """Says nothing: whoever makes the pieces shows each of them."""

    def begins(self, pieces: Mapping[str, Piece]) -> None:
        pass

    def ends(self, piece: Piece, outcome: Outcome) -> None:
        pass


class _Counting:
    """One line for all pieces."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def begins(self, pieces: Mapping[str, Piece]) -> None:
        self._progress.stage("making what is missing", len(pieces), "pieces")

    def ends(self, piece: Piece, outcome: Outcome) -> None:
        self._progress.advance(1)
