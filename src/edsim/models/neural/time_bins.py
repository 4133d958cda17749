"""Time bins of the decoder: quantiles of the training gaps, with zero a bin of its own.

A gap becomes the number of its bin, and that number is a token of the sequence. A drawn bin becomes
a gap again: one of the training gaps of the bin, each as likely as it was there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from edsim.models.gap_units import BITS, find_unit
from edsim.models.moving import moved
from edsim.models.neural.drawing import draw_class, place_in
from edsim.tables.visits import Visits

ZERO = 0
"""The bin of gaps that are exactly zero."""
VALUES = 256
"""Gaps that stand for those of one bin: evenly spaced in their order."""


@dataclass(frozen=True, slots=True)
class TimeBins:
    """All on one device; buffers of a model, kept in its file."""

    edges: Tensor
    """float32 [bins]: minutes, ascending. Bin j holds what is above edge j - 1 and up to edge j;
    edge 0 is 0, and the last bin has no end."""
    values: Tensor
    """float32 [bins, VALUES]: gaps of training, ascending in each bin."""
    widths: Tensor
    """float32 [bins]: minutes that the bin's training gaps spread over, at least one unit of the
    record."""

    @property
    def n_bins(self) -> int:
        return len(self.edges)

    def to(self, device: torch.device | str) -> TimeBins:
        """The same bins on another device."""
        return moved(self, device)

    def bin_of(self, gaps: Tensor) -> Tensor:
        """int64: the bin of each gap."""
        found = torch.searchsorted(self.edges, gaps.to(torch.float32).contiguous())
        return found.clamp(max=self.n_bins - 1)

    def draw(self, logits: Tensor, u_time: Tensor) -> tuple[Tensor, Tensor]:
        """The bin of each row, int64, and its gap in minutes, both from one uniform number."""
        bins, left = draw_class(logits, u_time)
        place, _ = place_in(self.values.shape[1], left)
        return bins, self.values[bins, place]

    def log_density(self, logits: Tensor, gaps: Tensor) -> Tensor:
        """Log-density of a gap per minute: its bin's share, spread evenly over the bin's width."""
        bins = self.bin_of(gaps)
        shares = logits.log_softmax(dim=1, dtype=torch.float64).gather(1, bins[:, None])[:, 0]
        return shares - self.widths[bins].double().log()


def fit_time_bins(training: Visits, n_bins: int) -> TimeBins:
    """At most `n_bins` bins; fewer where many gaps are equal, one where all gaps are zero.

    A visit's first event has no gap before it, and its zero is not counted.
    """
    gaps = np.asarray(training.minutes, dtype=np.float32)
    first = np.zeros(len(gaps), dtype=bool)
    first[training.offsets[:-1]] = True
    positive = np.sort(gaps[~first & (gaps > 0)])
    unit = find_unit(gaps)
    one_unit = 1.0 / (60_000 if unit == BITS else unit)
    edges = np.zeros(1, dtype=np.float32)
    if len(positive) and n_bins > 1:
        ranks = np.ceil(np.arange(1, n_bins) * len(positive) / (n_bins - 1)).astype(np.int64) - 1
        edges = np.concatenate([edges, np.unique(positive[np.maximum(ranks, 0)])])
    begins = np.searchsorted(positive, edges[:-1], side="right")
    ends = np.searchsorted(positive, edges[1:], side="right")
    held = [np.zeros(1, np.float32), *(positive[b:e] for b, e in zip(begins, ends, strict=True))]
    return TimeBins(
        edges=torch.from_numpy(edges),
        values=torch.from_numpy(np.stack([_spaced(some) for some in held])),
        widths=torch.tensor([float(some[-1] - some[0]) + one_unit for some in held]),
    )


def _spaced(ascending: NDArray[np.float32]) -> NDArray[np.float32]:
    """VALUES of them, each standing for an equal share."""
    middle = (np.arange(VALUES) + 0.5) / VALUES
    return ascending[(middle * len(ascending)).astype(np.int64)]
