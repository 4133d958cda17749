"""The order of work: a piece begins when all that it needs is there, whoever carries it out.

A piece that fails does not stop those that do not need it; a full disk stops everything.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from edsim.errors import OutputError
from edsim.studies.pieces import Graph, Outcome, Piece


class Crew(Protocol):
    """Those who carry pieces out: this process, others, or a cluster."""

    def takes(self, piece: Piece) -> bool:
        """Whether this piece can be begun now."""

    def start(self, piece: Piece) -> None:
        """Begin it."""

    def ended(self) -> list[Outcome]:
        """What has ended; waits until something has."""

    def close(self) -> None:
        """Let go of processes and connections; what is not finished is given up."""


class Watch(Protocol):
    """Is told how the work goes."""

    def begins(self, pieces: Mapping[str, Piece]) -> None:
        """What has to be made."""

    def ends(self, piece: Piece, outcome: Outcome) -> None:
        """One piece ended."""


def carry_out(
    graph: Graph,
    crew: Crew,
    watch: Watch,
    *,
    keys: Iterable[str] | None = None,
    seconds: Mapping[str, float] | None = None,
) -> dict[str, Outcome]:
    """Make what is missing; how each piece ended, those that could not begin included.

    `seconds` is what pieces are expected to take: the longest way to the end goes first.
    """
    waiting = graph.wanted(keys)
    urgency = _urgency(waiting, seconds or {})
    order = sorted(waiting.values(), key=lambda piece: -urgency[piece.key])
    watch.begins(waiting)
    outcomes: dict[str, Outcome] = {}
    running: dict[str, Piece] = {}
    while order or running:
        order = _give_up(order, graph, outcomes, watch)
        unmade = {piece.key for piece in order} | running.keys()
        for piece in [one for one in order if unmade.isdisjoint(one.needs)]:
            if crew.takes(piece):
                crew.start(piece)
                order.remove(piece)
                running[piece.key] = piece
        for outcome in crew.ended() if running else []:
            piece = running.pop(outcome.key)
            if outcome.again:
                order.append(piece)
                continue
            watch.ends(piece, outcome)
            outcomes[outcome.key] = outcome
            if outcome.hopeless:
                raise OutputError(outcome.message)
    return outcomes


def _give_up(
    waiting: list[Piece], graph: Graph, outcomes: dict[str, Outcome], watch: Watch
) -> list[Piece]:
    """Those that can still be made; of the others it is said what they lack."""
    left = list(waiting)
    for piece in waiting:
        failed = [key for key in piece.needs if key in outcomes and outcomes[key].failed]
        if failed:
            first = graph.pieces[outcomes[failed[0]].because or failed[0]]
            outcome = Outcome(
                piece.key, f"not made, because {first.title} failed.", because=first.key
            )
            outcomes[piece.key] = outcome
            watch.ends(piece, outcome)
            left.remove(piece)
    return left if len(left) == len(waiting) else _give_up(left, graph, outcomes, watch)


def _urgency(pieces: Mapping[str, Piece], seconds: Mapping[str, float]) -> dict[str, float]:
    """Seconds from the beginning of each piece to the end of what follows from it."""
    after: dict[str, float] = dict.fromkeys(pieces, 0.0)
    for key in reversed(list(pieces)):  # what is needed stands before what needs it
        after[key] += seconds.get(key, 1.0)
        for needed in pieces[key].needs:
            if needed in after:
                after[needed] = max(after[needed], after[key])
    return after
