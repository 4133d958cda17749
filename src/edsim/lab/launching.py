"""Launch sets of a cohort: what they need to know of the stays, drawn, and written."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from edsim.encoding.launches import (
    STORED_SETS,
    LaunchStays,
    NoLaunchesError,
    launch_set,
    wanted_launches,
)
from edsim.tables.visits import Launches

if TYPE_CHECKING:
    import polars as pl

LAUNCH_SEED = 0


def launch_stays(
    stays: pl.DataFrame, events: pl.DataFrame | None = None, triage_activity: str | None = None
) -> LaunchStays:
    """The facts about stays (columns of stays.parquet) that launch sets are chosen by.

    Where triage rows are comes from `events` (as a source hands them over); without them the set
    `triage` cannot be drawn.
    """
    triage = None
    if events is not None and triage_activity is not None:
        triage = first_triage_prefix(stays, events, triage_activity)
        triage[stays["acuity"].is_null().to_numpy()] = 0
    return LaunchStays(
        stay_ids=stays["stay_id"].to_list(),
        test=(stays["split"] == "test").to_numpy(),
        val=(stays["split"] == "val").to_numpy(),
        n_events=stays["n_events"].to_numpy(),
        triage=triage,
        seed=LAUNCH_SEED,
    )


def first_triage_prefix(
    stays: pl.DataFrame, events: pl.DataFrame, activity: str
) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Prefix length that ends at the first triage row; 0 without one."""
    is_triage = (events["activity"] == activity).to_numpy()
    rows = np.flatnonzero(is_triage)
    stay, first = np.unique(events["stay"].to_numpy()[rows], return_index=True)
    begins = np.cumsum(stays["n_events"].to_numpy(), dtype=np.int64) - stays["n_events"].to_numpy()
    prefix = np.zeros(stays.height, dtype=np.int64)
    prefix[stay] = rows[first] - begins[stay] + 1
    return prefix


def draw_stored_sets(facts: LaunchStays) -> dict[str, Launches | str]:
    """Every set that a cohort stores, or the reason why it has none."""
    sets: dict[str, Launches | str] = {}
    for name in STORED_SETS:
        try:
            sets[name] = launch_set(name, facts)
        except NoLaunchesError as error:
            sets[name] = str(error)
    return sets


def write_launches(
    directory: Path, sets: Mapping[str, Launches | str]
) -> dict[str, Mapping[str, Any]]:
    """Write the arrays; what the manifest says of each set."""
    directory.mkdir()
    said: dict[str, Mapping[str, Any]] = {}
    for name, launches in sets.items():
        if isinstance(launches, str):
            said[name] = {"absent": launches}
        else:
            np.save(directory / f"{name}.npy", launches, allow_pickle=False)
            said[name] = {"n": len(launches), "wanted": wanted_launches(name) or len(launches)}
    return said
