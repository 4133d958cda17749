"""A whole neural model: what it reads, its network, its heads, and what was fitted beside them."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
import torch
from torch import Tensor, nn

from edsim.errors import BadInputError
from edsim.models.neural.clocks import (
    BinsClock,
    Clock,
    LatticeClock,
    MedianClock,
    SampledClock,
    clock_name,
)
from edsim.models.neural.design import Design
from edsim.models.neural.heads import LEVELS, BinHeads, JointHeads, RegressionHeads
from edsim.models.neural.networks import EventInput, TokenInput, network_of
from edsim.models.neural.sheets import Sheet, with_room_between
from edsim.models.neural.time_bins import TimeBins, fit_time_bins
from edsim.models.neural.time_classes import TimeClasses, fit_time_classes
from edsim.tables.visits import Visits

FITTED: dict[str, type[TimeClasses] | type[TimeBins]] = {
    "joint": TimeClasses,
    "time_bins": TimeBins,
}
"""What is fitted on the training gaps, by kind of heads; the others have nothing of the sort."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """What of the training data decides the shape of weights. JSON values only."""

    n_tokens: int
    discharges: tuple[int, ...]
    longest: int
    """Events of the longest training visit, END not counted."""
    longest_gap: float
    """Minutes."""

    @classmethod
    def of(cls, training: Visits, n_tokens: int, discharges: tuple[int, ...]) -> Sizes:
        """Read off the training visits."""
        return cls(
            n_tokens=n_tokens,
            discharges=tuple(int(token) for token in discharges),
            longest=int(training.n_events().max(initial=1)),
            longest_gap=float(np.max(training.minutes, initial=0.0)),
        )


class NeuralModel(nn.Module):
    """Reads events and answers vectors (`network`), of which the heads read everything else.

    `times` is what was fitted on the training gaps, of the kind that `FITTED` names for the heads;
    its tensors are buffers `times_*` of the module.
    """

    def __init__(
        self, design: Design, sizes: Sizes, times: TimeClasses | TimeBins | None = None
    ) -> None:
        super().__init__()
        self.design, self.sizes = design, sizes
        kind = FITTED.get(design.heads)
        if (None if times is None else type(times)) is not kind:
            raise BadInputError(
                f"heads '{design.heads}' go with "
                f"{'nothing' if kind is None else kind.__name__} fitted on the training gaps."
            )
        for name, tensor in _tensors(times).items():
            self.register_buffer(f"times_{name}", tensor)
        width, n_tokens = design.width, sizes.n_tokens
        self.network = network_of(design, sizes.longest)
        self.events: EventInput | TokenInput
        self.heads: RegressionHeads | JointHeads | BinHeads
        if isinstance(times, TimeBins):
            self.events = TokenInput(width, n_tokens)
            self.bins = nn.Embedding(times.n_bins, width)
            self.heads = BinHeads(width, n_tokens, times.n_bins)
        elif isinstance(times, TimeClasses):
            self.events = EventInput(width, n_tokens, times.tick)
            self.heads = JointHeads(width, n_tokens, times.n_classes)
        else:
            self.events = EventInput(width, n_tokens, None)
            self.heads = RegressionHeads(width, n_tokens, len(sizes.discharges))

    @classmethod
    def untrained(
        cls, design: Design, training: Visits, n_tokens: int, discharges: tuple[int, ...]
    ) -> NeuralModel:
        """Fresh weights (from torch's generator) and what is fitted on the training visits."""
        times: TimeClasses | TimeBins | None = None
        if design.heads == "joint":
            times = fit_time_classes(training, n_tokens)
        elif design.heads == "time_bins":
            times = fit_time_bins(training, design.n_bins)
        return cls(design, Sizes.of(training, n_tokens, discharges), times)

    def forward(self, sheet: Sheet) -> Tensor:
        """A vector for every event of the sheet, [rows, length, width]. Not for the decoder."""
        inputs = self.events(sheet.tokens, sheet.gaps, sheet.elapsed)
        output: Tensor = self.network(inputs, sheet)
        return output

    def answers(self, sheet: Sheet, next_minutes: Tensor) -> tuple[Tensor, Tensor]:
        """What time and what event come next are read off these vectors, [rows, length, width].

        `next_minutes` are the gaps that follow each event of the sheet, END's included, [rows,
        length]. The decoder reads them: the first vector is the one after the event (for
        `heads.bins`), the second the one after the bin of the next gap too (for `heads.event`). All
        others do not, and both vectors are the same.
        """
        if not isinstance(self.heads, BinHeads):
            output = self.forward(sheet)
            return output, output
        output = self.network(self.interleaved(sheet, next_minutes), with_room_between(sheet))
        return output[:, ::2], output[:, 1::2]

    def interleaved(self, sheet: Sheet, next_minutes: Tensor) -> Tensor:
        """The decoder's inputs, [rows, 2 * length, width]: each event, then the time after it."""
        events = self.events(sheet.tokens, sheet.gaps, sheet.elapsed)
        bins = self.bins(self.time_bins.bin_of(next_minutes))
        return torch.stack([events, bins], dim=2).flatten(1, 2)

    @property
    def time_classes(self) -> TimeClasses:
        """The time classes of joint heads, on the model's device."""
        return TimeClasses(
            **{field.name: getattr(self, f"times_{field.name}") for field in fields(TimeClasses)}
        )

    @property
    def time_bins(self) -> TimeBins:
        """The decoder's time bins, on the model's device."""
        return TimeBins(
            **{field.name: getattr(self, f"times_{field.name}") for field in fields(TimeBins)}
        )

    def clock(self, name: str | None = None) -> Clock:
        """A clock that the heads support; their own default where none is named."""
        name = clock_name(self.design.heads, name)
        if isinstance(self.heads, JointHeads):
            return LatticeClock(self.heads, self.time_classes)
        if isinstance(self.heads, BinHeads):
            return BinsClock(self.heads, self.time_bins)
        if name == "median":
            return MedianClock(self.heads)
        device = self.heads.gap.weight.device
        longest_gap, levels = (
            torch.tensor(numbers, dtype=torch.float32, device=device)
            for numbers in (self.sizes.longest_gap, LEVELS)
        )
        return SampledClock(self.heads, longest_gap, levels)


def _tensors(times: TimeClasses | TimeBins | None) -> dict[str, Tensor]:
    if times is None:
        return {}
    return {field.name: getattr(times, field.name) for field in fields(times)}
