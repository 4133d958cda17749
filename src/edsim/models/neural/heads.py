"""What is read off a network's vector: the next event, its time, and what the paper adds."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

LEVELS = (0.01, 0.025, *(level / 100 for level in range(5, 100, 5)), 0.975, 0.99)
"""Quantile levels of the gap. The paper names none but the median."""
MEDIAN = LEVELS.index(0.5)


class RegressionHeads(nn.Module):
    """The paper's five: next event, gap quantiles, remaining stay, disposition, END.

    Times are log1p of minutes here and nowhere outside.
    """

    def __init__(self, width: int, n_tokens: int, n_dispositions: int) -> None:
        super().__init__()
        self.event = nn.Linear(width, n_tokens)
        self.gap = nn.Linear(width, len(LEVELS))
        self.remaining = nn.Linear(width, 1)
        self.disposition = nn.Linear(width, max(1, n_dispositions))
        self.end = nn.Linear(width, 1)

    def quantiles(self, output: Tensor) -> Tensor:
        """log1p minutes at each of LEVELS, ascending, [..., levels] float32."""
        raw = self.gap(output).float()
        steps = functional.softplus(raw[..., 1:])
        return torch.cat([raw[..., :1], steps], dim=-1).cumsum(dim=-1)


class JointHeads(nn.Module):
    """The next event, and then the class of its time given the event."""

    def __init__(self, width: int, n_tokens: int, n_classes: int) -> None:
        super().__init__()
        self.event = nn.Linear(width, n_tokens)
        self.of_event = nn.Embedding(n_tokens, width)
        self.mix = nn.Linear(width, 2 * width)
        self.classes = nn.Linear(2 * width, n_classes)

    def time(self, output: Tensor, tokens: Tensor) -> Tensor:
        """Unnormalised log-probabilities of the time classes, [..., classes]."""
        mixed: Tensor = self.classes(functional.gelu(self.mix(output + self.of_event(tokens))))
        return mixed


class BinHeads(nn.Module):
    """The decoder's: after an event the bin of the time to the next, after a bin the event."""

    def __init__(self, width: int, n_tokens: int, n_bins: int) -> None:
        super().__init__()
        self.event = nn.Linear(width, n_tokens)
        self.bins = nn.Linear(width, n_bins)
