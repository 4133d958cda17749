"""Coverage of the test split by contexts of the training split, as a score sheet."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from edsim import __version__
from edsim.lab.cohort import Cohort, subjects_of
from edsim.lab.scores import cohort_facts
from edsim.tables.scores import ScoreRow, ScoreSheet
from edsim.tables.visits import SPLITS

if TYPE_CHECKING:
    from edsim.models.coverage import OrderCoverage

PRODUCER = "contexts"


def coverage_sheet(
    cohort: Cohort, lines: Sequence[tuple[OrderCoverage, float]], vocabulary: str | None = None
) -> ScoreSheet:
    """Rows `context_coverage`, `contexts`, `contexts_with_start_mark`, `table_megabytes`, at each
    order, of what `coverage_of` found. Nothing is simulated: there is neither rule nor draw."""
    chosen = cohort.vocabulary(vocabulary)
    split = cohort.visits(chosen.name).split
    assert split is not None
    test = np.flatnonzero(split == SPLITS.index("test"))
    people = len(np.unique(subjects_of(cohort)[test]))

    def row(metric: str, order: int, value: float, unit: str, target: str = "") -> ScoreRow:
        return ScoreRow(
            metric=metric,
            at=float(order),
            value=None if math.isnan(value) else float(value),
            unit=unit,
            target=target,
            n_launches=lines[0][0].n_transitions,
            n_stays=len(test),
            n_subjects=people,
            note="the test split has no transitions" if math.isnan(value) else "",
        )

    rows = []
    for line, megabytes in lines:
        rows += [
            row("context_coverage", line.order, line.share, "share", "high"),
            row("contexts", line.order, line.n_contexts, "count"),
            row("contexts_with_start_mark", line.order, line.n_contexts_marked, "count"),
            row("table_megabytes", line.order, megabytes, "MB", "low"),
        ]
    return ScoreSheet(
        producer=PRODUCER,
        producer_version=__version__,
        recipe={},
        training_seed=None,
        rule="none",
        clock="none",
        launches="all",
        cap=cohort.manifest.cap,
        draws=0,
        rollout_seed=0,
        privileged=False,
        vocabulary=chosen.name,
        vocabulary_sha256=chosen.sha256,
        tokens=chosen.tokens,
        cohort=cohort_facts(cohort, chosen.name),
        code_version=__version__,
        rows=tuple(rows),
    )
