"""Asking any simulator for the next event at observed prefixes: open loop, nothing is committed."""

from __future__ import annotations

from typing import Any

import torch

from edsim.models.protocol import Foreseen, WithDensities, WithForesight, WithRemaining
from edsim.tables.visits import Launches, Visits

MIDDLE = 0.5
"""The `u_time` that is handed to a simulator which may draw the time before it proposes."""


def foreseen(model: Any, visits: Visits, launches: Launches) -> Foreseen:
    """What a simulator says at launches, by the best means it has.

    At least it can `start` and `propose`; densities and remaining minutes are its own to offer.
    """
    if isinstance(model, WithForesight):
        return model.foresee(visits, launches)
    prefixes = visits.prefixes(launches)
    device = torch.device(getattr(model, "device", "cpu"))
    gap, remaining = None, None
    state = model.start(prefixes) if _needs_state(model) else None
    if isinstance(model, WithDensities):
        at = visits.offsets[launches[:, 0]] + launches[:, 1]
        tokens = torch.from_numpy(visits.tokens[at].astype("int64")).to(device)
        events, gap = model.log_prob(
            prefixes, tokens, torch.from_numpy(visits.minutes[at].copy()).to(device)
        )
    else:
        u_time = torch.full((len(launches),), MIDDLE, dtype=torch.float64, device=device)
        events = model.propose(state, u_time)
    if isinstance(model, WithRemaining):
        remaining = model.remaining_minutes(state)
    return Foreseen(events.double().log_softmax(dim=1), gap=gap, remaining=remaining)


def _needs_state(model: Any) -> bool:
    return isinstance(model, WithRemaining) or not isinstance(model, WithDensities)
