"""Rows of a trained network in seats: nothing is copied from step to step, nothing read twice.

The plain form is `simulator`, with `memory`; this one is held to it within rounding.
"""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor

from edsim.models.neural.clocks import BinsClock, Clock
from edsim.models.neural.model import NeuralModel
from edsim.models.neural.networks import Recurrent, Transformer
from edsim.models.neural.precision import faster, kept_type
from edsim.models.neural.reading import Reading, columns_of

ROOM = 64
"""Columns a seat has at first; doubled when they do not suffice."""


class MemoryInPlace(Protocol):
    """What a network keeps of each seat's columns."""

    def sit(self, seats: Tensor, reading: Reading, first: Tensor, n_columns: Tensor) -> None:
        """Take over what a reading has of columns `first` to `first + n_columns`."""

    def step(self, x: Tensor, place: Tensor) -> Tensor:
        """The network's vector after one column more, which is kept where `place` says."""

    def make_room(self, n_columns: int) -> bool:
        """Room for so many columns in all; True where tensors were replaced for it."""

    def keep(self, seats: Tensor) -> MemoryInPlace:
        """Some seats alone."""


class NeuralSeats:
    """A trained network's rows, each with its output, its clock and its memory."""

    def __init__(self, model: NeuralModel, clock: Clock, n: int) -> None:
        device = model.heads.event.weight.device
        self._model, self._clock = model, clock
        self._columns = columns_of(model.design)
        self._output = torch.zeros(n, model.design.width, device=device)
        self._drawn_minutes: Tensor | None = None
        self._elapsed = torch.zeros(n, dtype=torch.float64, device=device)
        self._place = torch.ones(n, dtype=torch.int64, device=device)
        network = model.network
        self._memory: MemoryInPlace
        if isinstance(network, Recurrent):
            self._memory = Remembered(network, network.empty(n, device, torch.float32))
        else:
            self._memory = Attended(network, n, device)

    def sit(self, seats: Tensor, reading: object, stays: Tensor, lengths: Tensor) -> bool:
        """See `Seats`."""
        assert isinstance(reading, Reading), "a reading of the same model"
        first = reading.begin[stays]
        n_columns = (lengths - 1) * reading.columns + 1
        last = first + n_columns - 1
        self._output[seats] = reading.output[last]
        self._elapsed[seats] = reading.elapsed[last]
        self._place[seats] = lengths
        replaced = self._memory.make_room(int(n_columns.max()))
        self._memory.sit(seats, reading, first, n_columns)
        return replaced

    def propose(self, u_time: Tensor) -> Tensor:
        """See `Seats`."""
        output = self._output
        if isinstance(self._clock, BinsClock):
            drawn, self._drawn_minutes = self._clock.draw(output, u_time)
            output = self._step(self._model.bins(drawn), 2 * self._place - 1)
        proposed: Tensor = self._model.heads.event(output)
        return proposed.float()

    def commit(self, tokens: Tensor, u_time: Tensor, running: Tensor) -> Tensor:
        """See `Seats`."""
        minutes = self._drawn_minutes  # by `propose`, where the time comes before the event
        if minutes is None:
            minutes = self._clock.minutes(self._output, tokens, self._elapsed, u_time)
        self._elapsed.add_(minutes)
        inputs = self._model.events(tokens, minutes, self._elapsed)
        self._output.copy_(self._step(inputs, self._columns * self._place))
        self._place.add_(running)  # a seat that waits to be taken stays where it is
        return minutes

    def make_room(self, n_events: int) -> bool:
        """See `Seats`."""
        return self._memory.make_room((int(self._place.max()) + n_events) * self._columns)

    def keep(self, seats: Tensor) -> NeuralSeats:
        """See `Seats`."""
        some = NeuralSeats(self._model, self._clock, 0)
        some._output, some._elapsed = self._output[seats], self._elapsed[seats]
        some._place, some._memory = self._place[seats], self._memory.keep(seats)
        return some

    def _step(self, x: Tensor, place: Tensor) -> Tensor:
        with faster(x.device):
            return self._memory.step(x, place).float()


class Remembered:
    """A recurrent network's memory, [seats, layers, numbers]."""

    def __init__(self, network: Recurrent, memory: Tensor) -> None:
        self._network, self._memory = network, memory

    def sit(self, seats: Tensor, reading: Reading, first: Tensor, n_columns: Tensor) -> None:
        self._memory[seats] = reading.kept[0][first + n_columns - 1]

    def step(self, x: Tensor, place: Tensor) -> Tensor:
        output, memory = self._network.step(x, self._memory)
        self._memory.copy_(memory)
        return output

    def make_room(self, n_columns: int) -> bool:
        return False

    def keep(self, seats: Tensor) -> Remembered:
        return Remembered(self._network, self._memory[seats])


