"""A small input for every source. A new source is tested once it has an entry here."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

from edsim.lab.build import build_cohort
from edsim.lab.cohort import open_cohort
from edsim.lab.export import export_meds
from edsim.progress import silent
from edsim.sources import SOURCES
from edsim.sources.synthetic import LAYOUTS, SyntheticOptions

N_STAYS = 150


def _written(folder: Path, layout: str) -> Path:
    raw = folder / "raw"
    raw.mkdir()
    LAYOUTS[layout](raw, SyntheticOptions(stays=N_STAYS), silent)
    return raw


def _mimic(folder: Path) -> dict[str, Any]:
    raw = _written(folder, "mimic")
    return {"ed": raw / "ed", "mimicel": raw / "mimicel.csv", "hosp": raw / "hosp"}


def _eventlog(folder: Path) -> dict[str, Any]:
    events = SOURCES["synthetic"].read(SyntheticOptions(stays=N_STAYS), silent).events
    when = pl.datetime(2020, 1, 1) + pl.duration(hours=pl.col("stay")) + pl.duration(
        seconds=(pl.col("minutes") * 60).round().cast(pl.Int64)
    )  # fmt: skip
    log = events.select(
        pl.format("case {}", "stay").alias("case_id"),
        pl.col("activity").cast(pl.String),
        when.dt.to_string("iso").alias("timestamp"),
    )
    log.write_csv(folder / "log.csv")
    return {"log": folder / "log.csv", "discharge": ("Discharge from the ED",)}


def _meds(folder: Path) -> dict[str, Any]:
    build_cohort(SOURCES["synthetic"], SyntheticOptions(stays=N_STAYS), folder / "cohort")
    export_meds(open_cohort(folder / "cohort"), folder / "meds")
    return {"directory": folder / "meds"}


EXAMPLES: dict[str, Callable[[Path], dict[str, Any]]] = {
    "synthetic": lambda folder: {"stays": N_STAYS},
    "mimic": _mimic,
    "mcmed": lambda folder: {"data": _written(folder, "mcmed")},
    "eventlog": _eventlog,
    "meds": _meds,
}
