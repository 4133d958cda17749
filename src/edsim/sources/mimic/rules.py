"""The rules of MIMICEL 2.1.0, each with its count.

Both routes go through them. In the released file they find nothing, since it was made by them; in a
file of an older release, or one put together otherwise, they leave the log that the tables would
give, and a notice says how much was left out.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from edsim.sources.mimic.log import Log, step
from edsim.sources.mimic.values import (
    DISCHARGE,
    DISPENSATION,
    ENTER,
    RECONCILIATION,
    TRIAGE,
    VITAL,
    activity_type,
)
from edsim.tables.extract import Step

if TYPE_CHECKING:
    import polars as pl


def apply_rules(log: Log, *, deduplicate: bool) -> Log:
    """The log as MIMICEL has it, with a step for every rule."""
    log = _leave_out_late_rows(_leave_out_impossible_stays(log))
    stays, events = log.stays, log.events
    steps = [_early_rows_stay(stays, events), _discharge_rows(log)]
    n_untriaged = stays.height - int((events["activity"] == TRIAGE).sum())
    if n_untriaged:
        log.notices.append(f"{n_untriaged} of {stays.height} stays have no triage row.")
    if deduplicate:
        events = events.unique(["stay", "time", "activity"], keep="first", maintain_order=True)
        rule = "rows that repeat stay, time and activity are left out"
    else:
        rule = "rows that repeat stay, time and activity are kept"
    steps.append(step(rule, stays, events.height))
    return replace(log, events=events, steps=(*log.steps, *steps))


def _leave_out_impossible_stays(log: Log) -> Log:
    """Rule 3: a stay that ends before it begins, or at once, is no stay."""
    import polars as pl

    keep = log.stays["arrival"] < log.stays["departure"]
    n_out = int((~keep).sum())
    stays, events = log.stays, log.events
    if n_out:
        stays = stays.filter(keep)
        number = pl.select(pl.when(keep).then(keep.cum_sum() - 1)).to_series().cast(pl.UInt32)
        events = events.with_columns(stay=number.gather(events["stay"])).drop_nulls("stay")
        log.notices.append(
            f"{n_out} of {log.stays.height} stays depart at or before their arrival: left out."
        )
    found = step("stays that depart after they arrive", stays, events.height)
    return replace(log, stays=stays, events=events, steps=(*log.steps, found))


def _leave_out_late_rows(log: Log) -> Log:
    """Rule 1: checks and medicines at or after departure go, so that discharge ends each stay."""
    import polars as pl

    events = log.events
    departure = log.stays["departure"].gather(events["stay"])
    movable = pl.lit([VITAL, RECONCILIATION, DISPENSATION], dtype=pl.List(activity_type()))
    late = pl.col("activity").is_in(movable) & (pl.col("time") >= departure)
    kept = events.filter(~late)
    n_out = events.height - kept.height
    if n_out and log.is_release:
        log.notices.append(
            f"{n_out} checks and medicine rows lie at or after departure, which MIMICEL 2.1.0 does "
            "not have: left out. Is the log of an older release?"
        )
    found = step("checks and medicine rows before departure", log.stays, kept.height)
    return replace(log, events=kept, steps=(*log.steps, found))


def _early_rows_stay(stays: pl.DataFrame, events: pl.DataFrame) -> Step:
    """Rule 2: what was written down at or before arrival is part of the log."""
    early = (events["time"] <= stays["arrival"].gather(events["stay"])) & (
        events["activity"] != ENTER
    )
    note = f"{int(early.sum()):,} rows"
    return step("rows at or before arrival are kept", stays, events.height, note)


def _discharge_rows(log: Log) -> Step:
    """Rule 4: discharge is written once a diagnosis code, and once where there is none."""
    n_rows = int((log.events["activity"] == DISCHARGE).sum())
    rule = "a discharge row for each diagnosis code, one where there is none"
    return step(rule, log.stays, log.events.height, f"{n_rows:,} rows")
