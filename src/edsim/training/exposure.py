"""Scheduled sampling: some events of a batch are replaced by what the model itself would say.

Both passes read whole visits: the first, on what was observed, says what stands at each place, and
the second learns from visits of which a share has been replaced (Mihaylova and Martins, 2019). The
targets stay what was observed. END is never drawn: the visit goes on.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from edsim.models.neural.drawing import draw_class
from edsim.models.neural.model import NeuralModel
from edsim.models.neural.networks import Transformer
from edsim.models.neural.sheets import NOBODY, Sheet
from edsim.tables.visits import END
from edsim.training.batches import Chosen
from edsim.training.losses import vectors
from edsim.training.packing import pack


@torch.no_grad()
def exposed(model: NeuralModel, sheet: Sheet, chosen: Chosen, share: float) -> Sheet:
    """The sheet with a share of its events, and the gaps before them, drawn from the model."""
    may = (sheet.place > 0) & (sheet.visit != NOBODY)
    replaced = may & (torch.rand(may.shape, device=may.device) < share)
    where = replaced.flatten().nonzero()[:, 0]
    was_training = model.training
    model.eval()
    before = _vectors_before(model, sheet, chosen, where)
    model.train(was_training)
    tokens, minutes = _drawn(model, before, sheet.elapsed.flatten()[where - 1])
    gaps = sheet.gaps.flatten().index_copy(0, where, minutes).view_as(sheet.gaps)
    return Sheet(
        tokens=sheet.tokens.flatten().index_copy(0, where, tokens).view_as(sheet.tokens),
        gaps=gaps,
        elapsed=elapsed_of(gaps, sheet.place),
        place=sheet.place,
        visit=sheet.visit,
    )


def elapsed_of(gaps: Tensor, place: Tensor) -> Tensor:
    """float64: minutes since each visit's first event, whose own gap is not counted."""
    sums = gaps.flatten().double().cumsum(0)
    firsts = torch.arange(len(sums), device=sums.device) - place.flatten()
    return (sums - sums[firsts]).view_as(gaps)


def _vectors_before(model: NeuralModel, sheet: Sheet, chosen: Chosen, where: Tensor) -> Tensor:
    """What the network says after the event before each of some places."""
    network = model.network
    if isinstance(network, Transformer) and not network.causal:
        return _after_contexts(model, sheet, where)
    return vectors(model, sheet, chosen, sheet.gaps)[0][where - 1]


def _after_contexts(model: NeuralModel, sheet: Sheet, where: Tensor) -> Tensor:
    """A network that is not causal reads what comes before each place by itself."""
    lengths = sheet.place.flatten()[where].cpu().numpy()
    room = max(sheet.place.shape[1], int(lengths.max(initial=1)))
    packed = pack(lengths, room, np.arange(len(lengths)))
    n_places = max(1, packed.n_rows) * room
    firsts = packed.rows * room + packed.columns
    place = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    source = np.full(n_places, -1, dtype=np.int64)
    begins = where.cpu().numpy() - lengths
    source[np.repeat(firsts, lengths) + place] = np.repeat(begins, lengths) + place
    index = torch.from_numpy(source).to(where.device)
    visit = torch.arange(n_places, device=where.device) - sheet.place.flatten()[index]
    contexts = Sheet(
        tokens=sheet.tokens.flatten()[index].view(-1, room),
        gaps=sheet.gaps.flatten()[index].view(-1, room),
        elapsed=sheet.elapsed.flatten()[index].view(-1, room),
        place=sheet.place.flatten()[index].view(-1, room),
        visit=torch.where(index < 0, NOBODY, visit).int().view(-1, room),
    )
    read: Tensor = model(contexts)
    return read.flatten(0, 1)[torch.from_numpy(firsts).to(where.device)]


def _drawn(model: NeuralModel, before: Tensor, elapsed: Tensor) -> tuple[Tensor, Tensor]:
    """An event that is not END, and its gap by the model's own clock."""
    logits = model.heads.event(before).float()
    logits[:, END] = -torch.inf
    chance = torch.rand(2, len(before), dtype=torch.float64, device=before.device)
    tokens, _ = draw_class(logits, chance[0])
    return tokens, model.clock().minutes(before.float(), tokens, elapsed, chance[1])
