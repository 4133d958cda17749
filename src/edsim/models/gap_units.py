"""Gaps as whole numbers: exact to the record's own unit, small on disk, and quick to sort."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from edsim.tables.visits import Minutes

UNITS = (60, 60_000, 60_000_000)
"""Units in a minute that are tried in turn: seconds, milliseconds, microseconds."""

BITS = 0
"""No unit fits: the bits of the float32 minutes, which sort as the minutes do, for none is < 0."""

SECOND = 1.0 / 60
"""Minutes. The width to which densities of gaps are resolved."""

Gaps = NDArray[np.int32]


def find_unit(minutes: Minutes) -> int:
    """The coarsest unit, per minute, that gives every gap back exactly; BITS if none does."""
    for unit in UNITS:
        counts = np.rint(minutes.astype(np.float64) * unit)
        fits = counts.max(initial=0) <= np.iinfo(np.int32).max
        if fits and np.array_equal(as_minutes(counts.astype(np.int32), unit), minutes):
            return unit
    return BITS


def in_units(minutes: Minutes, unit: int) -> Gaps:
    """Gaps as whole numbers of `unit`."""
    if unit == BITS:
        return (minutes + np.float32(0)).view(np.int32)  # -0.0 becomes 0.0
    return np.rint(minutes.astype(np.float64) * unit).astype(np.int32)


def as_minutes(gaps: Gaps, unit: int) -> Minutes:
    """The gaps in minutes again, bit for bit as they were read."""
    if unit == BITS:
        return gaps.view(np.float32)
    return (gaps / unit).astype(np.float32)
