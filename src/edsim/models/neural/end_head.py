"""The pre-audit stopping rule of the paper: END is certain once the END head is sure enough.

No recipe decodes so. It is there for the audit table, which shows what such a stack did to scores.
"""

from __future__ import annotations

import torch
from torch import Tensor

from edsim.errors import BadInputError
from edsim.models.neural.heads import RegressionHeads
from edsim.models.neural.simulator import NeuralSimulator, NeuralState
from edsim.tables.visits import END

THRESHOLD = 0.35


class StopsByTheEndHead(NeuralSimulator):
    """The same simulator, but only END is proposed where the END head gives it more than .35."""

    def __init__(self, simulator: NeuralSimulator, threshold: float = THRESHOLD) -> None:
        heads = simulator.model.heads if isinstance(simulator, NeuralSimulator) else None
        if not isinstance(heads, RegressionHeads):
            raise BadInputError(
                "only the paper's regression heads have an END head of their own that could stop "
                "a rollout."
            )
        super().__init__(simulator.model, simulator.clock)
        self._end = heads.end
        self._threshold = threshold

    @torch.no_grad()
    def propose(self, state: NeuralState, u_time: Tensor) -> Tensor:
        """The event head's answer, or END alone."""
        proposed = super().propose(state, u_time)
        sure = self._end(state.output)[:, 0].sigmoid() > self._threshold
        other = torch.arange(proposed.shape[1], device=proposed.device) != END
        return proposed.masked_fill(sure[:, None] & other, -torch.inf)
