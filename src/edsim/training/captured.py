"""A training step as a CUDA graph: the same kernels every time, started at once."""

from __future__ import annotations

import torch

from edsim.training.batches import Chosen
from edsim.training.weights import Weights

WARM_UP = 3
"""Steps before capturing, in which libraries choose their kernels."""


class Captured:
    """Replays one step on batches of one shape.

    Capturing runs the step a few times on the batch at hand; all that changed is put back after.
    """

    def __init__(self, weights: Weights, chosen: Chosen) -> None:
        self._index = chosen.index.clone()
        before = {name: tensor.clone() for name, tensor in weights.tensors().items()}
        aside = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        aside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(aside):
            for _ in range(WARM_UP):
                weights.step(Chosen(self._index))
        torch.cuda.current_stream().wait_stream(aside)
        self._graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self._graph):
            weights.step(Chosen(self._index))
        for name, tensor in weights.tensors().items():
            tensor.copy_(before[name])

    def step(self, chosen: Chosen) -> None:
        """The step on another batch of the same shape."""
        self._index.copy_(chosen.index)
        self._graph.replay()
