"""A source that breaks the contract is told what it broke, and nothing is written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from edsim.cohort.contract import check_extract
from edsim.errors import BadTableError
from edsim.lab.build import build_cohort
from edsim.progress import silent
from edsim.sources.synthetic import SOURCE, SyntheticOptions
from edsim.tables.extract import Extract

Change = Callable[[Extract], Extract]


@pytest.fixture(scope="module")
def healthy() -> Extract:
    return SOURCE.read(SyntheticOptions(stays=60), silent)


def stays(**columns: pl.Expr) -> Change:
    return lambda extract: replace(extract, stays=extract.stays.with_columns(**columns))


def events(**columns: pl.Expr) -> Change:
    return lambda extract: replace(extract, events=extract.events.with_columns(**columns))


def in_row(row: int, value: object, otherwise: str) -> pl.Expr:
    """The column, with another value in one row."""
    return pl.when(pl.int_range(pl.len()) == row).then(pl.lit(value)).otherwise(pl.col(otherwise))


BROKEN: dict[str, tuple[Change, str]] = {
    "a column of the stays is missing": (
        lambda extract: replace(extract, stays=extract.stays.drop("arrival")),
        "stays table has no column arrival",
    ),
    "a column of the events is missing": (
        lambda extract: replace(extract, events=extract.events.drop("flag")),
        "events table has no column flag",
    ),
    "nobody is left": (
        lambda extract: replace(extract, stays=extract.stays.head(0), events=extract.events.head(0)),
        "no stay is left",
    ),
    "a stay without subject": (stays(subject_id=in_row(3, None, "subject_id")), "1 of 60 stays have no subject_id"),
    "stays in another order": (
        lambda extract: replace(extract, stays=extract.stays.reverse()),
        "not sorted by stay_id",
    ),
    "a stay twice": (stays(stay_id=pl.col("stay_id").first()), "hold one twice"),
    "a stay of negative length": (stays(los_minutes=in_row(3, -1.0, "los_minutes")), "1 of 60 stays have a negative"),
    "a stay of no finite length": (stays(los_minutes=in_row(3, float("nan"), "los_minutes")), "non-finite"),
    "a split of its own": (stays(split=pl.lit("holdout")), "60 of 60 stays name a split other than"),
    "an event without activity": (events(activity=in_row(5, None, "activity")), "1 events have no activity"),
    "an event of nobody": (events(stay=pl.col("stay") + 1), "not among the stays"),
    "events in another order": (
        lambda extract: replace(extract, events=extract.events.sort("stay", descending=True)),
        "not sorted by stay",
    ),
    "a stay without events": (
        lambda extract: replace(extract, events=extract.events.filter(pl.col("stay") != 7)),
        "1 of 60 stays have no event",
    ),
    "an event at no time": (events(minutes=in_row(5, float("inf"), "minutes")), "1 events have no finite time"),
    "time that runs backwards": (events(minutes=in_row(1, -5e5, "minutes")), "1 of"),
}  # fmt: skip


def test_a_healthy_extract_passes(healthy: Extract) -> None:
    check_extract(healthy)


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_extract_is_refused_by_what_it_broke(healthy: Extract, what: str) -> None:
    change, expected = BROKEN[what]
    with pytest.raises(BadTableError) as caught:
        check_extract(change(healthy))
    assert expected in str(caught.value)
    assert healthy.stays["stay_id"][3] not in str(caught.value)


def test_nothing_is_written_of_a_broken_extract(healthy: Extract, tmp_path: Path) -> None:
    broken = BROKEN["a stay twice"][0](healthy)
    source = replace(SOURCE, read=lambda options, progress: broken)
    with pytest.raises(BadTableError):
        build_cohort(source, SyntheticOptions(stays=60), tmp_path / "C")
    assert list(tmp_path.iterdir()) == []
