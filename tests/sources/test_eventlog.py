"""What the event-log source makes of good logs, in every form."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from event_logs import ROWS, activities, minutes, read_log, write_csv, write_xes
from polars.testing import assert_frame_equal

from edsim.tables.extract import EVENT_COLUMNS, STAY_COLUMNS


def test_a_case_is_a_stay_from_its_first_to_its_last_event(tmp_path: Path) -> None:
    log = read_log(write_csv(tmp_path / "log.csv"))
    assert log.stays.columns == list(STAY_COLUMNS)
    assert log.events.columns == list(EVENT_COLUMNS)
    assert log.stays["stay_id"].to_list() == ["007", "NA"]
    assert log.stays["subject_id"].to_list() == ["007", "NA"]
    assert log.stays["los_minutes"].to_list() == [30.0, 60.0]
    assert log.stays["period"].to_list() == ["2024 - 2024"] * 2
    assert minutes(log, "NA") == [0.0, 5.5, 5.5, 60.0]
    assert [(s.n_stays, s.n_subjects, s.n_events) for s in log.steps] == [(2, 2, 6)]


def test_a_case_called_na_is_a_case(tmp_path: Path) -> None:
    log = read_log(write_csv(tmp_path / "log.csv"))
    assert activities(log, "NA") == ["arrive", "test", "scan", "leave"]


def test_events_of_one_time_keep_the_order_of_the_file(tmp_path: Path) -> None:
    swapped = [ROWS[0], ROWS[2], ROWS[1], *ROWS[3:]]
    log = read_log(write_csv(tmp_path / "log.csv", swapped))
    assert activities(log, "NA") == ["arrive", "scan", "test", "leave"]


def test_rows_out_of_order_are_put_in_the_order_of_time(tmp_path: Path) -> None:
    rows = [ROWS[3], ROWS[5], ROWS[1], ROWS[0], ROWS[2], ROWS[4]]
    ordered = read_log(write_csv(tmp_path / "a.csv"))
    assert_frame_equal(read_log(write_csv(tmp_path / "b.csv", rows)).events, ordered.events)


@pytest.mark.parametrize("name", ["log.csv.gz", "log.xes", "log.xes.gz", "log.parquet"])
def test_every_form_of_a_log_gives_the_same_frames(tmp_path: Path, name: str) -> None:
    expected = read_log(write_csv(tmp_path / "log.csv"))
    path = tmp_path / name
    if ".xes" in name:
        pytest.importorskip("r4pm")
        write_xes(path)
    elif name.endswith(".parquet"):
        pl.read_csv(tmp_path / "log.csv", infer_schema=False).with_columns(
            pl.col("timestamp").str.to_datetime(time_unit="ns", time_zone="Europe/Berlin")
        ).write_parquet(path)
    else:
        write_csv(path)
    log = read_log(path)
    assert_frame_equal(log.stays, expected.stays)
    assert_frame_equal(log.events, expected.events)
    assert log.events.schema == expected.events.schema


@pytest.mark.parametrize("separator", [";", "\t", "|"])
def test_the_separator_is_seen_from_the_header(tmp_path: Path, separator: str) -> None:
    header = "case_id,activity,timestamp".replace(",", separator)
    log = read_log(write_csv(tmp_path / "log.csv", header=header))
    assert log.events.height == len(ROWS)


def test_a_separator_can_be_named(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "log.csv", header="case_id;activity;timestamp")
    assert read_log(path, separator="semicolon").events.height == len(ROWS)
    assert read_log(path, separator=";").events.height == len(ROWS)


@pytest.mark.parametrize(("end", "encoding"), [("\r\n", "utf-8"), ("\n", "utf-8-sig")])
def test_windows_line_ends_and_byte_order_marks_change_nothing(
    tmp_path: Path, end: str, encoding: str
) -> None:
    expected = read_log(write_csv(tmp_path / "plain.csv"))
    log = read_log(write_csv(tmp_path / "log.csv", end=end, encoding=encoding))
    assert_frame_equal(log.stays, expected.stays)
    assert_frame_equal(log.events, expected.events)


@pytest.mark.parametrize(
    "header",
    [
        "case:concept:name,concept:name,time:timestamp",
        "Case ID,Activity,Complete Timestamp",
        "patient,handling,time",
        "stay_id,activity,timestamps",
        "ocel:type:visit,ocel:activity,ocel:timestamp",
        "CASE_ID,ACTIVITY,TIMESTAMP",
    ],
)
def test_usual_names_are_guessed_and_the_guess_is_told(tmp_path: Path, header: str) -> None:
    log = read_log(write_csv(tmp_path / "log.csv", header=header))
    assert log.events.height == len(ROWS)
    told = [notice for notice in log.notices if "usual names" in notice]
    assert len(told) == 1
    assert all(f"'{column}'" in told[0] for column in header.split(","))
    assert list(log.options["columns"].values()) == header.split(",")


def test_columns_given_by_flag_need_no_guess(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "log.csv", header="x,y,z")
    log = read_log(path, case="x", activity="y", time="z")
    assert log.events.height == len(ROWS)
    assert not any("usual names" in notice for notice in log.notices)


def test_identifiers_that_look_like_numbers_stay_text(tmp_path: Path) -> None:
    rows = [(c, a, t) for c in ("007", "7", "1e3") for _, a, t in ROWS[4:]]
    log = read_log(write_csv(tmp_path / "log.csv", rows))
    assert log.stays["stay_id"].to_list() == ["007", "1e3", "7"]


def test_whole_numbers_of_parquet_are_the_text_that_csv_has(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "case_id": [12, 12, 3],
            "activity": ["a", "b", "a"],
            "timestamp": ["2024-01-01 10:00"] * 3,
            "patient_id": [1.0, 1.0, 2.0],
            "seen": [True, None, False],
        }
    )
    frame.write_parquet(tmp_path / "log.parquet")
    frame.write_csv(tmp_path / "log.csv")
    logs = [read_log(tmp_path / f"log.{form}", detail="seen") for form in ("parquet", "csv")]
    assert logs[0].stays["stay_id"].to_list() == ["12", "3"]
    assert logs[0].stays["subject_id"].to_list() == ["1", "2"]
    assert logs[0].events["detail"].to_list() == ["true", None, "false"]
    assert_frame_equal(logs[0].stays, logs[1].stays)
    assert_frame_equal(logs[0].events, logs[1].events)


def test_attributes_are_the_first_recorded_and_the_disposition_the_last(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "case_id": ["a"] * 3 + ["b"],
            "activity": ["in", "see", "out", "in"],
            "timestamp": [f"2024-01-01 10:0{i}" for i in range(4)],
            "ESI": [None, "3.0", "4.0", "9.0"],
            "years": [70.9, 71.0, None, -1.0],
            "where": ["ward", None, "home", None],
            "who": ["F", "F", "F", "M"],
        }
    )
    frame.write_csv(tmp_path / "log.csv")
    log = read_log(tmp_path / "log.csv", acuity="ESI", age="years", disposition="where", sex="who")
    assert log.stays["acuity"].to_list() == [3, None]
    assert log.stays["age"].to_list() == [70, None]
    assert log.stays["disposition"].to_list() == ["home", None]
    assert log.stays["sex"].to_list() == ["F", "M"]
    assert sum("not a number from" in notice for notice in log.notices) == 2


def test_only_completed_activities_are_events(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "case_id": ["a"] * 5,
            "activity": ["x", "x", "y", "z", "w"],
            "lifecycle:transition": ["start", "COMPLETE", "complete", "schedule", None],
            "timestamp": [f"2024-01-01 10:0{i}" for i in range(5)],
        }
    )
    frame.write_csv(tmp_path / "log.csv")
    log = read_log(tmp_path / "log.csv")
    assert activities(log, "a") == ["x", "y", "w"]
    assert minutes(log, "a") == [0.0, 1.0, 3.0]
    assert [step.n_events for step in log.steps] == [5, 3]
    assert any("2 of 5 rows" in n and "1 activities do not occur" in n for n in log.notices)
    assert read_log(tmp_path / "log.csv", transitions=("all",)).events.height == 5
    started = read_log(tmp_path / "log.csv", transitions=("start", "schedule"))
    assert activities(started, "a") == ["x", "z", "w"]


def test_patients_of_several_cases_are_found(tmp_path: Path) -> None:
    rows = [(f"{case},p{case[-1]}", a, t) for case in ("11", "21", "32") for _, a, t in ROWS[4:]]
    path = write_csv(tmp_path / "log.csv", rows, header="case_id,subject_id,activity,timestamp")
    log = read_log(path)
    assert log.stays["subject_id"].to_list() == ["p1", "p1", "p2"]
    assert log.steps[0].n_subjects == 2


def test_discharges_are_handed_on(tmp_path: Path) -> None:
    log = read_log(write_csv(tmp_path / "log.csv"), discharge=("leave", "leave"))
    assert log.discharges == ("leave",)
    assert log.cap is None
    assert log.triage_activity is None


def test_a_log_of_500_activities_and_very_long_names_is_read(tmp_path: Path) -> None:
    rows = [("a" * 5000, f"{'activity' * 100} {i}", "2024-01-01 10:00") for i in range(500)]
    log = read_log(write_csv(tmp_path / "log.csv", rows))
    assert log.events["activity"].n_unique() == 500
    assert activities(log, "a" * 5000) == [row[1] for row in rows]


def test_too_many_activities_are_doubted(tmp_path: Path) -> None:
    rows = [("a", f"{i}", "2024-01-01 10:00") for i in range(1001)]
    assert any("1001 different" in n for n in read_log(write_csv(tmp_path / "l.csv", rows)).notices)


def test_a_case_of_100_000_events_is_read(tmp_path: Path) -> None:
    rows = [("a", "x", "2024-01-01 10:00")] * 100_000
    assert read_log(write_csv(tmp_path / "log.csv", rows)).events.height == 100_000


def test_the_sepsis_log_is_the_same_from_csv_and_from_xes(open_data: Path) -> None:
    pytest.importorskip("r4pm")
    folder = open_data / "sepsis-cases"
    flags = {"age": "Age", "detail": "org:group", "flag": "Leucocytes", "sex": "InfectionSuspected"}
    csv = read_log(folder / "sepsis_cases.csv.gz", **flags)
    xes = read_log(folder / "sepsis_cases_event_log.xes.gz", **flags)
    assert (csv.stays.height, csv.events.height) == (1050, 15214)
    assert csv.events["activity"].n_unique() == 16
    assert len(activities(csv, "NA")) == 24
    assert csv.stays["age"].null_count() < 100
    assert csv.events["flag"].drop_nulls().is_in(["9.6", "13.0"]).sum() > 0
    assert_frame_equal(csv.stays, xes.stays)
    assert_frame_equal(csv.events, xes.events)
    assert csv.events.schema == xes.events.schema
    assert csv.options == xes.options


def test_other_open_logs_are_read(open_data: Path) -> None:
    bupar = read_log(open_data / "eventdatar-patients-synthetic" / "patients.csv.gz")
    assert (bupar.stays.height, bupar.events.height) == (500, 2721)
    orders = read_log(
        open_data / "mimic-iv-demo-2.2-hosp" / "derived_ed_events.csv.gz",
        case="transfer_id",
        activity="kind",
        detail="group",
        discharge=("departure",),
    )
    assert (orders.stays.height, orders.events.height) == (236, 26202)
    assert orders.stays["subject_id"].n_unique() == 68
