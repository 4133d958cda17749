"""Defects that closed-loop harnesses have had, planted on purpose: what they do to scores is shown
by the paper's audit table, and that `edsim check` finds them by its tests.

Those of the generation path are simulators around a simulator. Those of what is scored, and of when
a rollout stops, change rollouts that were made without them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

import numpy as np
import torch
from torch import Tensor

from edsim.models.protocol import Simulator
from edsim.tables.rollouts import Rollouts
from edsim.tables.visits import Prefixes, Suffixes, Visits

DAY = 24 * 60.0
State = TypeVar("State")


@dataclass(frozen=True, slots=True)
class Around(Generic[State]):
    """A simulator that does all as the one inside does; defects change one call of it."""

    inside: Simulator[State]

    @property
    def clock(self) -> str:
        return str(getattr(self.inside, "clock", "own"))

    @property
    def device(self) -> torch.device:
        return torch.device(getattr(self.inside, "device", "cpu"))

    def start(self, prefixes: Prefixes) -> State:
        return self.inside.start(prefixes)

    def propose(self, state: State, u_time: Tensor) -> Tensor:
        return self.inside.propose(state, u_time)

    def commit(self, state: State, tokens: Tensor, u_time: Tensor) -> tuple[State, Tensor]:
        return self.inside.commit(state, tokens, u_time)

    def keep(self, state: State, rows: Tensor) -> State:
        return self.inside.keep(state, rows)


class ForgetsHistory(Around[State]):
    """The conditioning history is not advanced: the state after an event is the one before it."""

    def commit(self, state: State, tokens: Tensor, u_time: Tensor) -> tuple[State, Tensor]:
        return state, self.inside.commit(state, tokens, u_time)[1]


class LeavesLogMinutes(Around[State]):
    """Gaps are handed out as ln(1 + minutes), never turned back into minutes."""

    def commit(self, state: State, tokens: Tensor, u_time: Tensor) -> tuple[State, Tensor]:
        after, minutes = self.inside.commit(state, tokens, u_time)
        return after, torch.log1p(minutes)


SIMULATOR_DEFECTS: dict[str, Callable[[Simulator[Any]], Simulator[Any]]] = {
    "forgets_history": ForgetsHistory,
    "leaves_log_minutes": LeavesLogMinutes,
}
"""By the name in `defect:NAME:PRODUCER`."""


def with_the_prefix(rollouts: Rollouts, visits: Visits) -> Rollouts:
    """Scored over the whole stored trajectory: the prefix counts as if it had been generated."""
    prefixes = visits.prefixes(rollouts.launches)
    before, after = prefixes.lengths(), rollouts.generated.lengths()
    row = np.concatenate([np.repeat(np.arange(len(before)), n) for n in (before, after)])
    order = np.argsort(row, kind="stable")
    generated = Suffixes(
        np.concatenate([prefixes.tokens, rollouts.generated.tokens])[order],
        np.concatenate([prefixes.minutes, rollouts.generated.minutes])[order],
        np.concatenate([[0], np.cumsum(before + after)]).astype(np.int64),
    )
    return replace(rollouts, generated=generated)


def stopped_after_a_day(rollouts: Rollouts, visits: Visits) -> Rollouts:
    """Stopped by the first event, END or not, that lies more than 24 hours behind the launch."""
    generated = rollouts.generated
    lengths, first = generated.lengths(), generated.offsets[:-1]
    total = np.cumsum(generated.minutes, dtype=np.float64)
    since = total - np.repeat(np.concatenate([[0.0], total])[first], lengths)
    kept = np.minimum(np.add.reduceat((since <= DAY).astype(np.int64), first) + 1, lengths)
    place = np.arange(len(generated.tokens)) - np.repeat(first, lengths)
    chosen = place < np.repeat(kept, lengths)
    offsets = np.concatenate([[0], np.cumsum(kept)]).astype(np.int64)
    cut = Suffixes(generated.tokens[chosen], generated.minutes[chosen], offsets)
    return replace(rollouts, generated=cut)


ROLLOUT_DEFECTS: dict[str, Callable[[Rollouts, Visits], Rollouts]] = {
    "with_the_prefix": with_the_prefix,
    "stopped_after_a_day": stopped_after_a_day,
}
"""What turns good rollouts into those a faulty harness would have scored."""
