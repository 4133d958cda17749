"""From a network's vector to minutes: the clocks a trained network may be rolled out with.

A recipe names its default; `--clock` chooses another that its heads support.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from edsim.errors import BadInputError
from edsim.models.gap_units import SECOND
from edsim.models.neural.heads import LEVELS, MEDIAN, BinHeads, JointHeads, RegressionHeads
from edsim.models.neural.time_bins import TimeBins
from edsim.models.neural.time_classes import TimeClasses


class Clock(Protocol):
    """Gives the gap before an event that has been drawn."""

    @property
    def name(self) -> str:
        """What `--clock` calls it."""

    def minutes(self, output: Tensor, tokens: Tensor, elapsed: Tensor, u_time: Tensor) -> Tensor:
        """float32 [rows], >= 0. `elapsed` is float64, up to the event before."""


@dataclass(frozen=True, slots=True)
class MedianClock:
    """The median of the quantile head, whatever the event and the chance: the paper's clock."""

    heads: RegressionHeads
    name: str = "median"

    def minutes(self, output: Tensor, tokens: Tensor, elapsed: Tensor, u_time: Tensor) -> Tensor:
        return torch.expm1(self.heads.quantiles(output)[:, MEDIAN]).clamp(min=0)


@dataclass(frozen=True, slots=True)
class SampledClock:
    """The inverse of the distribution that the quantile head describes.

    Straight lines between the levels in log1p minutes; beyond the outermost two the nearest line
    goes on, and no gap is longer than the longest in training.
    """

    heads: RegressionHeads
    longest_gap: Tensor
    levels: Tensor
    """LEVELS, where the heads are."""
    name: str = "sampled"

    def minutes(self, output: Tensor, tokens: Tensor, elapsed: Tensor, u_time: Tensor) -> Tensor:
        at = self.heads.quantiles(output)
        levels, u = self.levels, u_time.float()
        above = torch.searchsorted(levels, u).clamp(1, len(LEVELS) - 1)[:, None]
        low, high = at.gather(1, above - 1)[:, 0], at.gather(1, above)[:, 0]
        left, right = levels[above[:, 0] - 1], levels[above[:, 0]]
        value = low + (high - low) * (u - left) / (right - left)
        return torch.minimum(torch.expm1(value).clamp(min=0), self.longest_gap)

    def log_density(self, output: Tensor, gaps: Tensor) -> Tensor:
        """Log-density of gaps as in `protocol.Foreseen`, float64 [rows]."""
        at = gaps.double()
        upper, lower = (self._share_below(output, at + side * SECOND / 2) for side in (1, -1))
        return ((upper - lower).clamp(min=0) / SECOND).log()

    def _share_below(self, output: Tensor, minutes: Tensor) -> Tensor:
        """How much of what `minutes` draws lies below so many minutes."""
        at = self.heads.quantiles(output).double()
        levels = torch.tensor(LEVELS, dtype=torch.float64, device=at.device)
        value = torch.log1p(minutes.clamp(min=-0.5))[:, None]
        above = torch.searchsorted(at, value).clamp(1, len(LEVELS) - 1)
        low, high = at.gather(1, above - 1), at.gather(1, above)
        left, right = levels[above - 1], levels[above]
        share = left + (right - left) * (value - low) / (high - low).clamp(min=1e-9)
        share = torch.where(minutes > self.longest_gap, 1.0, share[:, 0].clamp(0, 1))
        return torch.where(minutes <= 0, 0.0, share)


@dataclass(frozen=True, slots=True)
class LatticeClock:
    """A time class given the event, then a moment of that class on the record's own lattice."""

    heads: JointHeads
    classes: TimeClasses
    name: str = "lattice"

    def minutes(self, output: Tensor, tokens: Tensor, elapsed: Tensor, u_time: Tensor) -> Tensor:
        return self.classes.draw(self.heads.time(output, tokens), tokens, elapsed, u_time)


@dataclass(frozen=True, slots=True)
class BinsClock:
    """A time bin, drawn before the event, then one of the training gaps of that bin."""

    heads: BinHeads
    bins: TimeBins
    name: str = "bins"

    def minutes(self, output: Tensor, tokens: Tensor, elapsed: Tensor, u_time: Tensor) -> Tensor:
        return self.draw(output, u_time)[1]

    def draw(self, output: Tensor, u_time: Tensor) -> tuple[Tensor, Tensor]:
        """The bin that comes before the next event, int64 [rows], and its gap, the `minutes`."""
        return self.bins.draw(self.heads.bins(output), u_time)


CLOCKS: dict[str, tuple[str, ...]] = {
    "regression": ("median", "sampled"),
    "joint": ("lattice",),
    "time_bins": ("bins",),
}
"""The clocks that each kind of heads supports, its default first."""


def clock_name(heads: str, wanted: str | None) -> str:
    """The clock of that name; the default where none is named."""
    names = CLOCKS[heads]
    if wanted is None:
        return names[0]
    if wanted not in names:
        raise BadInputError(
            f"this model has no clock '{wanted}'; its heads support {', '.join(names)}."
        )
    return wanted
