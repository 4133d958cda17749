"""Drift moves rates between periods, and off it is not there at all."""

from __future__ import annotations

import numpy as np

from edsim.sources.synthetic.calendar import period_numbers
from edsim.sources.synthetic.draws import Department, Drawn, draw
from edsim.sources.synthetic.drift import drifted
from edsim.sources.synthetic.rates import N_PERIODS, rates

NUMBERS = np.arange(40_000)
ADMIT = 1
OPIOID, NONOP = 16, 17


def in_period(drawn: Drawn, period: int) -> np.ndarray:
    return period_numbers(9, drawn.numbers) == period


def test_without_drift_every_period_has_the_calibrated_rates() -> None:
    for table, same in zip(rates(), drifted(rates(), 0.0), strict=True):
        assert np.array_equal(table, same)


def test_without_drift_no_row_changes() -> None:
    plain, off = (
        draw(Department(seed=9), NUMBERS[:500]),
        draw(Department(seed=9, drift=0.0), NUMBERS[:500]),
    )
    assert np.array_equal(plain.rows, off.rows)


def test_shares_stay_shares() -> None:
    plain, moved = rates(), drifted(rates(), 2.0)
    for table, before in (
        (moved.disposition, plain.disposition),
        (moved.dispensed_class, plain.dispensed_class),
    ):
        assert np.allclose(table[..., -1], before[..., -1])
        assert (np.diff(table, axis=-1) >= -1e-12).all()
    assert ((moved.spread >= 0) & (moved.spread <= 1)).all()


def test_the_middle_of_the_periods_is_the_calibrated_process() -> None:
    plain, moved = rates(), drifted(rates(), 1.0)
    assert np.allclose(moved.workup.mean(axis=0), plain.workup[0])
    assert moved.workup.shape[0] == N_PERIODS


def test_drift_shows_between_the_first_and_the_last_period() -> None:
    drawn = draw(Department(seed=9, drift=1.0), NUMBERS)
    first, last = in_period(drawn, 0), in_period(drawn, 3)
    admitted = drawn.stays["disposition"] == ADMIT
    assert admitted[first].mean() > admitted[last].mean() + 0.08
    home = drawn.stays["disposition"] == 0
    departure = drawn.stays["departure"]
    assert np.median(departure[last & home]) > 1.12 * np.median(departure[first & home])
    stay = np.repeat(NUMBERS, np.diff(drawn.offsets))
    share = [
        (drawn.rows["token"][chosen[stay]] == OPIOID).sum()
        / np.isin(drawn.rows["token"][chosen[stay]], [OPIOID, NONOP]).sum()
        for chosen in (first, last)
    ]
    assert share[0] > share[1] + 0.1


def test_without_drift_the_periods_are_alike() -> None:
    drawn = draw(Department(seed=9), NUMBERS)
    first, last = in_period(drawn, 0), in_period(drawn, 3)
    admitted = drawn.stays["disposition"] == ADMIT
    assert abs(admitted[first].mean() - admitted[last].mean()) < 0.03