class Attended:
    """Keys and values of each layer, [seats, room, width]; a seat has used `place` of its room."""

    def __init__(self, network: Transformer, n: int, device: torch.device) -> None:
        self._network, self._n_layers = network, len(network.blocks)
        self._attend = _attention_of(network, device)
        shape = (n, ROOM, network.width)
        self._kept = [
            [torch.zeros(shape, dtype=kept_type(device), device=device) for _ in range(2)]
            for _ in range(self._n_layers)
        ]

    @property
    def _room(self) -> int:
        return self._kept[0][0].shape[1]

    def sit(self, seats: Tensor, reading: Reading, first: Tensor, n_columns: Tensor) -> None:
        columns = torch.arange(int(n_columns.max()), device=seats.device)
        n_read = reading.kept[0].shape[1]
        where = (first[:, None] + columns).clamp_(max=n_read - 1)  # past its own, anything will do
        for layer, pair in enumerate(self._kept):
            for kept, read in zip(pair, reading.kept, strict=True):
                kept[seats[:, None], columns] = read[layer][where].to(kept.dtype)

    def step(self, x: Tensor, place: Tensor) -> Tensor:
        def attend(layer: int, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
            keys, values = self._kept[layer]
            return self._attend(q, k, v, keys, values, place)

        return self._network.through(self._network.placed(x, place), attend)

    def make_room(self, n_columns: int) -> bool:
        if n_columns <= self._room:
            return False
        more = max(n_columns, 2 * self._room) - self._room
        for pair in self._kept:
            for i, kept in enumerate(pair):
                pair[i] = torch.cat([kept, kept.new_zeros(len(kept), more, kept.shape[2])], dim=1)
        return True

    def keep(self, seats: Tensor) -> Attended:
        some = Attended(self._network, 0, seats.device)
        some._kept = [[kept[seats] for kept in pair] for pair in self._kept]
        return some


class _Attention(Protocol):
    def __call__(
        self, q: Tensor, k: Tensor, v: Tensor, keys: Tensor, values: Tensor, place: Tensor
    ) -> Tensor:
        """What each query finds in its first `place` entries and the newest, which is kept."""


def _attention_of(network: Transformer, device: torch.device) -> _Attention:
    """The fastest there is on this machine; all give the same within rounding."""
    try:
        if device.type == "cuda":
            return _on_gpu(network) or _plain(network)
        return _compiled(network)
    except ImportError:
        return _plain(network)


def _plain(network: Transformer) -> _Attention:
    """torch alone: every row looks over the room of the longest."""

    def attend(
        q: Tensor, k: Tensor, v: Tensor, keys: Tensor, values: Tensor, place: Tensor
    ) -> Tensor:
        _write(k, v, keys, values, place)
        seen = torch.arange(keys.shape[1], device=q.device) <= place[:, None]
        found = network.found_by(
            q[:, None], keys.to(q.dtype), values.to(q.dtype), seen[:, None, None]
        )
        return found[:, 0]

    return attend


def _compiled(network: Transformer) -> _Attention:
    from edsim.models.neural import attention_compiled as compiled

    def attend(
        q: Tensor, k: Tensor, v: Tensor, keys: Tensor, values: Tensor, place: Tensor
    ) -> Tensor:
        _write(k, v, keys, values, place)
        found = compiled.attend_in_threads(
            q.contiguous().numpy(),
            keys.numpy(),
            values.numpy(),
            (place + 1).numpy(),
            network.n_heads,
            torch.get_num_threads(),
        )
        return torch.from_numpy(found)

    return attend


def _on_gpu(network: Transformer) -> _Attention | None:
    from edsim.models.neural import attention_on_gpu as gpu

    if not gpu.fits(network.width, network.n_heads):
        return None

    def attend(
        q: Tensor, k: Tensor, v: Tensor, keys: Tensor, values: Tensor, place: Tensor
    ) -> Tensor:
        return gpu.attend(q, k, v, keys, values, place, network.n_heads)

    return attend


def _write(k: Tensor, v: Tensor, keys: Tensor, values: Tensor, place: Tensor) -> None:
    rows = torch.arange(len(place), device=place.device)
    keys.index_put_((rows, place), k.to(keys.dtype))
    values.index_put_((rows, place), v.to(values.dtype))
