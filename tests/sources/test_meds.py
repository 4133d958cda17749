"""MEDS datasets of others: what is a visit, what is an event, and what is left out."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from edsim.errors import BadInputError
from edsim.progress import silent
from edsim.sources.meds import SOURCE, MedsOptions
from edsim.tables.extract import EVENT_COLUMNS, STAY_COLUMNS, Extract

SCHEMA = {
    "subject_id": pl.Int64,
    "time": pl.Datetime("us"),
    "code": pl.String,
    "text_value": pl.String,
    "stay_id": pl.Int64,
}
Row = tuple[int | None, datetime | None, str | None, str | None, int | None]


def at(hour: int, minute: int = 0, year: int = 2150) -> datetime:
    return datetime(year, 5, 1, hour, minute)


ROWS: list[Row] = [
    (7, None, "GENDER//F", None, None),
    (7, at(3, year=2100), "MEDS_BIRTH", None, None),
    (7, at(10), "ED_REGISTRATION", "AMBULANCE", 70),
    (7, at(10, 5), "LAB//HGB//low", None, 70),
    (7, at(10, 30), "LAB//HGB", None, None),
    (7, at(11), "ED_OUT", "HOME", 70),
    (7, at(20), "ED_REGISTRATION", "WALK IN", 8),
    (7, at(23), "MEDS_DEATH", None, 8),
]
MORE: list[Row] = [(9, at(1), "ED_REGISTRATION", None, 9), (9, at(1), "ED_OUT", "HOME", 9)]


def dataset(folder: Path, *shards: list[Row], schema: dict[str, Any] | None = None) -> Path:
    """A dataset of these files."""
    (folder / "data").mkdir(parents=True, exist_ok=True)
    for i, rows in enumerate(shards):
        frame = pl.DataFrame(rows, schema=SCHEMA, orient="row")
        frame.cast(schema or {}).write_parquet(folder / "data" / f"{i}.parquet")
    return folder


def read(directory: Path, **flags: Any) -> Extract:
    return SOURCE.read(MedsOptions(directory=directory, **flags), silent)


def refusal(directory: Path, **flags: Any) -> str:
    with pytest.raises(BadInputError) as caught:
        read(directory, **flags)
    message = str(caught.value)
    assert not any(piece in message for piece in ("AMBULANCE", "HGB", "2150"))
    return message


def texts(extract: Extract) -> list[tuple[Any, ...]]:
    columns = [pl.col(c).cast(pl.String) for c in ("activity", "detail", "flag")]
    return extract.events.select("stay", "minutes", *columns).rows()


def test_a_visit_is_a_stay_and_a_code_an_activity_with_detail(tmp_path: Path) -> None:
    found = read(dataset(tmp_path, ROWS, MORE))
    assert found.stays.columns == list(STAY_COLUMNS)
    assert found.events.columns == list(EVENT_COLUMNS)
    assert found.stays["stay_id"].to_list() == ["70", "8", "9"]
    assert found.stays["subject_id"].to_list() == ["7", "7", "9"]
    assert found.stays["arrival"].to_list() == [at(10), at(20), at(1)]
    assert found.stays["los_minutes"].to_list() == [60.0, 0.0, 0.0]
    assert found.stays["period"].to_list() == ["2150 - 2150"] * 3
    assert texts(found) == [
        (0, 0.0, "ED_REGISTRATION", None, None),
        (0, 5.0, "LAB", "HGB//low", None),
        (0, 60.0, "ED_OUT", None, None),
        (1, 0.0, "ED_REGISTRATION", None, None),
        (2, 0.0, "ED_REGISTRATION", None, None),
        (2, 0.0, "ED_OUT", None, None),
    ]
    assert not found.time_of_day


def test_what_is_no_event_of_a_visit_is_left_out_and_counted(tmp_path: Path) -> None:
    steps = read(dataset(tmp_path, ROWS, MORE)).steps
    assert [(s.n_stays, s.n_subjects, s.n_events) for s in steps] == [(3, 2, 10), (3, 2, 6)]
    assert (
        steps[1].note
        == "left out: 1 rows without a time, 1 rows without a visit, 2 rows of birth or death"
    )


def test_sex_and_age_come_from_the_usual_codes(tmp_path: Path) -> None:
    stays = read(dataset(tmp_path, ROWS, MORE)).stays
    assert stays["sex"].to_list() == ["F", "F", None]
    assert stays["age"].to_list() == [50, 50, None]


def test_a_subject_can_be_a_visit(tmp_path: Path) -> None:
    found = read(dataset(tmp_path, ROWS, MORE), subject_is_visit=True)
    assert found.stays["stay_id"].to_list() == ["7", "9"]
    assert found.events["stay"].to_list() == [0] * 5 + [1] * 2


def test_detail_and_flag_can_be_columns(tmp_path: Path) -> None:
    found = read(dataset(tmp_path, MORE), detail="text_value", flag="code", discharge=("ED_OUT",))
    assert texts(found)[1] == (0, 0.0, "ED_OUT", "HOME", "ED_OUT")
    assert found.discharges == ("ED_OUT",)


def test_rows_of_a_subject_need_no_order(tmp_path: Path) -> None:
    found = read(dataset(tmp_path, ROWS[::-1]))
    assert [row[1] for row in texts(found)] == [0.0, 5.0, 60.0, 0.0]


def test_splits_are_taken_over(tmp_path: Path) -> None:
    path = dataset(tmp_path, ROWS, MORE)
    (path / "metadata").mkdir()
    splits = pl.DataFrame({"subject_id": [7, 9], "split": ["tuning", "fold 3"]})
    splits.write_parquet(path / "metadata/subject_splits.parquet")
    found = read(path)
    assert found.stays["split"].to_list() == ["val", "val", None]
    assert any("1 of 3 visits are in no part" in notice for notice in found.notices)


def test_many_shards_in_folders_are_read(tmp_path: Path) -> None:
    for i in range(60):
        rows = [(i, at(1), "A", None, 1000 - i), (i, at(2), "B", None, 1000 - i)]
        dataset(tmp_path / "part", rows)
        target = tmp_path / "all" / "data" / f"p{i % 7}" / f"{i}.parquet"
        target.parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "part/data/0.parquet").rename(target)
    found = read(tmp_path / "all")
    assert found.stays["stay_id"].to_list() == sorted(str(1000 - i) for i in range(60))
    subjects = dict(zip(found.stays["stay_id"], found.stays["subject_id"], strict=True))
    assert subjects["960"] == "40"
    assert texts(found)[:2] == [(0, 0.0, "A", None, None), (0, 60.0, "B", None, None)]
    assert len(found.raw_files) == 60


@pytest.mark.parametrize("what", ["nothing", "no data", "no files"])
def test_folders_that_are_no_dataset(tmp_path: Path, what: str) -> None:
    path = tmp_path / "m"
    says = "no folder at"
    if what != "nothing":
        path.mkdir()
        says = "no folder data"
    if what == "no files":
        (path / "data").mkdir()
        says = "no Parquet file"
    assert says in refusal(path)


@pytest.mark.parametrize(
    ("schema", "says"),
    [
        ({"subject_id": pl.Int32}, "'subject_id' of data/0.parquet holds Int32"),
        ({"time": pl.Datetime("ns")}, "'time' of data/0.parquet"),
        ({"time": pl.Datetime("us", "UTC")}, "'time' of data/0.parquet"),
    ],
)
def test_columns_of_another_type(tmp_path: Path, schema: dict[str, Any], says: str) -> None:
    message = refusal(dataset(tmp_path, ROWS, schema=schema))
    assert says in message
    assert "MEDS" in message


def test_a_missing_column_is_named(tmp_path: Path) -> None:
    path = dataset(tmp_path, ROWS)
    pl.read_parquet(path / "data/0.parquet").drop("code").write_parquet(path / "data/0.parquet")
    assert "data/0.parquet has no column 'code'" in refusal(path)
    assert "no column 'visit'" in refusal(dataset(tmp_path, ROWS), visit="visit")


def test_a_dataset_without_a_visit_column_says_what_can_be_done(tmp_path: Path) -> None:
    path = dataset(tmp_path, ROWS)
    pl.read_parquet(path / "data/0.parquet").rename({"stay_id": "hadm_id"}).write_parquet(
        path / "data/0.parquet"
    )
    message = refusal(path)
    assert "--visit" in message
    assert "--subject-is-visit" in message
    assert read(path, visit="hadm_id").stays.height == 2


def test_two_readings_of_a_visit_exclude_each_other(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="exclude each other"):
        MedsOptions(directory=tmp_path, visit="x", subject_is_visit=True)


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ((None, at(1), "A", None, 1), "1 of 9 rows of data/0.parquet have no subject_id"),
        ((7, at(1), None, None, 1), "1 of 9 rows of data/0.parquet have no code"),
        ((7, at(1), "//x", None, 1), "1 events of data/0.parquet have no activity"),
        ((5, at(1), "A", None, 70), "1 visits belong to more than one subject"),
        ((7, datetime(9999, 12, 31), "A", None, 1), "1 of 9 times of data/0.parquet do not lie"),
        ((7, datetime(1, 1, 1), "A", None, 1), "do not lie between 1900 and 2300, first in row 9"),
    ],
)
def test_rows_that_cannot_be(tmp_path: Path, row: Row, says: str) -> None:
    assert says in refusal(dataset(tmp_path, [*ROWS, row]))


def test_a_visit_of_two_subjects_is_found_across_files(tmp_path: Path) -> None:
    assert "1 visits belong" in refusal(dataset(tmp_path, ROWS, [(5, at(1), "A", None, 70)]))


def test_a_subject_in_two_files_is_refused(tmp_path: Path) -> None:
    assert "1 of 1 subjects are in more than one file" in refusal(dataset(tmp_path, ROWS, ROWS[:3]))


def test_a_dataset_without_events_of_visits_is_refused(tmp_path: Path) -> None:
    message = refusal(dataset(tmp_path, [ROWS[0], ROWS[4]]))
    assert "of 2 rows 1 have no time and 1 no visit" in message


def test_a_subject_twice_in_the_splits_is_refused(tmp_path: Path) -> None:
    path = dataset(tmp_path, ROWS)
    (path / "metadata").mkdir()
    splits = pl.DataFrame({"subject_id": [7, 7], "split": ["train", "tuning"]})
    splits.write_parquet(path / "metadata/subject_splits.parquet")
    assert "1 subjects stand more than once" in refusal(path)


def test_stays_that_do_not_fit_the_data_are_refused(tmp_path: Path) -> None:
    path = dataset(tmp_path, ROWS)
    (path / "metadata").mkdir()
    stays = read(path).stays.drop("split")
    stays.head(1).write_parquet(path / "metadata/stays.parquet")
    assert "1 visits are not in it" in refusal(path)
    pl.concat([stays, stays.with_columns(stay_id=pl.lit("x"))]).write_parquet(
        path / "metadata/stays.parquet"
    )
    assert "does not fit data/" in refusal(path)
    stays.drop("arrival").write_parquet(path / "metadata/stays.parquet")
    assert "metadata/stays.parquet has no column arrival" in refusal(path)


@pytest.mark.parametrize(
    "spoil", [lambda b: b[:-50], lambda b: b"PAR1", lambda b: b[: len(b) // 2]]
)
@pytest.mark.parametrize(
    "name", ["data/0.parquet", "data/1.parquet", "metadata/subject_splits.parquet"]
)
def test_files_that_are_not_parquet(
    tmp_path: Path, name: str, spoil: Callable[[bytes], bytes]
) -> None:
    path = dataset(tmp_path, ROWS, MORE)
    (path / "metadata").mkdir()
    splits = pl.DataFrame({"subject_id": [7], "split": ["train"]})
    splits.write_parquet(path / "metadata/subject_splits.parquet")
    (path / name).write_bytes(spoil((path / name).read_bytes()))
    assert f"{name} cannot be read as Parquet" in refusal(path)


def test_damaged_facts_are_refused(tmp_path: Path) -> None:
    path = dataset(tmp_path, ROWS)
    (path / "metadata").mkdir()
    for content in ("{", "[]"):
        (path / "metadata/edsim.json").write_text(content)
        assert "metadata/edsim.json is damaged" in refusal(path)


def test_a_discharge_that_does_not_occur_is_refused(tmp_path: Path) -> None:
    assert "no activity 'ed_out'" in refusal(dataset(tmp_path, ROWS), discharge=("ed_out",))


def test_a_column_of_lists_is_refused_where_it_is_wanted(tmp_path: Path) -> None:
    path = dataset(tmp_path, ROWS)
    frame = pl.read_parquet(path / "data/0.parquet").with_columns(many=pl.concat_list("stay_id"))
    frame.write_parquet(path / "data/0.parquet")
    assert read(path).stays.height == 2
    assert "holds lists" in refusal(path, detail="many")
