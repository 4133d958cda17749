"""The supervision audit: how many positions an epoch learns from, and which.

Models that were trained on the final position of a sampled prefix alone are the ones that collapse
in the paper's rollouts, so that is said before training and not found out after it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from edsim.privacy import SMALLEST_CELL
from edsim.training.batches import Epoch
from edsim.training.examples import StayList
from edsim.training.recipes import Supervision

BOUNDS = (1, 2, 3, 5, 9, 17, 33, 65, 129)
"""Where the classes of prefix length begin."""
FEW = 5 * SMALLEST_CELL
"""Positions; a class with fewer is joined to the one before it, for it may be of few subjects."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LengthClass:
    """Supervised positions of prefixes of `fewest` to `most` events."""

    fewest: int
    most: int
    supervised: int
    eligible: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """What one epoch (the first) learns from. JSON values only."""

    supervision: Supervision
    n_stays: int
    eligible: int
    """Positions: one after each event of every training stay."""
    supervised: int
    end_targets: int
    """Supervised positions where the stay ends next."""
    eligible_end_share: float
    padding: float
    steps: int
    by_length: tuple[LengthClass, ...]

    @property
    def end_share(self) -> float:
        return self.end_targets / max(1, self.supervised)

    @property
    def warning(self) -> str | None:
        """What a user should know before training; None where there is nothing."""
        if self.supervision == "every_position":
            return None
        return (
            f"only the final position of one prefix a stay is supervised: {self.supervised:,} of "
            f"{self.eligible:,} positions an epoch ({self.supervised / self.eligible:.1%}). Models "
            "trained so may look right one event ahead and collapse in closed loop; compare with "
            "a recipe that supervises every position."
        )

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def audit_of(stays: StayList, epoch: Epoch, supervision: Supervision) -> Audit:
    """Count the positions of an epoch."""
    n = stays.lengths
    longest = int(n.max(initial=1))
    reach = np.cumsum(np.bincount(n, minlength=longest + 1)[::-1])[::-1][1:]
    if supervision == "every_position":
        counted, ends = reach, len(n)
    else:
        counted = np.bincount(epoch.lengths, minlength=longest + 1)[1:]
        ends = int((epoch.lengths == n).sum())
    return Audit(
        supervision=supervision,
        n_stays=len(n),
        eligible=int(n.sum()),
        supervised=int(counted.sum()),
        end_targets=ends,
        eligible_end_share=len(n) / int(n.sum()),
        padding=round(epoch.padding, 4),
        steps=len(epoch.steps),
        by_length=tuple(_classes(counted.tolist(), reach.tolist())),
    )


def _classes(counted: Sequence[int], reach: Sequence[int]) -> list[LengthClass]:
    """Position k of both is prefix length k + 1; classes that hold few are joined."""
    found: list[LengthClass] = []
    bounds = [bound for bound in BOUNDS if bound <= len(counted)]
    for begin, end in zip(bounds, [*bounds[1:], len(counted) + 1], strict=True):
        supervised, eligible = sum(counted[begin - 1 : end - 1]), sum(reach[begin - 1 : end - 1])
        if found and min(eligible, found[-1].eligible, supervised or FEW) < FEW:
            last = found.pop()
            begin, supervised = last.fewest, supervised + last.supervised
            eligible += last.eligible
        found.append(
            LengthClass(fewest=begin, most=end - 1, supervised=supervised, eligible=eligible)
        )
    return found
