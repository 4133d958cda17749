"""Time classes of the `joint` recipe: gaps on the record's own lattice, read off the training data.

A moment is counted in units (such as seconds) since the visit's first event, and lies in a tick
(such as a minute) at some phase. A gap is of the class `same moment`, `same tick`, or of a number
of ticks later: each number of its own up to 60, then numbers 8 % wide. Within a class the number of
ticks is uniform; the phase in the tick follows a table of the event, counted in training.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from edsim.models.gap_units import BITS, find_unit
from edsim.models.moving import moved
from edsim.models.neural.drawing import draw_class, place_in
from edsim.tables.visits import Visits

SAME_MOMENT, SAME_TICK = 0, 1
SINGLE = 60
"""Numbers of ticks up to this one have a class of their own."""
WIDENING = 1.08
TICKS = (1440.0, 60.0, 1.0)
"""Lattices in minutes that are tried in turn: days, hours, minutes."""
ON_LATTICE = 0.95
FINEST = 1.0 / 60
"""The tick of records off any lattice whose events mostly follow within a few minutes."""
MOST_PHASES = 4096
"""Phases of one event that are told apart."""

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class TimeClasses:
    """All on one device; buffers of a model, kept in its file."""

    units_a_minute: Tensor
    """float64 []."""
    units_a_tick: Tensor
    """int64 []."""
    low: Tensor
    """int64 [classes]: fewest ticks of the class; 0 for the two classes within a tick."""
    width: Tensor
    """int64 [classes]: how many numbers of ticks it holds."""
    class_of: Tensor
    """int64 [longest + 1]: the class of each number of ticks from 1 on."""
    phases: Tensor
    """int64 [tokens, phases]: in units, ascending; the last is repeated to fill the row."""
    shares: Tensor
    """float64 [tokens, phases]: cumulated, 1 from the last on."""

    @property
    def n_classes(self) -> int:
        return len(self.low)

    @property
    def tick(self) -> float:
        """In minutes."""
        return float(self.units_a_tick) / float(self.units_a_minute)

    def to(self, device: torch.device | str) -> TimeClasses:
        """The same classes on another device."""
        return moved(self, device)

    def moment(self, elapsed: Tensor) -> Tensor:
        """int64: units since the visit's first event."""
        return torch.round(elapsed * self.units_a_minute).long()

    def class_of_gap(self, elapsed: Tensor, gap: Tensor) -> Tensor:
        """int64: the class of a gap that begins `elapsed` minutes into the visit."""
        now, then = self.moment(elapsed), self.moment(elapsed + gap.double())
        ticks = torch.div(then, self.units_a_tick, rounding_mode="floor") - torch.div(
            now, self.units_a_tick, rounding_mode="floor"
        )
        later = self.class_of[ticks.clamp(0, len(self.class_of) - 1)]
        within = torch.where(then == now, SAME_MOMENT, SAME_TICK)
        return torch.where(ticks > 0, later, within)

    def draw(self, logits: Tensor, tokens: Tensor, elapsed: Tensor, u_time: Tensor) -> Tensor:
        """Minutes from one uniform number a row: its class, then what is left for the rest."""
        kind, left = draw_class(logits, u_time)
        extra, left = place_in(self.width[kind], left)
        now = self.moment(elapsed)
        tick = torch.div(now, self.units_a_tick, rounding_mode="floor")
        phase_now = now - tick * self.units_a_tick
        phase = self._phase(tokens, torch.where(kind == SAME_TICK, phase_now, -1), left)
        then = (tick + self.low[kind] + extra) * self.units_a_tick + phase
        units = torch.where(kind == SAME_MOMENT, 0, (then - now).clamp(min=1))
        return (units / self.units_a_minute).float()

    def _phase(self, tokens: Tensor, after: Tensor, left: Tensor) -> Tensor:
        """A phase of the event's table, later than `after`; one unit later where there is none."""
        phases, shares = self.phases[tokens], self.shares[tokens]
        passed = torch.searchsorted(phases, after[:, None], right=True)
        gone = torch.where(
            passed > 0, shares.gather(1, (passed - 1).clamp(min=0)), torch.zeros_like(shares[:, :1])
        )
        target = gone + left[:, None] * (1 - gone)
        found = torch.searchsorted(shares, target, right=True).clamp(max=phases.shape[1] - 1)
        phase = phases.gather(1, found)[:, 0]
        return torch.where(phase > after, phase, after + 1)

    def log_density(self, logits: Tensor, tokens: Tensor, elapsed: Tensor, gap: Tensor) -> Tensor:
        """Log-density of a gap per minute: its share of the distribution over a unit's width."""
        kind = self.class_of_gap(elapsed, gap)
        log_share = logits.log_softmax(dim=1, dtype=torch.float64).gather(1, kind[:, None])[:, 0]
        now, then = self.moment(elapsed), self.moment(elapsed + gap.double())
        phase_now, phase = now % self.units_a_tick, then % self.units_a_tick
        phases, shares = self.phases[tokens], self.shares[tokens]

        def upto(value: Tensor) -> Tensor:
            passed = torch.searchsorted(phases, value[:, None], right=True)
            share = shares.gather(1, (passed - 1).clamp(min=0))
            return torch.where(passed > 0, share, torch.zeros_like(share))[:, 0]

        gone = torch.where(kind == SAME_TICK, upto(phase_now), 0.0)
        mass = (upto(phase) - upto(phase - 1)) / (1 - gone).clamp(min=1e-12)
        mass = torch.where(gone >= 1, (phase == phase_now + 1).double(), mass)  # as it is drawn
        spread = log_share - self.width[kind].double().log() + mass.clamp(min=1e-12).log()
        spread = spread + self.units_a_minute.log()
        return torch.where(kind == SAME_MOMENT, log_share + self.units_a_minute.log(), spread)


