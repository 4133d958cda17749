"""A published figure beside ours: what `edsim cohort show` prints for sources that have them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedRow:
    """One figure. `tolerance` is absolute, in the unit of the figure; None where none is claimed.

    A `known_miss` is outside its tolerance and stays visible on purpose.
    """

    quantity: str
    published: float
    ours: float
    tolerance: float | None = None
    known_miss: bool = False
    n_behind: int = 0
    """Subjects behind the figure: of a share, those of its smaller side; of a quantile, those
    beyond it. The figure of a restricted cohort is shown only where they are ten or more."""

    @property
    def within(self) -> bool | None:
        """Whether ours is within the tolerance; None where there is none."""
        if self.tolerance is None:
            return None
        return abs(self.ours - self.published) <= self.tolerance
