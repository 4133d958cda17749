"""The clock of the record: how many gaps are exactly zero, and how many lie on its time lattice.

Records are kept to the minute or to the second, and many events share a moment. A simulator whose
clock does not know this is told from the truth by its gaps alone. All gaps of a suffix count, that
of END too; the targets are the observed shares.
"""

from __future__ import annotations

import numpy as np

from edsim.metrics.features import on_lattice, row_sums
from edsim.metrics.measure import Floats, Measure, ScoringFacts, share
from edsim.tables.rollouts import Scored


def _gap_sums(scored: Scored, facts: ScoringFacts) -> Floats:
    """[rows, 2 x 3]: gaps, gaps of zero, gaps on the lattice; generated, then observed."""
    columns = []
    for events in (scored.generated, scored.observed):
        columns += [
            events.lengths(),
            row_sums(events, events.minutes == 0),
            row_sums(events, on_lattice(events.minutes, facts.lattice)),
        ]
    return np.stack(columns, axis=1).astype(np.float64)


def _share(name: str, title: str, part: int) -> Measure:
    return Measure(
        name=name,
        title=title,
        sums=_gap_sums,
        value=lambda totals: share(totals[..., part], totals[..., 0]),
        target=lambda totals: share(totals[..., 3 + part], totals[..., 3]),
        cells=lambda n_columns: [(np.array([3 + part]), np.array([3]))],
        loss="distance",
        undefined="there are no events",
    )


MEASURES = (
    _share("share_zero_gaps", "Gaps of zero", 1),
    _share("share_on_lattice", "Gaps on the lattice", 2),
)
