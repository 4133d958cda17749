"""What a network keeps between two events of a visit: the plain form, in which no state is touched.

`read` gives the network's vector at the end of each prefix and the memory there; `step` takes one
event more. A state may be used twice, joined and cut; the fast forms are tested against it.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from edsim.models.neural.networks import Recurrent, Transformer
from edsim.models.neural.sheets import NOBODY, Sheet


@dataclass(frozen=True, slots=True)
class Kept:
    """What each row has kept of its events, oldest first; what follows its `lengths` is padding."""

    entries: Tensor
    """[rows, room, numbers]: keys and values of all layers, or inputs."""
    lengths: Tensor
    """int64 [rows]."""

    def append(self, entries: Tensor) -> Kept:
        """One more entry [rows, numbers] a row."""
        longer = functional.pad(self.entries, (0, 0, 0, 1))
        rows = torch.arange(len(entries), device=entries.device)
        return Kept(longer.index_put((rows, self.lengths), entries), self.lengths + 1)

    def keep(self, rows: Tensor) -> Kept:
        """Some rows, in the order given."""
        return Kept(self.entries.index_select(0, rows), self.lengths.index_select(0, rows))


Memory = Kept | Tensor
"""`Tensor` for a recurrent network: [rows, layers, numbers]."""


def read(network: Transformer | Recurrent, x: Tensor, sheet: Sheet) -> tuple[Tensor, Memory]:
    """The vector after the last event of each visit, and the memory there.

    The sheet holds one visit a row, from its first column on; `x` are its events as inputs.
    """
    lengths = (sheet.visit != NOBODY).sum(dim=1)
    if isinstance(network, Recurrent):
        return _read_recurrent(network, x, lengths)
    if not network.causal:
        kept = Kept(x, lengths)
        return _mean_of(network, kept), kept
    layers: list[tuple[Tensor, Tensor]] = []
    output = network(x, sheet, layers)
    entries = torch.cat([part for pair in layers for part in pair], dim=-1)
    last = (lengths - 1)[:, None, None].expand(-1, 1, output.shape[2])
    return output.gather(1, last)[:, 0], Kept(entries, lengths)


def step(
    network: Transformer | Recurrent, x: Tensor, place: Tensor, memory: Memory
) -> tuple[Tensor, Memory]:
    """The vector after one event more, an input [rows, width] at `place`, and the memory there."""
    if isinstance(network, Recurrent):
        assert isinstance(memory, Tensor), "a recurrent network keeps a tensor"
        return network.step(x, memory)
    assert isinstance(memory, Kept), "a Transformer keeps entries"
    if not network.causal:
        memory = memory.append(x)
        return _mean_of(network, memory), memory
    return _attend_to_kept(network, network.placed(x, place), memory)


def _read_recurrent(network: Recurrent, x: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """Event by event: rows that have reached the end of their prefix wait."""
    memory = network.empty(len(x), x.device, x.dtype)
    output = torch.zeros(len(x), x.shape[2], device=x.device, dtype=x.dtype)
    for column in range(x.shape[1]):
        rows = (lengths > column).nonzero()[:, 0]
        after, remembered = network.step(x[rows, column], memory[rows])
        output, memory = output.index_copy(0, rows, after), memory.index_copy(0, rows, remembered)
    return output, memory


def _mean_of(network: Transformer, kept: Kept) -> Tensor:
    """A network that is not causal reads everything again."""
    sheet = _sheet_of_inputs(kept)
    output: Tensor = network(kept.entries, sheet)
    return output[:, 0]


def _sheet_of_inputs(kept: Kept) -> Sheet:
    """The lay-out alone: whose each place is."""
    n_rows, room = kept.entries.shape[:2]
    place = torch.arange(room, device=kept.lengths.device).expand(n_rows, room)
    rows = torch.arange(n_rows, dtype=torch.int32, device=place.device)[:, None]
    nothing = torch.zeros((n_rows, room), device=place.device)
    return Sheet(
        tokens=place,
        gaps=nothing,
        elapsed=nothing,
        place=place,
        visit=torch.where(place < kept.lengths[:, None], rows, NOBODY),
    )


def _attend_to_kept(network: Transformer, x: Tensor, kept: Kept) -> tuple[Tensor, Kept]:
    """One event through all layers; each looks at what its layer has kept, and at itself."""
    width = network.width
    seen = torch.arange(kept.entries.shape[1] + 1, device=x.device) <= kept.lengths[:, None]
    entries: list[Tensor] = []

    def attend(layer: int, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        entries.append(torch.cat([k, v], dim=-1))
        of_layer = kept.entries[:, :, 2 * width * layer : 2 * width * (layer + 1)]
        all_keys, all_values = (
            Kept(of_layer, kept.lengths).append(entries[-1]).entries.chunk(2, dim=-1)
        )
        return network.found_by(q[:, None], all_keys, all_values, seen[:, None, None])[:, 0]

    output = network.through(x, attend)
    return output, kept.append(torch.cat(entries, dim=-1))


def attend_apart(network: Transformer, x: Tensor, place: Tensor, kept: Kept) -> Tensor:
    """What each of several inputs [rows, alternatives, width] would give at one place.

    Each alternative looks at what was kept, and at itself, never at another.
    """
    rows, n, width = x.shape
    seen = torch.arange(kept.entries.shape[1], device=x.device) < kept.lengths[:, None]
    itself = torch.eye(n, dtype=torch.bool, device=x.device)
    mask = torch.cat([seen[:, None].expand(-1, n, -1), itself.expand(rows, -1, -1)], dim=2)

    def attend(layer: int, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        of_layer = kept.entries[:, :, 2 * width * layer : 2 * width * (layer + 1)]
        keys, values = of_layer.chunk(2, dim=-1)
        both = torch.cat([keys, k], dim=1), torch.cat([values, v], dim=1)
        return network.found_by(q, *both, mask[:, None])

    return network.through(network.placed(x, place[:, None].expand(-1, n)), attend)
