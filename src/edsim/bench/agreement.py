"""How often two ways of rolling out the same launches give the same events.

Sums of another batch are rounded otherwise, so a draw next to the border of two events may fall on
either side; from there on a rollout is another one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from edsim.tables.visits import Suffixes

SAME_MINUTES = 1e-3
"""As a share of the gap, and at least so many minutes."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """Counts over all rows; an event that one side alone has is a different one."""

    n_events: int
    n_other: int
    """Events with another token."""
    n_rows: int
    n_other_rows: int
    """Rows with any such event."""
    n_other_gaps: int
    """Gaps that differ, of events that do not."""

    @property
    def share(self) -> float:
        """Of events that are the same."""
        return 1 - self.n_other / max(1, self.n_events)


def agreement(first: Suffixes, second: Suffixes) -> Agreement:
    """Compare rollouts of the same launches, event by event."""
    longest = np.maximum(first.lengths(), second.lengths())
    common = np.minimum(first.lengths(), second.lengths())
    row = np.repeat(np.arange(len(common)), common)
    place = np.arange(len(row)) - np.repeat(np.cumsum(common) - common, common)
    one, other = first.offsets[row] + place, second.offsets[row] + place
    same = first.tokens[one] == second.tokens[other]
    gaps = np.isclose(
        first.minutes[one], second.minutes[other], rtol=SAME_MINUTES, atol=SAME_MINUTES
    )
    n_same = np.bincount(row[same], minlength=len(common))
    return Agreement(
        n_events=int(longest.sum()),
        n_other=int((longest - n_same).sum()),
        n_rows=len(common),
        n_other_rows=int((n_same < longest).sum()),
        n_other_gaps=int((same & ~gaps).sum()),
    )
