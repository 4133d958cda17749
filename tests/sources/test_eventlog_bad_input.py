"""Every way an event log can be wrong has one message, which shows nothing of its rows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from event_logs import ROWS, read_log, write_csv

from edsim.errors import BadInputError

CONTENT = ("arrive", "2024", "007")
"""Pieces of the rows that no message may hold."""


def refusal(path: Path, **flags: object) -> str:
    """The one message a log is refused with."""
    with pytest.raises(BadInputError) as caught:
        read_log(path, **flags)
    message = str(caught.value)
    assert not any(piece in message for piece in CONTENT), message
    assert path.name in message or "column" in message or "--" in message
    return message


def test_a_missing_file(tmp_path: Path) -> None:
    for name in ("log.csv", "log.parquet", "log"):
        assert "no file" in refusal(tmp_path / name)


def test_a_folder(tmp_path: Path) -> None:
    assert "is a folder" in refusal(tmp_path)


def test_a_column_that_is_not_there(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "log.csv")
    message = refusal(path, case="visit")
    assert "no column 'visit', which --case names" in message
    assert "'case_id', 'activity', 'timestamp'" in message
    assert "--chief-complaint names" in refusal(path, chief_complaint="why")


@pytest.mark.parametrize(
    ("header", "flag"),
    [("x,activity,time", "case"), ("case,x,time", "activity"), ("case,task,x", "time")],
)
def test_no_usual_name(tmp_path: Path, header: str, flag: str) -> None:
    message = refusal(write_csv(tmp_path / "log.csv", header=header))
    assert f"usual name for the {flag}" in message
    assert f"--{flag}" in message
    assert "'x'" in message


def test_two_usual_names(tmp_path: Path) -> None:
    rows = [(f"{case},{case}", activity, time) for case, activity, time in ROWS]
    path = write_csv(tmp_path / "log.csv", rows, header="case_id,Case,activity,time")
    assert "2 columns that could be the case: 'case_id', 'Case'" in refusal(path)
    assert read_log(path, case="Case").stays.height == 2


def test_the_same_column_twice(tmp_path: Path) -> None:
    rows = [(f"{case},{case}", activity, time) for case, activity, time in ROWS]
    path = write_csv(tmp_path / "log.csv", rows, header="case_id,case_id,activity,time")
    assert "more than once" in refusal(path, case="case_id")


def test_a_file_without_a_header_shows_no_data(tmp_path: Path) -> None:
    message = refusal(write_csv(tmp_path / "log.csv", ROWS[1:], header=",".join(ROWS[0])))
    assert "seems to hold data" in message
    assert "NA" not in message


@pytest.mark.parametrize("time", ["2024-03-01 10:00", "03/01/24", "Mar 1, 9:05 pm", "170936"])
def test_a_first_row_of_data_is_known_by_its_time(tmp_path: Path, time: str) -> None:
    path = write_csv(tmp_path / "log.csv", [], header=f'Miller,walk in,"{time}"')
    path.write_text(path.read_text() * 3)
    assert "Miller" not in refusal(path)


@pytest.mark.parametrize("content", ['{"events": [{"case": "Miller"}]}', '[{"case": "Miller"}]'])
def test_json_is_not_shown(tmp_path: Path, content: str) -> None:
    path = tmp_path / "log.csv"
    path.write_text(content)
    assert "is JSON" in refusal(path)


def test_a_wrong_separator(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "log.csv", header="case_id;activity;timestamp")
    assert "no column" in refusal(path, separator="comma")
    assert "--separator is one of comma" in refusal(path, separator="space")


def test_latin_1(tmp_path: Path) -> None:
    rows = [("a", "Entlaß", "2024-01-01 10:00")]
    assert "not UTF-8" in refusal(write_csv(tmp_path / "log.csv", rows, encoding="latin-1"))


def test_truncated_gzip(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "log.csv.gz", [(f"{i}", "x", "2024-01-01") for i in range(9999)])
    path.write_bytes(path.read_bytes()[:-2000])
    assert "cut short" in refusal(path)


def test_damaged_gzip(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "log.csv.gz", [(f"{i}", "x", "2024-01-01") for i in range(9999)])
    content = bytearray(path.read_bytes())
    content[3000:3100] = bytes(100)
    path.write_bytes(content)
    assert "damaged" in refusal(path)


def test_an_empty_file_and_one_with_a_header_only(tmp_path: Path) -> None:
    empty = tmp_path / "log.csv"
    empty.touch()
    assert "is empty" in refusal(empty)
    assert "no rows" in refusal(write_csv(tmp_path / "header.csv", []))
    pl.DataFrame(schema={"case": pl.String, "activity": pl.String, "time": pl.Date}).write_parquet(
        tmp_path / "log.parquet"
    )
    assert "no events" in refusal(tmp_path / "log.parquet")


def test_rows_with_too_many_fields(tmp_path: Path) -> None:
    rows = [*ROWS, ("a", "x,y", "2024-01-01")]
    assert "data row 7" in refusal(write_csv(tmp_path / "log.csv", rows))


@pytest.mark.parametrize(("place", "role"), [(0, "case"), (1, "activity")])
@pytest.mark.parametrize("blank", ["", "  "])
def test_missing_cases_and_activities(tmp_path: Path, place: int, role: str, blank: str) -> None:
    rows = list(ROWS)
    for i in (2, 4):
        rows[i] = tuple(blank if j == place else field for j, field in enumerate(ROWS[i]))  # type: ignore[assignment]
    message = refusal(write_csv(tmp_path / "log.csv", rows))
    assert f"2 of 6 events have no {role}" in message
    assert "first in data row 3" in message


def test_a_case_of_two_patients_or_of_none(tmp_path: Path) -> None:
    header = "case,patient_id,activity,time"
    two = [(f"{case},{time[-8]}{i}", a, time) for i, (case, a, time) in enumerate(ROWS)]
    assert "2 of 2 cases have several patients" in refusal(
        write_csv(tmp_path / "two.csv", two, header=header)
    )
    none = [(f"{case},{'' if case == 'NA' else 1}", a, time) for case, a, time in ROWS]
    assert "1 of 2 cases have no patient" in refusal(
        write_csv(tmp_path / "none.csv", none, header=header)
    )


def test_a_discharge_that_does_not_occur(tmp_path: Path) -> None:
    message = refusal(write_csv(tmp_path / "log.csv"), discharge=("leave", "Leave", "go home"))
    assert "no activity 'Leave', 'go home'" in message


def test_no_row_with_the_wanted_transition(tmp_path: Path) -> None:
    rows = [(case, f"{activity},start", time) for case, activity, time in ROWS]
    path = write_csv(tmp_path / "log.csv", rows, header="case,activity,lifecycle,time")
    assert "--transitions" in refusal(path)


def test_an_excel_workbook(tmp_path: Path) -> None:
    path = tmp_path / "log.xlsx"
    path.write_bytes(b"PK\x03\x04" + b"\x00" * 100)
    assert "Excel" in refusal(path)


@pytest.mark.parametrize("spoil", [lambda b: b[:-100], lambda b: b"case,activity", lambda b: b[:9]])
def test_parquet_that_is_not_parquet(tmp_path: Path, spoil: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "log.parquet"
    pl.DataFrame({"case": ["arrive"], "activity": ["x"], "time": ["2024-01-01"]}).write_parquet(
        path
    )
    path.write_bytes(spoil(path.read_bytes()))
    assert "cannot be read as Parquet" in refusal(path)


def test_nested_columns_are_refused_only_where_they_are_wanted(tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    frame = {"case": ["a"], "activity": ["x"], "time": ["2024-01-01"], "all": [["p", "q"]]}
    pl.DataFrame(frame).write_parquet(path)
    assert read_log(path).events.height == 1
    assert "holds lists" in refusal(path, detail="all")
