"""Which visits of MC-MED make a stay, rule by rule with what each leaves.

The rule of the published cohort (105,378 of 118,385 visits) is not known; these are our own, and
docs/decisions/31-mcmed-eligibility.md says why each is there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from edsim.errors import BadInputError
from edsim.sources.mcmed import labels
from edsim.tables.extract import Step

if TYPE_CHECKING:
    import polars as pl

MAX_DAYS = 30
"""A longer visit is a wrong date: the longest that readers of these data report last a week."""

_ALWAYS = (labels.ARRIVAL, labels.TRIAGE, labels.DEPARTURE)


def choose(
    visits: pl.DataFrame, events: pl.DataFrame
) -> tuple[pl.DataFrame, pl.DataFrame, tuple[Step, ...]]:
    """The visits that can be used, their events from arrival to departure, and the steps."""
    import polars as pl

    steps = [_step("visits of visits.csv and their events", visits, events)]
    for rule, condition, note in _clock_rules():
        n_before = visits.height
        visits = visits.filter(condition)
        if rule == _IN_ORDER:
            _refuse_swapped(n_before, visits.height)
        events = events.join(visits.select("visit"), on="visit", how="semi", maintain_order="left")
        steps.append(_step(rule, visits, events, note))
    clocks = visits.select("visit", "arrival", "departure")
    inside = pl.col("time").is_between("arrival", "departure")
    events = events.join(clocks, on="visit", maintain_order="left").filter(inside)
    events = events.drop("arrival", "departure")
    steps.append(_step("events from arrival to departure only", visits, events))
    busy = events.filter(~pl.col("activity").is_in(list(_ALWAYS))).select("visit").unique()
    visits = visits.join(busy, on="visit", how="semi", maintain_order="left")
    events = events.join(busy, on="visit", how="semi", maintain_order="left")
    rule = "an event besides arrival, triage, and departure"
    steps.append(_step(rule, visits, events, "nothing else was recorded of the rest"))
    return visits, events, tuple(steps)


_IN_ORDER = "departure after arrival"


def _clock_rules() -> tuple[tuple[str, pl.Expr, str], ...]:
    """Rule, condition on a visit, and a word on who goes."""
    import polars as pl

    window = ("arrival", "departure")
    return (
        (
            "arrival and departure recorded",
            pl.col("arrival").is_not_null() & pl.col("departure").is_not_null(),
            "",
        ),
        (_IN_ORDER, pl.col("los_minutes") > 0, ""),
        (
            f"departure within {MAX_DAYS} days",
            pl.col("los_minutes") <= MAX_DAYS * 24 * 60,
            "longer is a wrong date",
        ),
        (
            "rooming and decision, where recorded, between arrival and departure",
            pl.col("roomed").is_between(*window).fill_null(True)
            & pl.col("decision").is_between(*window).fill_null(True),
            "the clock of the rest cannot be trusted",
        ),
        ("disposition from the department recorded", pl.col("disposition").is_not_null(), ""),
    )


def _refuse_swapped(n_before: int, n_after: int) -> None:
    """A few visits that end before they begin are the data's; most of them are a mistake."""
    if n_before and n_after < n_before / 2:
        raise BadInputError(
            f"{n_before - n_after} of {n_before} visits of visits.csv do not depart after they "
            "arrive (Departure_time, Arrival_time): are the two columns swapped?"
        )


def _step(rule: str, visits: pl.DataFrame, events: pl.DataFrame, note: str = "") -> Step:
    return Step(
        rule=rule,
        n_stays=visits.height,
        n_subjects=visits["subject_id"].n_unique(),
        n_events=events.height,
        note=note,
    )
