"""Who comes back, and when anything happened: subjects, shifted dates, calendar periods.

All of it is a function of the seed and the stay number alone, so that drawing more stays never
changes a subject, a date or a period. A stay belongs to the subject of an earlier stay or to a new
one; the chain of earlier stays ends at the subject's first.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from edsim import seeds

Numbers = NDArray[np.int64]
Floats = NDArray[np.float64]
Days = NDArray[np.datetime64]

PERIODS = ("2008 - 2010", "2011 - 2013", "2014 - 2016", "2017 - 2019")
FIRST_YEAR = 2008
FIRST_DAY = np.datetime64("2020-01-01", "D")
"""What stay 0's day is called where patients are counted by the hour; no subject's date says it."""

RETURNING = 0.5316
"""Share of visits that follow an earlier one; with those whose earlier visit would lie before the
first stay left out, 425,028 stays are of about 205,000 subjects."""
_NEAREST, _FARTHEST = 300, 60_000
"""How many stays lie between two visits of a subject: two days to more than a year."""


def chance(purpose: str, seed: int, numbers: Numbers) -> Floats:
    """One number in [0, 1) for each stay or subject, of its own for each purpose."""
    base = np.full(len(numbers), seeds.key(f"synthetic {purpose}", seed), dtype=np.uint64)
    return seeds.uniform(seeds.combine(base, numbers))


def first_stays(seed: int, numbers: Numbers) -> Numbers:
    """The number of the first stay of each stay's subject."""
    roots = np.array(numbers, dtype=np.int64)
    going = np.arange(len(roots))
    while len(going):
        current = roots[going]
        span = np.log(_FARTHEST / _NEAREST) * chance("return distance", seed, current)
        earlier = current - np.floor(_NEAREST * np.exp(span)).astype(np.int64)
        returning = (chance("return", seed, current) < RETURNING) & (earlier >= 0)
        going = going[returning]
        roots[going] = earlier[returning]
    return roots


def anchor_lags(seed: int, subjects: Numbers) -> tuple[Numbers, Numbers]:
    """True year of the first visit, and how many years before it the anchor year lies."""
    year = 2011 + np.floor(9 * chance("first year", seed, subjects)).astype(np.int64)
    known = chance("known before", seed, subjects) < 0.55
    years = np.floor(-2.5 * np.log1p(-chance("anchor lag", seed, subjects))).astype(np.int64) + 1
    return year, np.where(known, np.minimum(years, year - FIRST_YEAR), 0)


def period_numbers(seed: int, numbers: Numbers) -> Numbers:
    """The calendar period of each stay's subject, a place in `PERIODS`."""
    return subject_periods(seed, first_stays(seed, numbers))


def subject_periods(seed: int, subjects: Numbers) -> Numbers:
    """The period in which the anchor year of each subject lies."""
    year, lag = anchor_lags(seed, subjects)
    return (year - lag - FIRST_YEAR) // 3


def arrival_days(seed: int, numbers: Numbers, subjects: Numbers, per_day: int) -> Days:
    """The shifted day of each stay: the subject's shifted origin plus the true distance."""
    origin = np.datetime64("2110-01-01", "D")
    shift = np.floor(365.25 * 85 * chance("date shift", seed, subjects)).astype(np.int64)
    distance = numbers // per_day - subjects // per_day
    return np.asarray(origin + (shift + distance).astype("timedelta64[D]"))


def true_days(numbers: Numbers, per_day: int) -> Days:
    """The day of each stay in the department's own calendar, which begins with `FIRST_DAY`."""
    return np.asarray(FIRST_DAY + (numbers // per_day).astype("timedelta64[D]"))


def years(days: Days) -> Numbers:
    """The calendar year of each day."""
    return days.astype("datetime64[Y]").astype(np.int64) + 1970


def anchor_years(seed: int, subjects: Numbers) -> Numbers:
    """The shifted anchor year of each subject: the year of the first visit less the lag."""
    first_day = arrival_days(seed, subjects, subjects, 1)
    return years(first_day) - anchor_lags(seed, subjects)[1]
