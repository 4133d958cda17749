"""Training as it is usually written first: a batch of visits, padded to the longest of them.

The same model, losses and optimiser as `edsim.training`; what differs is the lay-out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from edsim.models.neural.sheets import NOBODY, sheet_of
from edsim.tables.visits import Visits
from edsim.training.batches import Chosen
from edsim.training.losses import head_losses, vectors

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

    from edsim.models.neural.model import NeuralModel
    from edsim.training.examples import Examples
    from edsim.training.recipes import Recipe


class PlainTraining:
    """A padded loop over every position."""

    def __init__(
        self, model: NeuralModel, visits: Visits, examples: Examples, recipe: Recipe
    ) -> None:
        import torch

        self.model, self.recipe, self._examples = model, recipe, examples
        self._lengths = visits.n_events()
        self._begins = np.cumsum(self._lengths) - self._lengths
        self._optimizer = torch.optim.AdamW(
            model.parameters(), lr=recipe.rate, weight_decay=recipe.weight_decay
        )

    def loss(self, stays: NDArray[np.int64]) -> tuple[Tensor, int]:
        """Mean loss of some stays, and how many positions that is."""
        lengths = self._lengths[stays]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        place = np.arange(offsets[-1]) - np.repeat(offsets[:-1], lengths)
        number = np.repeat(self._begins[stays], lengths) + place
        flat = self._examples
        sheet = sheet_of(flat.tokens.numpy()[number], flat.gaps.numpy()[number], offsets)
        index = sheet_of(number, np.zeros(len(number)), offsets).tokens
        counted = (sheet.visit != NOBODY).flatten()
        read = vectors(self.model, sheet, Chosen(index), flat.next_gaps[index])
        lost = head_losses(self.model, read, flat, index.flatten()).sum(dim=0)
        return (lost * counted).sum() / counted.sum(), int(counted.sum())

    def step(self, stays: NDArray[np.int64]) -> int:
        """One step down the gradient; how many positions it was about."""
        from torch.autograd import backward
        from torch.nn.utils import clip_grad_norm_

        self._optimizer.zero_grad()
        loss, n = self.loss(stays)
        backward(loss)
        clip_grad_norm_(self.model.parameters(), self.recipe.clip)
        self._optimizer.step()
        return n
