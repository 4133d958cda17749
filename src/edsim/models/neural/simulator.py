"""A trained network as a Simulator: the four calls, with a clock of its heads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from edsim.models.neural.clocks import BinsClock, Clock
from edsim.models.neural.foresight import foresee, remaining_minutes
from edsim.models.neural.memory import Memory, read, step
from edsim.models.neural.model import NeuralModel
from edsim.models.neural.networks import Transformer
from edsim.models.neural.reading import Reading, read_stays
from edsim.models.neural.seats import NeuralSeats
from edsim.models.neural.sheets import Sheet, sheet_of, with_room_between
from edsim.models.protocol import Foreseen, Simulator
from edsim.tables.visits import Launches, Prefixes, Visits


@dataclass(frozen=True, slots=True)
class NeuralState:
    """Where each row stands, after its last event."""

    output: Tensor
    """[rows, width]: what the heads read."""
    elapsed: Tensor
    """float64 [rows]: minutes since the visit's first event."""
    place: Tensor
    """int64 [rows]: events so far."""
    memory: Memory


class NeuralSimulator:
    """Events from the event head, gaps from the clock; every event and gap is read back.

    The decoder draws the time before the event: `propose` takes the bin that `u_time` gives and
    asks for the event after it, `commit` takes the same bin again.
    """

    def __init__(
        self,
        model: NeuralModel,
        clock: str | None = None,
        identity: Mapping[str, Any] | None = None,
    ) -> None:
        self.model = model.eval()
        self._clock: Clock = model.clock(clock)
        self.identity = dict(identity or {})
        """What is to stand in a rollouts table about it; empty where it comes from no file."""

    @property
    def clock(self) -> str:
        """The name of the clock."""
        return self._clock.name

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.model.heads.event.weight.device

    def to(self, device: torch.device | str) -> NeuralSimulator:
        """The same simulator on another device; this one's weights move with it."""
        return NeuralSimulator(self.model.to(device), self.clock, self.identity)

    @torch.no_grad()
    def start(self, prefixes: Prefixes) -> NeuralState:
        """Read all prefixes at once, padded to the longest."""
        sheet = sheet_of(prefixes.tokens, prefixes.minutes, prefixes.offsets).to(self.device)
        output, memory = read(self.model.network, *self._laid_out(sheet))
        return NeuralState(
            output,
            torch.from_numpy(prefixes.elapsed_minutes()).to(self.device),
            torch.from_numpy(prefixes.lengths()).to(self.device),
            memory,
        )

    @torch.no_grad()
    def propose(self, state: NeuralState, u_time: Tensor) -> Tensor:
        """The event head's answer."""
        proposed: Tensor = self.model.heads.event(self._before_event(state, u_time).output)
        return proposed.float()

    @torch.no_grad()
    def commit(
        self, state: NeuralState, tokens: Tensor, u_time: Tensor
    ) -> tuple[NeuralState, Tensor]:
        """The clock's minutes, read back together with the event."""
        minutes = self._clock.minutes(state.output, tokens, state.elapsed, u_time)
        elapsed = state.elapsed + minutes
        inputs = self.model.events(tokens, minutes, elapsed)
        memory = self._before_event(state, u_time).memory
        place = 2 * state.place if isinstance(self._clock, BinsClock) else state.place
        output, memory = step(self.model.network, inputs, place, memory)
        return NeuralState(output, elapsed, state.place + 1, memory), minutes

    def keep(self, state: NeuralState, rows: Tensor) -> NeuralState:
        """Some rows, in the order given."""
        memory = state.memory
        return NeuralState(
            state.output.index_select(0, rows),
            state.elapsed.index_select(0, rows),
            state.place.index_select(0, rows),
            memory.index_select(0, rows) if isinstance(memory, Tensor) else memory.keep(rows),
        )

    def foresee(self, visits: Visits, launches: Launches) -> Foreseen:
        """What it says at launches; a causal network reads each stay once."""
        return foresee(self.model, visits, launches)

    @torch.no_grad()
    def remaining_minutes(self, state: NeuralState) -> Tensor:
        """How long the visit is expected to go on; nan where the heads do not say."""
        return remaining_minutes(self.model, state.output)

    def read(self, prefixes: Prefixes) -> Reading:
        """See `protocol.Seated`."""
        return read_stays(self.model, prefixes, self.device)

    def seats(self, n: int) -> NeuralSeats | None:
        """See `protocol.Seated`; a network that is not causal has to read everything again."""
        network = self.model.network
        if isinstance(network, Transformer) and not network.causal:
            return None
        return NeuralSeats(self.model, self._clock, n)

    def _laid_out(self, sheet: Sheet) -> tuple[Tensor, Sheet]:
        """What the network reads of the prefixes, and its lay-out."""
        if not isinstance(self._clock, BinsClock):
            return self.model.events(sheet.tokens, sheet.gaps, sheet.elapsed), sheet
        next_minutes = functional.pad(sheet.gaps[:, 1:], (0, 1))
        inputs = self.model.interleaved(sheet, next_minutes)
        return inputs, with_room_between(sheet, after_last=False)

    def _before_event(self, state: NeuralState, u_time: Tensor) -> NeuralState:
        """Where the next event is proposed from: for the decoder, once its time bin is drawn."""
        if not isinstance(self._clock, BinsClock):
            return state
        drawn, _ = self._clock.draw(state.output, u_time)
        inputs = self.model.bins(drawn)
        output, memory = step(self.model.network, inputs, 2 * state.place - 1, state.memory)
        return replace(state, output=output, memory=memory)


def _is_a_simulator(simulator: NeuralSimulator) -> Simulator[NeuralState]:
    """Checked by mypy: the four calls are all there."""
    return simulator
