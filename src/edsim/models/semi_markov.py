"""The semi-Markov model: events as in the order-2 count model, gaps log-normal with a mass at zero.

The distribution belongs to the event and the two events before it: the share of gaps that are
exactly zero, and mean and standard deviation of ln(minutes) of the others. With fewer than five
gaps the share, with fewer than five positive gaps the other two, are those of a shorter context.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from edsim.models.edges import FEWEST_GAPS, Edges
from edsim.models.gap_units import SECOND
from edsim.models.moving import moved

SEMI_MARKOV = "semi_markov"
SEMI_MARKOV_ORDER = 2

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class LogNormalGaps:
    """Zero, or the exponential of a normal number."""

    zero_share: Tensor
    """float64 [edges]; 1 for an event never seen."""
    mean: Tensor
    """float64 [edges]: of ln(minutes) of the positive gaps."""
    deviation: Tensor
    """float64 [edges]."""

    @classmethod
    def of(cls, edges: Edges) -> LogNormalGaps:
        """The distributions of all edges, on the CPU."""
        n_positive, mean, deviation = _logarithms(edges)
        with np.errstate(invalid="ignore"):
            zero_share = 1 - n_positive / edges.gap_count
        enough = (n_positive >= FEWEST_GAPS) | (edges.keys < edges.n_tokens)
        source = _longest_with(edges, enough)
        return cls(
            zero_share=torch.from_numpy(np.where(edges.gap_count > 0, zero_share, 1.0)),
            mean=torch.from_numpy(mean[source]),
            deviation=torch.from_numpy(deviation[source]),
        )

    def draw(self, edge: Tensor, u_time: Tensor) -> Tensor:
        """The `u_time` quantile: zeros first, then what is left of the number for the normal."""
        zero_share = self.zero_share[edge]
        left = ((u_time - zero_share) / (1 - zero_share)).clamp(2.0**-53, 1 - 2.0**-53)
        minutes = torch.exp(self.mean[edge] + self.deviation[edge] * torch.special.ndtri(left))
        return torch.where(u_time < zero_share, 0.0, minutes).to(torch.float32)

    def log_density(self, edge: Tensor, minutes: Tensor) -> Tensor:
        """The probability of the gap to the second, over a second."""
        zero_share, at = self.zero_share[edge], minutes.double()
        upper, lower = (
            self._share_below(edge, (at + side * SECOND / 2).clamp(min=0)) for side in (1, -1)
        )
        zeros = torch.where(at < SECOND / 2, zero_share, 0.0)
        return ((zeros + (1 - zero_share) * (upper - lower)) / SECOND).log()

    def _share_below(self, edge: Tensor, minutes: Tensor) -> Tensor:
        """Of the gaps above zero."""
        away = minutes.log() - self.mean[edge]
        share: Tensor = torch.special.ndtr(away / self.deviation[edge].clamp(min=1e-9))
        return share

    def to(self, device: torch.device | str) -> LogNormalGaps:
        """The same distributions on another device."""
        return moved(self, device)


def _logarithms(edges: Edges) -> tuple[NDArray[np.int64], Floats, Floats]:
    """Positive gaps of each edge, own or borrowed: number, mean and sd of their logarithms."""
    has_gaps = edges.gap_count > 0
    begins, pool_of_edge = np.unique(edges.gap_begin[has_gaps], return_inverse=True)
    sizes = np.diff(begins, append=len(edges.minutes))
    positive = edges.minutes > 0
    logs = np.log(edges.minutes, where=positive, out=np.zeros(len(positive)), dtype=np.float64)
    n = np.add.reduceat(positive, begins, dtype=np.int64)
    mean = np.add.reduceat(logs, begins) / np.maximum(n, 1)
    away = np.where(positive, logs - np.repeat(mean, sizes), 0.0)
    deviation = np.sqrt(np.add.reduceat(away**2, begins) / np.maximum(n, 1))
    of_edges = np.zeros(len(has_gaps), np.int64), np.zeros(len(has_gaps)), np.zeros(len(has_gaps))
    for of_edge, of_pool in zip(of_edges, (n, mean, deviation), strict=True):
        of_edge[has_gaps] = of_pool[pool_of_edge]
    return of_edges


def _longest_with(edges: Edges, enough: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Each edge itself where it has enough, else that of the longest shorter context that has."""
    source = np.arange(len(edges.keys))
    state, event = np.divmod(edges.keys, edges.n_tokens)
    for _ in range(int(edges.length[-1])):
        lacking = ~enough[source]
        state = np.where(lacking, edges.shorter[state], state)
        source = np.where(
            lacking, np.searchsorted(edges.keys, state * edges.n_tokens + event), source
        )
    return source
