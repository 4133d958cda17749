"""Do visits that end hold the discharge that true ones end with?

Only what ended by itself is judged: a row that the cap stopped is a matter of stopping.
"""

from __future__ import annotations

import numpy as np

from edsim.metrics.exchange import by_stay, exchanged
from edsim.metrics.measure import Floats
from edsim.metrics.seen import Found, Seen
from edsim.metrics.termination import holds_any

WITHOUT = 0.05
"""Least share of ended rollouts that lack a discharge, over the observed share that does."""


def without_discharge(seen: Seen) -> list[Found]:
    """Ends without a discharge; nothing where the vocabulary names none, or nothing ended."""
    ended = seen.terminated
    if not seen.discharges or not ended.any():
        return []
    lacks = [
        ended & ~holds_any(events, seen.discharges) for events in (seen.generated, seen.observed)
    ]
    sides = [by_stay([one, ended], seen.stay, seen.n_stays) for one in lacks]
    off = exchanged(sides[0], sides[1], more_often)
    if not off.above(WITHOUT):
        return []
    generated, observed = (1 - one.sum() / ended.sum() for one in lacks)
    return [
        Found(
            "ends without discharge",
            f"{generated:.1%} of the rollouts that end hold a discharge; {observed:.1%} of the "
            "true suffixes of these launches do.",
            ("reached_discharge",),
        )
    ]


def more_often(one: Floats, other: Floats) -> Floats:
    """By how much the share of one side (first column of second) is above that of the other."""
    return np.asarray(one[..., 0] / one[..., 1] - other[..., 0] / other[..., 1])
