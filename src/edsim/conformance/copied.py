"""Are the rows what was observed? A producer that knows how a stay went on need only repeat it.

Where data leave little to chance, an honest producer repeats it too. So rows are compared with what
other stays did after a past like theirs: a best guess that is right in a share p of the stays is
right of two stays with the same past in p squared.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from edsim.conformance.launching import Rows, Scene
from edsim.conformance.verdicts import Findings
from edsim.tables.visits import Launches, Suffixes, Visits

CHECK = "no look at the future"
LONG = 5
"""Events, END counted: shorter continuations are guessed."""
FEW = 10
"""Fewer long continuations tell nothing."""
MANY = 0.3
"""Share of rows that have to be the observed ones before anything is said."""
MOST_ROWS = 2_000
MOST_OTHERS = 5_000
"""Rows, and other stays, that are looked at."""
PAST = 16
"""Events before a launch by which stays are alike."""


def check_copied(findings: Findings, rows: Suffixes, scene: Scene, cap: int) -> None:
    """Fail where most rows have the observed events, and other stays with that past have not."""
    observed = scene.visits.suffixes(scene.launches).cut(cap)
    looked = _looked_at(observed, scene)
    if len(looked) < FEW:
        return
    n_same = int(_same_events(rows.take(looked), observed.take(looked)).sum())
    share = n_same / len(looked)
    if share <= MANY:
        return
    others = np.setdiff1d(np.arange(len(scene.visits)), scene.launches[looked, 0])
    expected = _agreement(scene.visits, scene.launches[looked], others, cap)
    if expected < share**2 / 2:
        findings.add(
            CHECK,
            "fail",
            f"{n_same} of {len(looked)} rows of {LONG} events and more hold exactly the events "
            f"that were observed; other stays with the same past go on alike in {expected:.0%}",
        )


def _looked_at(observed: Suffixes, scene: Scene) -> Rows:
    """Rows with a long continuation, of so few stays that others are left to compare with."""
    long = np.flatnonzero(observed.lengths() >= LONG)
    stays = scene.launches[long, 0]
    if len(np.unique(stays)) > len(scene.visits) / 2:
        long = long[stays % 2 == 0]
    return long[:: -(-len(long) // MOST_ROWS) or 1]


def _same_events(first: Suffixes, second: Suffixes) -> NDArray[np.bool_]:
    """The rows in which two tables hold the same events."""
    same = first.lengths() == second.lengths()
    for row in np.flatnonzero(same).tolist():
        same[row] = np.array_equal(first.row(row), second.row(row))
    return np.asarray(same)


def _agreement(visits: Visits, launches: Launches, others: Rows, cap: int) -> float:
    """In which share of launches one of the two stays with the most similar past goes on alike."""
    others = others[:: -(-len(others) // MOST_OTHERS) or 1]
    lengths = visits.n_events()[others]
    if not lengths.sum():
        return 1.0
    place = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    known = np.stack([np.repeat(others, lengths), place + 1], axis=1).astype(np.int32)
    pasts = _pasts(visits, known)
    order = np.argsort(pasts, kind="stable")
    after = np.searchsorted(pasts[order], _pasts(visits, launches))
    observed = visits.suffixes(launches).cut(cap)
    alike = np.zeros(len(launches), dtype=bool)
    for shift in (-1, 0):
        neighbour = order[np.clip(after + shift, 0, len(order) - 1)]
        alike |= _same_events(visits.suffixes(known[neighbour]).cut(cap), observed)
    return float(alike.mean())


def _pasts(visits: Visits, launches: Launches) -> NDArray[np.bytes_]:
    """The last events before each launch, the latest first, as text that sorts."""
    rows, lengths = launches.astype(np.int64).T
    back = np.arange(1, PAST + 1)
    where = visits.offsets[rows, None] + lengths[:, None] - back
    events = np.where(back <= lengths[:, None], visits.tokens[np.maximum(where, 0)] + 2, 1)
    return np.ascontiguousarray(events.astype(">u2")).view(f"S{2 * PAST}")[:, 0]
