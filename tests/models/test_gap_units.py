"""Gaps as whole numbers of the record's own unit."""

from __future__ import annotations

import numpy as np
import pytest

from edsim.models.gap_units import BITS, as_minutes, find_unit, in_units

WHOLE = np.arange(1, 2000)


@pytest.mark.parametrize(
    ("minutes", "unit"),
    [
        (WHOLE, 60),
        (WHOLE / 60, 60),
        (WHOLE / 60_000, 60_000),
        (WHOLE / 60_000_000, 60_000_000),
        (WHOLE / 7, BITS),
        ([0.5 / 60_000, 1e6], BITS),  # milliseconds would fit, but not so many
        ([], 60),
    ],
)
def test_the_coarsest_unit_that_is_exact_is_found(minutes: np.ndarray, unit: int) -> None:
    gaps = np.array(minutes, dtype=np.float32)
    assert find_unit(gaps) == unit
    assert np.array_equal(as_minutes(in_units(gaps, unit), unit), gaps)


def test_numbers_sort_as_the_gaps_do_in_any_unit() -> None:
    gaps = np.sort(np.random.default_rng(0).exponential(40, 500).astype(np.float32))
    gaps[0] = -0.0
    assert (np.diff(in_units(gaps, BITS)) >= 0).all()


def test_the_longest_stay_on_record_keeps_its_seconds() -> None:
    gaps = (np.array([8413 * 60 + 1, 30 * 24 * 3600 + 1]) / 60).astype(np.float32)
    assert find_unit(gaps) == 60
