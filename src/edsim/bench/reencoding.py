"""A neural simulator written plainly: the whole history is read again for every event.

Nobody uses it to work with. `edsim bench rollout --neural` times it beside the seats, with the same
weights, and a test holds the two to the same rollouts.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from edsim.models.neural.clocks import Clock
from edsim.models.neural.model import NeuralModel
from edsim.models.neural.precision import faster
from edsim.models.neural.sheets import NOBODY, Sheet, sheet_of
from edsim.tables.visits import Prefixes


@dataclass(frozen=True, slots=True)
class Whole:
    """Everything that has happened in each row, and what the network makes of it."""

    tokens: Tensor
    gaps: Tensor
    elapsed: Tensor
    """All [rows, length]."""
    lengths: Tensor
    output: Tensor


class Reencoding:
    """The four calls; not for the decoder."""

    def __init__(self, model: NeuralModel, clock: str | None = None) -> None:
        self._model = model.eval()
        self._clock: Clock = model.clock(clock)
        self.device = model.heads.event.weight.device

    def start(self, prefixes: Prefixes) -> Whole:
        sheet = sheet_of(prefixes.tokens, prefixes.minutes, prefixes.offsets).to(self.device)
        lengths = torch.from_numpy(prefixes.lengths()).to(self.device)
        return self._read(sheet.tokens, sheet.gaps, sheet.elapsed, lengths)

    def propose(self, state: Whole, u_time: Tensor) -> Tensor:
        proposed: Tensor = self._model.heads.event(state.output)
        return proposed.float()

    def commit(self, state: Whole, tokens: Tensor, u_time: Tensor) -> tuple[Whole, Tensor]:
        last = (state.lengths - 1)[:, None]
        elapsed = state.elapsed.gather(1, last)[:, 0]
        minutes = self._clock.minutes(state.output, tokens, elapsed, u_time)
        place = state.lengths[:, None]

        def longer(values: Tensor, new: Tensor) -> Tensor:
            full = int(place.max()) == values.shape[1]
            values = functional.pad(values, (0, 1)) if full else values
            return values.scatter(1, place, new.to(values.dtype)[:, None])

        return self._read(
            longer(state.tokens, tokens),
            longer(state.gaps, minutes),
            longer(state.elapsed, elapsed + minutes),
            state.lengths + 1,
        ), minutes

    def keep(self, state: Whole, rows: Tensor) -> Whole:
        most = int(state.lengths[rows].max())
        tokens, gaps, elapsed = (
            values[rows, :most] for values in (state.tokens, state.gaps, state.elapsed)
        )
        return Whole(tokens, gaps, elapsed, state.lengths[rows], state.output[rows])

    @torch.no_grad()
    def _read(self, tokens: Tensor, gaps: Tensor, elapsed: Tensor, lengths: Tensor) -> Whole:
        place = torch.arange(tokens.shape[1], device=tokens.device).expand(tokens.shape)
        rows = torch.arange(len(tokens), dtype=torch.int32, device=tokens.device)[:, None]
        visit = torch.where(place < lengths[:, None], rows, NOBODY)
        with faster(self.device):
            output = self._model(Sheet(tokens, gaps, elapsed, place, visit)).float()
        last = (lengths - 1)[:, None, None].expand(-1, 1, output.shape[2])
        return Whole(tokens, gaps, elapsed, lengths, output.gather(1, last)[:, 0])
