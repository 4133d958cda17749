"""What each head is asked for, in nats or log1p minutes a position; the loss is their sum.

See `docs/decisions/96-what-the-paper-leaves-open.md` for what the paper does not say.
"""

from __future__ import annotations

import functools

import torch
from torch import Tensor
from torch.nn import functional
from torch.nn.utils.rnn import PackedSequence

from edsim.models.neural.heads import LEVELS, BinHeads, JointHeads, RegressionHeads
from edsim.models.neural.model import NeuralModel
from edsim.models.neural.networks import Recurrent
from edsim.models.neural.sheets import Sheet
from edsim.tables.visits import END
from edsim.training.batches import Chosen
from edsim.training.examples import NO_DISPOSITION, Examples

HEADS: dict[str, tuple[str, ...]] = {
    "regression": ("event", "gap", "remaining", "disposition", "end"),
    "joint": ("event", "time"),
    "time_bins": ("event", "bin"),
}
"""The parts of the loss, by kind of heads."""


def vectors(model: NeuralModel, sheet: Sheet, chosen: Chosen, next_gaps: Tensor) -> list[Tensor]:
    """What the heads of time and of event read at each place, both [places, width]."""
    network = model.network
    if not isinstance(network, Recurrent):
        return [found.flatten(0, 1) for found in model.answers(sheet, next_gaps)]
    assert chosen.in_time is not None and chosen.n_at is not None, "planned for another network"
    inputs = model.events(sheet.tokens, sheet.gaps, sheet.elapsed)[0]
    packed = PackedSequence(inputs[chosen.in_time], chosen.n_at)
    in_time = network.cells(packed)[0].data
    output = torch.empty_like(in_time).index_copy(0, chosen.in_time, in_time)
    return [output, output]


def summed_losses(
    model: NeuralModel, sheet: Sheet, chosen: Chosen, examples: Examples, counted: Tensor
) -> tuple[Tensor, Tensor]:
    """Sum of each head's losses over the places that are `counted`, and how many these are.

    On CUDA nothing is left out before the sum: a shape that depends on the data would have to be
    waited for.
    """
    cuda = counted.device.type == "cuda"
    at = chosen.index.flatten()
    with torch.autocast(counted.device.type, torch.bfloat16, enabled=cuda, cache_enabled=False):
        read = vectors(model, sheet, chosen, examples.next_gaps[chosen.index])
        if not cuda:
            places = counted.nonzero()[:, 0]
            at, counted = at[places], counted[places]
            read = [one.index_select(0, places) for one in read]
        each = head_losses(model, read, examples, at)
    return torch.where(counted, each, 0.0).sum(dim=1), counted.sum()


def head_losses(model: NeuralModel, read: list[Tensor], examples: Examples, at: Tensor) -> Tensor:
    """[heads, places] in float32, in the order of HEADS. `at` are the places' event numbers."""
    of_time, of_event = read
    heads = model.heads
    next_tokens = examples.next_tokens[at]
    event = _cross_entropy(heads.event(of_event), next_tokens)
    if isinstance(heads, JointHeads):
        return torch.stack(
            [event, _cross_entropy(heads.time(of_time, next_tokens), examples.next_kinds[at])]
        )
    if isinstance(heads, BinHeads):
        return torch.stack([event, _cross_entropy(heads.bins(of_time), examples.next_kinds[at])])
    return torch.stack([event, *_regression(heads, of_time, examples, at)])


def _regression(
    heads: RegressionHeads, output: Tensor, examples: Examples, at: Tensor
) -> list[Tensor]:
    left = heads.remaining(output)[:, 0].float() - torch.log1p(examples.remaining[at])
    disposition = examples.dispositions[at]
    said = _cross_entropy(heads.disposition(output), disposition.clamp(min=0))
    ends = (examples.next_tokens[at] == END).float()
    return [
        pinball(heads.quantiles(output), torch.log1p(examples.next_gaps[at])),
        left.abs(),
        torch.where(disposition == NO_DISPOSITION, 0.0, said),
        functional.binary_cross_entropy_with_logits(
            heads.end(output)[:, 0].float(), ends, reduction="none"
        ),
    ]


def pinball(quantiles: Tensor, truth: Tensor) -> Tensor:
    """Mean over LEVELS of the pinball loss; smallest in mean at the quantiles of the truth."""
    levels = _levels(quantiles.device)
    over = truth[:, None] - quantiles
    return torch.maximum(levels * over, (levels - 1) * over).mean(dim=1)


@functools.cache
def _levels(device: torch.device) -> Tensor:
    """Kept, for a CUDA graph can be captured of nothing that copies from the host."""
    return torch.tensor(LEVELS, device=device)


def _cross_entropy(logits: Tensor, truth: Tensor) -> Tensor:
    return functional.cross_entropy(logits.float(), truth, reduction="none")
