"""Stays are numbered by id as text, minutes are the same everywhere, order is decided once."""

from __future__ import annotations

from datetime import datetime, timedelta

import polars as pl
import pytest

from edsim.errors import BadInputError
from edsim.sources.assemble import in_minutes, number_stays, order_events, stay_numbers
from edsim.tables.extract import EVENT_COLUMNS, STAY_COLUMNS

START = datetime(2150, 3, 4, 9)


def stays(*ids: str | None) -> pl.DataFrame:
    return pl.DataFrame(
        {"stay_id": ids, "subject_id": ids, "arrival": [START] * len(ids)},
        {"stay_id": pl.String, "subject_id": pl.String, "arrival": pl.Datetime("us")},
    )


def events(*rows: tuple[str, int, str]) -> pl.DataFrame:
    frame = pl.DataFrame(rows, ["stay_id", "seconds", "activity"], orient="row")
    return frame.select(
        "stay_id",
        "activity",
        time=pl.lit(START).cast(pl.Datetime("us")) + pl.duration(seconds="seconds"),
        detail=pl.lit(None, pl.String),
        flag=pl.lit(None, pl.String),
    )


def test_stays_are_sorted_as_text_and_have_every_column() -> None:
    numbered = number_stays(stays("9", "10", "NA", "00010"), name="made up")
    assert numbered["stay_id"].to_list() == ["00010", "10", "9", "NA"]
    assert tuple(numbered.columns) == STAY_COLUMNS


def test_a_stay_that_comes_twice_or_has_no_id_is_refused() -> None:
    with pytest.raises(BadInputError, match="holds 1 stays more than once, first in data row 2"):
        number_stays(stays("9", "10", "10"), name="made up")
    with pytest.raises(BadInputError, match="1 of 2 rows of made up have no stay id"):
        number_stays(stays("9", None), name="made up")


def test_ids_that_look_alike_have_numbers_of_their_own() -> None:
    known = pl.Series(["00012", "12", "12.0", "1e5"])
    ids = pl.Series(["1e5", "12", "100000", "00012", None])
    assert stay_numbers(ids, known).to_list() == [3, 1, None, 0, None]


def test_events_are_ordered_by_stay_time_ties_and_then_as_given() -> None:
    known = number_stays(stays("b", "a"), name="made up")
    given = events(("b", 60, "y"), ("a", 60, "z"), ("b", 60, "x"), ("b", -30, "q"), ("b", 60, "x"))
    kept = order_events(given, known, ties=(), name="made up")
    assert tuple(kept.columns) == EVENT_COLUMNS
    assert kept.select("stay", "minutes", "activity").rows() == [
        (0, 1.0, "z"),
        (1, -0.5, "q"),
        (1, 1.0, "y"),
        (1, 1.0, "x"),
        (1, 1.0, "x"),
    ]
    tied = order_events(given, known, ties=("activity",), name="made up")
    assert tied["activity"].to_list() == ["z", "q", "x", "x", "y"]


def test_an_event_of_an_unknown_stay_is_refused() -> None:
    known = number_stays(stays("a"), name="made up")
    with pytest.raises(BadInputError, match=r"1 of 2 events of the log .* first in row 2"):
        order_events(events(("a", 0, "x"), ("A", 0, "x")), known, ties=(), name="the log")


def test_minutes_are_microseconds_divided_once() -> None:
    spans = [timedelta(seconds=s, microseconds=m) for s in range(-200, 15_000, 7) for m in (0, 1)]
    whole = [round(span / timedelta(microseconds=1)) for span in spans]
    frame = pl.DataFrame({"span": [*whole, None]})
    minutes = frame.select(in_minutes(pl.col("span")))["span"].to_list()
    assert minutes == [*(w / 60_000_000 for w in whole), None]
