"""The validation loss: by head, over the same positions after every epoch."""

from __future__ import annotations

import torch
from torch import Tensor

from edsim.models.neural.model import NeuralModel
from edsim.training.batches import VALIDATION, Batches, sheet_at, supervised
from edsim.training.examples import Examples
from edsim.training.losses import HEADS, summed_losses


class Validation:
    """Validation visits, laid out once."""

    def __init__(self, batches: Batches, examples: Examples) -> None:
        self._examples, self._supervision = examples, batches.supervision
        self._steps = batches.epoch(VALIDATION).on(examples.tokens.device)

    @torch.no_grad()
    def losses(self, model: NeuralModel) -> dict[str, float]:
        """Means a supervised position, by head, and their sum as `all`."""
        was_training = model.training
        model.eval()
        names = HEADS[model.design.heads]
        device = self._examples.tokens.device
        sums = torch.zeros(len(names) + 1, dtype=torch.float64, device=device)
        for chosen in self._steps:
            sheet = sheet_at(self._examples, chosen.index)
            counted = supervised(sheet, self._supervision).flatten()
            lost, n = summed_losses(model, sheet, chosen, self._examples, counted)
            sums += torch.cat([lost, n[None]]).double()
        model.train(was_training)
        return means(names, sums)


def means(names: tuple[str, ...], sums: Tensor) -> dict[str, float]:
    """Sums of the losses and number of positions as means, and their sum as `all`."""
    *lost, n = sums.tolist()
    found = {name: one / max(n, 1.0) for name, one in zip(names, lost, strict=True)}
    return {**found, "all": sum(found.values())}
