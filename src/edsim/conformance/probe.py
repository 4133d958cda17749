"""A simulator with known answers, rolled out beside the producer to look at the loop itself.

A producer may propose so narrowly that a broken loop does not show. The probe gives every event a
chance, ends late and lets much time pass: a private stop or a hidden rule cannot stay unseen.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from edsim.tables.visits import END, Prefixes

END_CHANCE = 0.03
MEAN_GAP = 60.0


@dataclass(frozen=True, slots=True)
class Probe:
    """Proposes by the last event; gaps are exponential, an hour in the mean."""

    n_tokens: int

    def start(self, prefixes: Prefixes) -> Tensor:
        return torch.from_numpy(prefixes.tokens[prefixes.offsets[1:] - 1].astype("int64"))

    def propose(self, state: Tensor, u_time: Tensor) -> Tensor:
        """Uneven and the more likely the nearer to the last event, itself first."""
        distance = (torch.arange(self.n_tokens) - state[:, None]) % self.n_tokens
        weights = 0.8 ** distance.to(torch.float64)
        weights[:, END] = 0
        weights = weights / weights.sum(dim=1, keepdim=True) * (1 - END_CHANCE)
        weights[:, END] = END_CHANCE
        return weights.log()

    def commit(self, state: Tensor, tokens: Tensor, u_time: Tensor) -> tuple[Tensor, Tensor]:
        return tokens, (-MEAN_GAP * torch.log1p(-u_time)).to(torch.float32)

    def keep(self, state: Tensor, rows: Tensor) -> Tensor:
        return state[rows]
