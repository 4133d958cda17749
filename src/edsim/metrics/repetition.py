"""Loops: long runs of one event, few different events, a tail that stands still.

The paper's appendix on repetition. END is no part of a run or a tail; it is one of the different
events. The targets are those of the observed suffixes, for real visits repeat themselves too.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from edsim.metrics.measure import Measure, ScoringFacts, share
from edsim.tables.rollouts import Scored
from edsim.tables.visits import END

LONG_RUN = 10


def _both(scored: Scored, facts: ScoringFacts) -> NDArray[np.float32]:
    """[rows, 2 x 6]: what `repetition_of_rows` says of the generated and the observed suffix."""
    from edsim.metrics.row_kernels import repetition_of_rows

    return np.hstack(
        [
            repetition_of_rows(side.tokens, side.offsets, facts.n_tokens, END, LONG_RUN)
            for side in (scored.generated, scored.observed)
        ]
    )


def _measure(
    name: str, title: str, part: int, whole: int, undefined: str, *, is_share: bool = False
) -> Measure:
    cells = [(np.array([6 + part]), np.array([6 + whole]))]
    return Measure(
        name=name,
        title=title,
        sums=_both,
        value=lambda totals: share(totals[..., part], totals[..., whole]),
        target=lambda totals: share(totals[..., 6 + part], totals[..., 6 + whole]),
        loss="distance",
        cells=(lambda n_columns: cells) if is_share else None,
        undefined=undefined,
    )


_EMPTY = "there are no rollouts"

MEASURES = (
    _measure("longest_run", "Longest run", 1, 0, _EMPTY),
    _measure("share_runs_10", "Runs of 10 or more", 2, 0, _EMPTY, is_share=True),
    _measure("distinct_ratio", "Different events", 3, 0, _EMPTY),
    _measure("share_tail_10", "Last 10 the same", 5, 4, "no rollout has ten events", is_share=True),
)
