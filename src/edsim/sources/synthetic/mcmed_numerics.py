"""What nurses charted and what monitors streamed in the second department: numerics.csv.

The monitors' rows are there so that a reader has something to leave out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from edsim import seeds
from edsim.sources.mcmed import labels
from edsim.sources.synthetic import calendar, vitals

if TYPE_CHECKING:
    import polars as pl

MEASURES = {
    "temperature": "Temp",
    "heartrate": "HR",
    "resprate": "RR",
    "o2sat": "SpO2",
    "sbp": "SBP",
    "dbp": "DBP",
}
_MISSING = (0.36, 0.0, 0.06, 0.09, 0.05, 0.05)
"""The heart rate is always there, so that no charting is without a row."""
_MONITORED = 0.7
_EVERY = 600
"""Seconds between the monitors' rows here; a real monitor writes one a minute."""
_STREAMED = (("HR", 80.0, 25.0), ("RR", 17.0, 8.0), ("SpO2", 97.0, 5.0), ("Perf", 1.5, 2.0))
"""Measure, middle and width of the monitors' values."""


def numerics(rows: pl.DataFrame, stays: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Charted rows of the chunk, then streamed ones."""
    import polars as pl

    return pl.concat([_charted(rows), _streamed(stays, seed)])


def _charted(rows: pl.DataFrame) -> pl.DataFrame:
    """One row for each value of each charting."""
    import polars as pl

    acts = rows.filter(activity=labels.VITALS).select("CSN", "flag", "key", Time="time")
    values = vitals.vital_values(
        acts["key"].to_numpy(), acts["flag"].to_numpy() == 1, _MISSING
    ).rename(MEASURES)
    wide = acts.select("CSN", "Time").hstack(values.select(MEASURES.values())).with_row_index("act")
    return (
        wide.unpivot(index=["act", "CSN", "Time"], variable_name="Measure", value_name="Value")
        .drop_nulls("Value")
        .sort("act", maintain_order=True)
        .select("CSN", pl.lit("Chart").alias("Source"), "Measure", "Value", "Time")
    )


def _streamed(stays: pl.DataFrame, seed: int) -> pl.DataFrame:
    import polars as pl

    monitored = stays.filter(is_monitored(stays, seed))
    minutes = monitored["departure_second"] - monitored["roomed_second"]
    n = (minutes.to_numpy() // _EVERY) * len(_STREAMED)
    stay = np.repeat(np.arange(monitored.height), n)
    position = np.arange(len(stay)) - np.repeat(np.cumsum(n) - n, n)
    measure = position % len(_STREAMED)
    base = np.full(len(stay), seeds.key("synthetic mcmed monitor", seed), dtype=np.uint64)
    number = monitored["number"].to_numpy()[stay]
    u = seeds.uniform(seeds.combine(seeds.combine(base, number), position))
    middle, width = (np.array([row[i] for row in _STREAMED])[measure] for i in (1, 2))
    second = _EVERY * (position // len(_STREAMED) + 1)
    names = pl.Series([name for name, _, _ in _STREAMED])
    return pl.DataFrame(
        {
            "CSN": monitored["CSN"].gather(stay),
            "Measure": names.gather(measure),
            "Value": pl.Series(np.round(middle + (u - 0.5) * width, 1)).cast(pl.String),
            "start": monitored["roomed"].gather(stay),
            "second": second,
        }
    ).select(
        "CSN",
        pl.lit("Monitor").alias("Source"),
        "Measure",
        "Value",
        (pl.col("start") + pl.duration(seconds="second")).alias("Time"),
    )


def is_monitored(stays: pl.DataFrame, seed: int) -> pl.Series:
    """Whether a visit had a monitor; only rooms have one."""
    import polars as pl

    chance = calendar.chance("mcmed monitored", seed, stays["number"].to_numpy())
    return pl.Series(chance < _MONITORED) & stays["roomed"].is_not_null()


def waveforms(stays: pl.DataFrame, seed: int) -> pl.DataFrame:
    """waveform_summary.csv: how much of each waveform a monitored visit has."""
    import polars as pl

    monitored = stays.filter(is_monitored(stays, seed))
    types = pl.DataFrame({"Type": ["II", "Pleth", "Resp"], "share": [0.9, 0.8, 0.85]})
    in_room = pl.col("departure_second") - pl.col("roomed_second")
    return monitored.join(types, how="cross").with_columns(
        Segments=pl.lit(1), Duration=(in_room * pl.col("share")).round(3)
    )
