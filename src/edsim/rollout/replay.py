"""A step of fixed shape that a graphics card replays as one graph, without asking the processor."""

from __future__ import annotations

from collections.abc import Callable

import torch

WARM_UP = 2
"""Steps that are run one by one first, which compiles what has to be; they count like any other."""


class Replayed:
    """Calls `step`; on a graphics card, where that is worth it, as a graph from the third call on.

    The step changes tensors in place and depends on no content; where one of its tensors is
    replaced, a new `Replayed` is needed.
    """

    def __init__(
        self, step: Callable[[], None], device: torch.device, *, worth_it: bool = True
    ) -> None:
        self._step = step
        self._graph: torch.cuda.CUDAGraph | None = None
        self._one_by_one = WARM_UP
        self._captures = worth_it and device.type == "cuda"

    def __call__(self) -> None:
        if not self._captures or self._one_by_one > 0:
            self._one_by_one -= 1
            self._step()
            return
        if self._graph is None:
            self._graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self._graph):
                self._step()
        self._graph.replay()
