"""How long before an event: gaps of training, drawn by inverse CDF."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
import torch
from torch import Tensor

from edsim.models.edges import Edges
from edsim.models.gap_units import SECOND
from edsim.models.moving import moved


class GapsOfEdges(Protocol):
    """What an automaton asks for the time before the event of an edge."""

    def draw(self, edge: Tensor, u_time: Tensor) -> Tensor:
        """Minutes, float32 [rows]."""

    def log_density(self, edge: Tensor, minutes: Tensor) -> Tensor:
        """Of gaps, as in `protocol.Foreseen`, float64 [rows]; minus infinity for one ruled out."""

    def to(self, device: torch.device | str) -> Self:
        """The same on another device."""


@dataclass(frozen=True, slots=True)
class TrainingGaps:
    """The gaps of training themselves: every one as likely as another."""

    begin: Tensor
    """int64 [edges]."""
    count: Tensor
    """int64 [edges]; 0 for an event never seen, whose gap is the 0 at the end of `minutes`."""
    minutes: Tensor
    """float32, ascending within an edge."""

    @classmethod
    def of(cls, edges: Edges) -> TrainingGaps:
        """The gaps of all edges, on the CPU."""
        begin = np.where(edges.gap_count > 0, edges.gap_begin, len(edges.minutes))
        return cls(
            begin=torch.from_numpy(begin),
            count=torch.from_numpy(edges.gap_count),
            minutes=torch.from_numpy(np.append(edges.minutes, np.float32(0))),
        )

    def draw(self, edge: Tensor, u_time: Tensor) -> Tensor:
        """The `u_time` quantile of each edge's gaps."""
        # u_time is below 1 in float64: the product always rounds to less than the count
        nth = (u_time * self.count[edge]).long()
        return self.minutes[self.begin[edge] + nth]

    def log_density(self, edge: Tensor, minutes: Tensor) -> Tensor:
        """The share of the edge's gaps that are equal to the second, over a second."""
        at = minutes.double()
        equal = self._n_below(edge, at + SECOND / 2) - self._n_below(edge, at - SECOND / 2)
        return (equal.double() / self.count[edge].clamp(min=1) / SECOND).log()

    def _n_below(self, edge: Tensor, minutes: Tensor) -> Tensor:
        """How many of each edge's gaps lie below, by bisection."""
        begin = self.begin[edge]
        low, high = begin, begin + self.count[edge]
        for _ in range(int(self.count.max()).bit_length()):
            middle = (low + high) >> 1
            below = (low < high) & (self.minutes[middle.clamp(max=len(self.minutes) - 1)] < minutes)
            low, high = torch.where(below, middle + 1, low), torch.where(below, high, middle)
        return low - begin

    def to(self, device: torch.device | str) -> TrainingGaps:
        """The same gaps on another device."""
        return moved(self, device)
