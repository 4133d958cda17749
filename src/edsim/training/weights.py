"""Weights on their way: one step at a time, all that changes in tensors that stay where they are.

So the whole step can be captured as a CUDA graph, and saved and taken up again to the last bit.
"""

from __future__ import annotations

import copy
import math

import torch
from torch import Tensor, nn

from edsim.models.neural.model import NeuralModel
from edsim.training.batches import Chosen, sheet_at, supervised
from edsim.training.examples import Examples
from edsim.training.exposure import exposed
from edsim.training.losses import HEADS, summed_losses
from edsim.training.recipes import Recipe

SHORT = 10
"""Where training has few steps, the warm-up and the reach of the mean are a tenth of them."""


def rates(recipe: Recipe, n_steps: int) -> Tensor:
    """The learning rate of every step, float32 [steps]: warm-up, then as `decay` says."""
    step = torch.arange(n_steps, dtype=torch.float64)
    warmup = min(recipe.warmup_steps, n_steps // SHORT)
    warm = ((step + 1) / max(1, warmup)).clamp(max=1)
    if recipe.decay == "none":
        return (recipe.rate * warm).float()
    way = (step - warmup).clamp(min=0) / max(1, n_steps - warmup)
    falling = recipe.last_rate + (1 - recipe.last_rate) * (1 + torch.cos(math.pi * way)) / 2
    return (recipe.rate * warm * falling).float()


class Weights:
    """A model, the moments of its optimiser, the mean of its weights, and the sums of the losses.

    `step` takes events by number; nothing in it waits for the device.
    """

    def __init__(
        self, model: NeuralModel, examples: Examples, recipe: Recipe, n_steps: int
    ) -> None:
        self.model, self.examples, self.recipe = model, examples, recipe
        self.device = examples.tokens.device
        self.mean = copy.deepcopy(model) if recipe.ema else None
        zero = torch.zeros((), dtype=torch.int64, device=self.device)
        self.at = zero.clone()
        self.bad_step = zero.clone() - 1
        self.sums = torch.zeros(
            len(HEADS[model.design.heads]) + 1, dtype=torch.float64, device=self.device
        )
        self._towards = min(1.0, max(1 - recipe.ema, SHORT / n_steps))
        self._rates = rates(recipe, n_steps).to(self.device)
        self._rate = torch.tensor(recipe.rate, device=self.device)
        self._parameters: list[Tensor] = list(model.parameters())
        self.optimizer = self._new_optimizer()

    @property
    def validated(self) -> NeuralModel:
        """The model that is validated and kept."""
        return self.model if self.mean is None else self.mean

    def step(self, chosen: Chosen, *, replace_events: bool = False) -> None:
        """One step down the gradient of the mean loss a supervised position."""
        rate = self._rates.index_select(0, self.at.clamp(max=len(self._rates) - 1)[None])
        self._rate.copy_(rate[0])
        self.optimizer.zero_grad(set_to_none=True)
        lost, n_positions = self._losses(chosen, replace_events)
        loss = lost.sum() / n_positions.clamp(min=1)
        torch.autograd.backward(loss)
        nn.utils.clip_grad_norm_(self._parameters, self.recipe.clip, foreach=True)
        self.optimizer.step()
        with torch.no_grad():
            if self.mean is not None:
                means: list[Tensor] = list(self.mean.parameters())
                torch._foreach_lerp_(means, self._parameters, self._towards)
            self.sums += torch.cat([lost, n_positions[None]]).double()
            self.at += 1
            first = (self.bad_step < 0) & ~torch.isfinite(loss)
            self.bad_step.copy_(torch.where(first, self.at, self.bad_step))

    def tensors(self) -> dict[str, Tensor]:
        """Everything that a step changes, by name."""
        found = {"at": self.at, "bad_step": self.bad_step, "sums": self.sums}
        found |= {f"model/{name}": tensor for name, tensor in self.model.state_dict().items()}
        if self.mean is not None:
            found |= {f"mean/{name}": tensor for name, tensor in self.mean.state_dict().items()}
        for name, parameter in self.model.named_parameters():
            for kind, tensor in self.optimizer.state[parameter].items():
                found[f"{kind}/{name}"] = tensor
        return found

    def _losses(self, chosen: Chosen, replace_events: bool) -> tuple[Tensor, Tensor]:
        """Sum of each head's losses over the supervised positions, and how many there are."""
        sheet = sheet_at(self.examples, chosen.index)
        counted = supervised(sheet, self.recipe.supervision).flatten()
        if replace_events:
            sheet = exposed(self.model, sheet, chosen, self.recipe.replacement)
        return summed_losses(self.model, sheet, chosen, self.examples, counted)

    def _new_optimizer(self) -> torch.optim.AdamW:
        """Its moments are there from the beginning. Only matrices decay."""
        cuda = self.device.type == "cuda"
        optimizer = torch.optim.AdamW(
            [
                {
                    "params": [p for p in self._parameters if p.dim() > 1],
                    "weight_decay": self.recipe.weight_decay,
                },
                {"params": [p for p in self._parameters if p.dim() <= 1], "weight_decay": 0.0},
            ],
            lr=self._rate,
            fused=True,
            capturable=cuda,
        )
        for parameter in self._parameters:
            optimizer.state[parameter] = {
                "step": torch.zeros((), device=self.device),
                "exp_avg": torch.zeros_like(parameter),
                "exp_avg_sq": torch.zeros_like(parameter),
            }
        return optimizer
