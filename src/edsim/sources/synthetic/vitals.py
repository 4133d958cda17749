"""Vital-sign values of a check whose flag is known, and of triage, where no flag is kept.

A normal check has every recorded value inside the adult limits, an abnormal one at least one
outside. Missing values, Celsius entries and pain as free text occur about as often as published.
The limits here are the ones the `mimic` source reads from vital_limits.toml; a test holds both
together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from edsim import seeds

if TYPE_CHECKING:
    import polars as pl

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

SIGNS = ("temperature", "heartrate", "resprate", "o2sat", "sbp", "dbp")
_NORMAL = ((97.0, 100.2), (55, 108), (12, 21), (95, 100), (95, 175))
"""Where normal values lie; temperature in Fahrenheit. dbp is never what makes a check abnormal."""
_LOW = ((94.0, 96.4), (36, 49), (6, 9), (80, 93), (62, 89))
_HIGH = ((100.8, 104.0), (111, 160), (23, 40), (80, 93), (181, 230))
_CELSIUS_NORMAL, _CELSIUS_LOW, _CELSIUS_HIGH = (36.2, 37.9), (34.5, 35.8), (38.2, 40.0)
_WHICH = (0.15, 0.50, 0.65, 0.85, 1.0)
"""Cumulative: which sign makes a check abnormal (temperature, rate of heart, of breath, ...)."""
_CELSIUS = 0.004
MISSING_AT_CHECK = (0.361, 0.045, 0.057, 0.087, 0.052, 0.052)
MISSING_AT_TRIAGE = (0.055, 0.040, 0.048, 0.048, 0.043, 0.045)

PAIN_TEXTS = ("unable", "asleep", "uta", "sleeping", "denies", "13", "ua", "Critical", None)
_PAIN_TEXT = 0.295
RHYTHMS = ("Sinus Rhythm", "Sinus Tachycardia", "Atrial Fibrillation", "Normal Sinus Rhythm")
_RHYTHM = 0.03


def vital_values(keys: seeds.U64Array, abnormal: Flags, missing: tuple[float, ...]) -> pl.DataFrame:
    """The six signs, pain and rhythm as text, of one check for each key."""
    import polars as pl

    chance = _chances(keys, 24)
    which = np.searchsorted(_WHICH, chance[0], side="right")
    low = chance[1] < 0.4
    celsius = chance[2] < _CELSIUS
    columns = {}
    for i, name in enumerate(SIGNS):
        outside = abnormal & (which == i)
        values = _sign(i, chance[3 + i], outside, low, celsius)
        gone = (chance[9 + i] < missing[i]) & ~outside
        if name == "temperature":
            text = pl.Series(np.round(values, 1)).cast(pl.String).str.strip_suffix(".0")
        else:
            text = pl.Series(np.floor(values).astype(np.int64)).cast(pl.String)
        columns[name] = pl.select(pl.when(pl.Series(~gone)).then(text).alias(name)).to_series()
    columns["pain"] = _pain(chance[15], chance[16])
    rhythm = np.floor(chance[17] / _RHYTHM * len(RHYTHMS)).astype(np.int64)
    columns["rhythm"] = pl.Series([*RHYTHMS, None]).gather(np.minimum(rhythm, len(RHYTHMS)))
    return pl.DataFrame(columns)


def _sign(i: int, u: Floats, outside: Flags, low: Flags, celsius: Flags) -> Floats:
    if i == 5:
        return 50 + 45 * u
    begin, end = (
        np.where(outside, np.where(low, _LOW[i][side], _HIGH[i][side]), _NORMAL[i][side])
        for side in (0, 1)
    )
    if i == 0:
        for side, bound in enumerate((begin, end)):
            by_state = np.where(low, _CELSIUS_LOW[side], _CELSIUS_HIGH[side])
            bound[celsius] = np.where(outside, by_state, _CELSIUS_NORMAL[side])[celsius]
        return begin + (end - begin) * u
    return begin + (end + 1 - begin) * u


def _pain(u: Floats, v: Floats) -> pl.Series:
    """0 to 10, text, or nothing."""
    import polars as pl

    number = np.floor(np.where(v < 0.5, 0.0, 1 + 10 * (2 * v - 1))).astype(np.int64)
    text = np.minimum(np.floor(u / _PAIN_TEXT * len(PAIN_TEXTS)).astype(np.int64), 99)
    texts = pl.Series([*(str(n) for n in range(11)), *PAIN_TEXTS], dtype=pl.String)
    return texts.gather(np.where(u < _PAIN_TEXT, 11 + text, number))


def _chances(keys: seeds.U64Array, n: int) -> list[Floats]:
    """`n` independent numbers in [0, 1) for each key."""
    return [
        seeds.uniform(seeds.combine(keys, np.full(len(keys), i, dtype=np.int64))) for i in range(n)
    ]
