"""Rates that move from one calendar period to the next, so that a temporal split has a subject.

At strength 1, from the first period to the last (linear in between, the middle unmoved):
workups take 22 % longer, a third fewer visits end in admission, four in ten opioid acts become
other analgesics, checks come 18 % more often, and lists of home medicines are entered one by one
in .52 of visits where it was .32. At strength 0 nothing moves and the process is the calibrated
one, bit for bit.
"""

from __future__ import annotations

import numpy as np

from edsim.sources.synthetic.rates import (
    CLASS_GIVEN_PATHWAY,
    DISPOSITION,
    DISPOSITIONS,
    N_PERIODS,
    Floats,
    Rates,
)

HOME, ADMIT = DISPOSITIONS.index("HOME"), DISPOSITIONS.index("ADMIT")
OPIOID, NONOP = 0, 1


def drifted(rates: Rates, strength: float) -> Rates:
    """`rates` with each period's own tables."""
    if strength == 0:
        return rates
    step = strength * np.linspace(-0.5, 0.5, N_PERIODS)
    return rates._replace(
        workup=rates.workup + 0.20 * step[:, None],
        check_interval=rates.check_interval - 0.20 * step[:, None],
        spread=np.clip(rates.spread + 0.20 * step, 0.0, 1.0),
        disposition=_moved(DISPOSITION, ADMIT, HOME, 0.40 * step),
        dispensed_class=_moved(CLASS_GIVEN_PATHWAY, OPIOID, NONOP, 0.50 * step),
    )


def _moved(shares: object, source: int, target: int, step: Floats) -> Floats:
    """Cumulative shares by period, a part of `source` given to `target` (or taken from it)."""
    table = np.repeat(np.asarray(shares, dtype=np.float64)[None], N_PERIODS, axis=0)
    for period, part in enumerate(step):
        giver, taker = (source, target) if part > 0 else (target, source)
        amount = np.minimum(abs(part) * table[period, :, source], table[period, :, giver])
        table[period, :, giver] -= amount
        table[period, :, taker] += amount
    return np.ascontiguousarray(np.cumsum(table, axis=-1))
