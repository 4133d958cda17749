"""Groups of made-up launches, and what score rows say of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from edsim.metrics.figures import Group, Table
from edsim.metrics.measure import ScoringFacts
from edsim.metrics.registry import measures_named
from edsim.metrics.resampling import resample_weights, stays_of
from edsim.metrics.score_rows import group_rows
from edsim.tables.rollouts import Ensemble, Scored
from edsim.tables.scores import ScoreRow
from edsim.tables.visits import Suffixes

TOKENS = ("END", "Triage", "Vitals", "Discharge", "Enter")
FACTS = ScoringFacts(tokens=TOKENS, discharges=(3,), lattice=1.0)


def table(
    generated: Suffixes,
    observed: Suffixes,
    *,
    launches: Sequence[tuple[int, int]] | None = None,
    draws: int = 1,
    cap: int = 128,
) -> Table:
    """Launches after the first event of as many stays, where none are given."""
    n = len(observed)
    at = np.array(launches or [(i, 1) for i in range(n)], dtype=np.int32).reshape(n, 2)
    first = Scored(generated.take(np.arange(n) * draws), observed, at, len(TOKENS), cap)
    if draws == 1:
        return Table(first)
    return Table(first, Ensemble(generated, observed, at, draws, len(TOKENS), cap))


def group(one: Table, *, resamples: int = 50, **more: object) -> Group:
    """A group of these launches, every stay of another subject."""
    stays, _ = stays_of(one.first.launches)
    made = Group(
        table=one,
        facts=FACTS,
        weights=resample_weights(len(stays), resamples),
        subject_of_stay=np.arange(len(stays)),
    )
    return replace(made, **more)  # type: ignore[arg-type]


def rows_of(one: Group, *names: str) -> list[ScoreRow]:
    """All rows of some measures."""
    return group_rows(one, measures_named(names))


def row_of(one: Group, name: str) -> ScoreRow:
    """The row of a measure that has one."""
    return next(row for row in rows_of(one, name) if row.metric == name)
