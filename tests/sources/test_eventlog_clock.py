"""Times of an event log: offsets, zones, formats, and what cannot be a time."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import polars as pl
import pytest
from event_logs import minutes, read_log, write_csv, write_xes

from edsim.errors import BadInputError


def one_case(*times: str) -> list[tuple[str, str, str]]:
    return [("a", "x", time) for time in times]


@pytest.mark.parametrize(
    "written",
    [
        "2024-03-01T09:00:00Z",
        "2024-03-01 10:00:00+01:00",
        "2024-03-01T10:00:00.000+0100",
        "2024-03-01T03:30:00.000000-05:30",
        "2024-03-01 10:00+01:00",
        "2024-03-01 10:00:00,000 +01:00",
        "2024-03-01 10:00:00+01",
        "2024-03-01 09:00:00 UTC",
    ],
)
def test_a_time_with_an_offset_becomes_utc(tmp_path: Path, written: str) -> None:
    log = read_log(write_csv(tmp_path / "log.csv", one_case(written), header="case;activity;time"))
    assert log.stays["arrival"].to_list() == [datetime(2024, 3, 1, 9)]
    assert not log.time_of_day


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("2024-03-01", datetime(2024, 3, 1)),
        ("2024-03-01 10:00", datetime(2024, 3, 1, 10)),
        ("2180-03-01T10:00:00.5", datetime(2180, 3, 1, 10, 0, 0, 500_000)),
        ("2024-03-01 10:00:00.123456789", datetime(2024, 3, 1, 10, 0, 0, 123_456)),
    ],
)
def test_a_time_without_an_offset_is_taken_as_it_is(
    tmp_path: Path, written: str, read: datetime
) -> None:
    log = read_log(write_csv(tmp_path / "log.csv", one_case(written)))
    assert log.stays["arrival"].to_list() == [read]
    assert not log.time_of_day
    assert any("unreliable" in notice for notice in log.notices)


def test_a_timezone_gives_arrival_its_local_clock_and_leaves_minutes_alone(tmp_path: Path) -> None:
    rows = one_case("2024-03-31T00:30:00Z", "2024-03-31T01:30:00Z")
    log = read_log(write_csv(tmp_path / "log.csv", rows), timezone="Europe/Amsterdam")
    assert log.time_of_day
    assert log.stays["arrival"].to_list() == [datetime(2024, 3, 31, 1, 30)]
    assert minutes(log, "a") == [0.0, 60.0]  # the wall clock shows 1:30 and 3:30
    assert log.stays["los_minutes"].to_list() == [60.0]


def test_wall_clock_times_of_a_timezone_know_summer_time(tmp_path: Path) -> None:
    rows = one_case("2024-03-31 01:30:00", "2024-03-31 03:30:00")
    path = write_csv(tmp_path / "log.csv", rows)
    assert minutes(read_log(path, timezone="Europe/Amsterdam"), "a") == [0.0, 60.0]
    assert minutes(read_log(path, timezone="UTC"), "a") == [0.0, 120.0]
    assert minutes(read_log(path), "a") == [0.0, 120.0]


def test_the_period_is_the_local_year_of_arrival(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "log.csv", one_case("2023-12-31T23:30:00Z"))
    assert read_log(path).stays["period"].to_list() == ["2023 - 2023"]
    local = read_log(path, timezone="Europe/Amsterdam")
    assert local.stays["period"].to_list() == ["2024 - 2024"]


def test_a_format_can_be_given(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "log.csv", one_case("02.01.2024 10:30", "03.01.2024 10:30"))
    log = read_log(path, time_format="%d.%m.%Y %H:%M")
    assert log.stays["arrival"].to_list() == [datetime(2024, 1, 2, 10, 30)]
    days = write_csv(tmp_path / "days.csv", one_case("02.01.2024"))
    assert read_log(days, time_format="%d.%m.%Y").stays["arrival"].to_list() == [
        datetime(2024, 1, 2)
    ]
    zoned = write_csv(tmp_path / "zoned.csv", one_case("02.01.2024 10:30 +0100"))
    assert read_log(zoned, time_format="%d.%m.%Y %H:%M %z").stays["arrival"].to_list() == [
        datetime(2024, 1, 2, 9, 30)
    ]


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        ({"timezone": "Mars/Olympus"}, "no time zone 'Mars/Olympus'"),
        ({"timezone": ""}, "no time zone ''"),
        ({"time_format": "%d.%m.%Y %H"}, "--time-format cannot be used"),
        ({"time_format": "%d/%m/%Y %H:%M"}, "2 of 2 times"),
    ],
)
def test_flags_that_do_not_fit_are_refused(
    tmp_path: Path, flags: dict[str, str], says: str
) -> None:
    rows = one_case("2024-01-02 10:30", "2024-01-02 10:31")
    with pytest.raises(BadInputError, match=says):
        read_log(write_csv(tmp_path / "log.csv", rows), **flags)


@pytest.mark.parametrize(
    "impossible",
    [
        "2024-13-01 10:00",
        "2024-02-30",
        "24-01-01",
        "2024-01-01 25:00",
        "2024-01-01 10:00:60",
        "2024-01-01 10:00+99:99",
        "noon",
        "  ",
    ],
)
def test_times_that_cannot_be_read_are_counted_and_not_shown(
    tmp_path: Path, impossible: str
) -> None:
    rows = one_case("2024-01-01 10:00", impossible, impossible, "2024-01-01 10:00")
    with pytest.raises(BadInputError, match=r"2 of 4 .*first in data row 2") as caught:
        read_log(write_csv(tmp_path / "log.csv", rows))
    assert impossible not in str(caught.value) or not impossible.strip()


@pytest.mark.parametrize("form", ["csv", "xes", "parquet"])
@pytest.mark.parametrize("year", [1, 1899, 9999])
def test_times_that_stand_for_unknown_ones_are_refused(
    tmp_path: Path, form: str, year: int
) -> None:
    rows = one_case("2024-01-01 10:00:00", f"{year:04}-12-31 10:00:00")
    if form == "parquet":
        log = tmp_path / "log.parquet"
        pl.read_csv(write_csv(tmp_path / "log.csv", rows), try_parse_dates=True).write_parquet(log)
    else:
        log = (write_xes if form == "xes" else write_csv)(tmp_path / f"log.{form}", rows)
    with pytest.raises(BadInputError, match=r"1 of 2 times .* do not lie between 1900 and 2300"):
        read_log(log)


def test_missing_times_are_counted(tmp_path: Path) -> None:
    rows = one_case("2024-01-01 10:00", "", "2024-01-01 10:00")
    with pytest.raises(BadInputError, match=r"1 of 3 events have no time .*first in data row 2"):
        read_log(write_csv(tmp_path / "log.csv", rows))


@pytest.mark.parametrize("form", ["csv", "xes"])
def test_offsets_on_some_times_only_are_refused(tmp_path: Path, form: str) -> None:
    rows = one_case("2024-01-01 10:00:00+01:00", "2024-01-01 10:00:00", "2024-01-01 10:00:00Z")
    if form == "xes":
        pytest.importorskip("r4pm")
    write = write_xes if form == "xes" else write_csv
    where = "" if form == "xes" else ", first in data row 1, and the others do not, .* row 2:"
    with pytest.raises(BadInputError, match=f"2 of 3 times .* carry an offset from UTC{where}"):
        read_log(write(tmp_path / f"log.{form}", rows))


def test_an_hour_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    rows = one_case("2024-03-31 01:30:00", "2024-03-31 02:30:00")
    path = write_csv(tmp_path / "log.csv", rows)
    with pytest.raises(BadInputError, match=r"1 of 2 times .* summer time .* data row 2"):
        read_log(path, timezone="Europe/Amsterdam")


def test_a_number_is_not_a_time(tmp_path: Path) -> None:
    frame = pl.DataFrame({"case_id": ["a"], "activity": ["x"], "timestamp": [1704103200]})
    frame.write_parquet(tmp_path / "log.parquet")
    with pytest.raises(BadInputError, match="holds Int64, which is not a time"):
        read_log(tmp_path / "log.parquet")


@pytest.mark.parametrize("kind", [pl.Date, pl.Datetime("ms"), pl.Datetime("ns"), pl.Categorical])
def test_dates_timestamps_and_categories_of_parquet_are_times(
    tmp_path: Path, kind: pl.DataType
) -> None:
    times = pl.Series(["2024-01-02"])
    written = times if kind == pl.Categorical else times.str.to_date()
    pl.DataFrame(
        {"case_id": ["a"], "activity": ["x"], "timestamp": written.cast(kind)}
    ).write_parquet(tmp_path / "log.parquet")
    found = read_log(tmp_path / "log.parquet")
    assert found.stays["arrival"].to_list() == [datetime(2024, 1, 2)]