def fit_time_classes(training: Visits, n_tokens: int) -> TimeClasses:
    """Read lattice, classes and tables of phases off the training visits."""
    minutes = np.asarray(training.minutes)
    unit = find_unit(minutes)
    units_a_minute = 60_000 if unit == BITS else unit
    moments, first = _moments(training, units_a_minute)
    later = ~first
    units_a_tick = max(
        1, round(_tick(minutes[later], moments[later], units_a_minute) * units_a_minute)
    )
    ticks = moments // units_a_tick
    steps = np.diff(ticks, prepend=0)[later]
    low, width = _classes(int(steps.max(initial=1)))
    class_of = np.searchsorted(low, np.arange(low[-1] + width[-1]), side="right") - 1
    moved_on = later.copy()
    moved_on[later] = np.diff(moments, prepend=0)[later] > 0
    phases, shares = _phases(
        training.tokens[moved_on].astype(np.int64), (moments % units_a_tick)[moved_on], n_tokens
    )
    return TimeClasses(
        units_a_minute=torch.tensor(float(units_a_minute), dtype=torch.float64),
        units_a_tick=torch.tensor(units_a_tick),
        low=torch.from_numpy(low),
        width=torch.from_numpy(width),
        class_of=torch.from_numpy(class_of),
        phases=torch.from_numpy(phases),
        shares=torch.from_numpy(shares),
    )


def _moments(visits: Visits, units_a_minute: int) -> tuple[Ints, NDArray[np.bool_]]:
    """Units since the visit's first event, and which events are first."""
    sums = np.cumsum(visits.minutes, dtype=np.float64)
    begin = visits.offsets[:-1]
    elapsed = sums - np.repeat(sums[begin], np.diff(visits.offsets))
    first = np.zeros(len(sums), dtype=bool)
    first[begin] = True
    return np.rint(elapsed * units_a_minute).astype(np.int64), first


def _tick(gaps: NDArray[np.float32], moments: Ints, units_a_minute: int) -> float:
    """The coarsest lattice that nearly all moments lie on; without one, minutes or seconds."""
    positive = gaps > 0
    if not positive.any():
        return 1.0
    for tick in TICKS:
        if (moments[positive] % round(tick * units_a_minute) == 0).mean() >= ON_LATTICE:
            return tick
    return FINEST if np.median(gaps[positive]) < 5 else 1.0


def _classes(most: int) -> tuple[Ints, Ints]:
    """Fewest ticks and number of ticks of each class, up to one that holds `most`."""
    low = [0, 0, *range(1, SINGLE + 1)]
    width = [1] * len(low)
    begin = SINGLE + 1
    while begin <= most:
        end = max(begin + 1, round(begin * WIDENING))
        low.append(begin)
        width.append(end - begin)
        begin = end
    return np.array(low, dtype=np.int64), np.array(width, dtype=np.int64)


def _phases(tokens: Ints, phases: Ints, n_tokens: int) -> tuple[Ints, NDArray[np.float64]]:
    """Tables [tokens, phases] of phases and cumulated shares; an event without any gets phase 0."""
    tables = []
    for token in range(n_tokens):
        values, counts = np.unique(phases[tokens == token], return_counts=True)
        if not len(values):
            values, counts = np.zeros(1, dtype=np.int64), np.ones(1, dtype=np.int64)
        shares = np.cumsum(counts) / counts.sum()
        if len(values) > MOST_PHASES:
            some = np.linspace(0, len(values) - 1, MOST_PHASES).round().astype(np.int64)
            values, shares = values[some], shares[some]
        tables.append((values, shares))
    most = max(len(values) for values, _ in tables)
    return (
        np.stack([np.pad(values, (0, most - len(values)), mode="edge") for values, _ in tables]),
        np.stack([np.pad(shares, (0, most - len(shares)), mode="edge") for _, shares in tables]),
    )
