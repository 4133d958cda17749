"""A cohort written as MEDS is valid MEDS, and reading it back gives the same cohort."""

from __future__ import annotations

import json
import stat
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from edsim.errors import BadTableError
from edsim.progress import silent
from edsim.sources.meds import SOURCE, MedsOptions
from edsim.sources.meds.export import write_meds
from edsim.tables.extract import STAY_COLUMNS, Extract

Event = tuple[int, float, str, str | None, str | None]

TYPES = {
    "arrival": pl.Datetime("us"),
    "los_minutes": pl.Float64,
    "acuity": pl.Int8,
    "age": pl.Int16,
}


def cohort(stays: dict[str, list[Any]], events: list[Event]) -> tuple[pl.DataFrame, pl.LazyFrame]:
    """Frames with the columns of stays.parquet and events.parquet; events name the stay's row."""
    n = len(stays["stay_id"])
    count = Counter(event[0] for event in events)
    defaults = {
        "arrival": [datetime(2180, 1, 1) + timedelta(hours=i) for i in range(n)],
        "los_minutes": [90.0] * n,
    }
    columns = [c if c != "chief_complaint" else "chief_complaint_group" for c in STAY_COLUMNS]
    frame = pl.DataFrame(
        {
            c: pl.Series({**defaults, **stays}.get(c, [None] * n), dtype=TYPES.get(c, pl.String))
            for c in columns
        }
    ).with_columns(pl.Series("n_events", [count[i] for i in range(n)], dtype=pl.Int32))
    ids = stays["stay_id"]
    rows = pl.DataFrame(
        [(ids[s], m, a, d, f) for s, m, a, d, f in sorted(events, key=lambda e: e[0])],
        schema=["stay_id", "minutes", "activity", "detail", "flag"],
        schema_overrides={"minutes": pl.Float64, "detail": pl.String, "flag": pl.String},
        orient="row",
    ).with_columns((pl.int_range(pl.len()).over("stay_id") + 1).cast(pl.Int32).alias("position"))
    return frame, rows.lazy()


def a_small_cohort(**columns: list[Any]) -> tuple[pl.DataFrame, pl.LazyFrame]:
    """Four stays of three subjects: overlapping in time, with ties and events before arrival."""
    stays = {
        "stay_id": ["007", "7", "NA", "s//1"],
        "subject_id": ["p2", "p1", "p2", "p10"],
        "split": ["train", "val", "train", "test"],
        "period": ["2014 - 2016", None, "2014 - 2016", None],
        "acuity": [1, None, 3, 5],
        "age": [91, 18, None, 40],
        "sex": ["F", None, "M", "F"],
        "chief_complaint_group": ["chest pain", None, "other", None],
        **columns,
    }
    events: list[Event] = [
        (0, -12.5, "Vital sign check", None, "abnormal"),
        (0, 0.0, "Enter the ED", "WALK IN", None),
        (0, 1 / 60, "Triage in the ED", "3", None),
        (0, 175.1, "b//c", "d//e", None),
        (1, 0.0, "Enter the ED", None, None),
        (2, 0.0, "z", None, None),
        (2, 0.0, "a", None, None),
        (2, 0.0, "a", "x", "y"),
        (2, 200_000.000001 / 60, "a", None, None),
        (3, 100_000.0, "late", "ä", None),
    ]
    events = [(s, round(m * 6e7) / 6e7, a, d, f) for s, m, a, d, f in events]
    return cohort(stays, events)


def read_back(directory: Path, **flags: Any) -> Extract:
    return SOURCE.read(MedsOptions(directory=directory, **flags), silent)


def assert_same(extract: Extract, stays: pl.DataFrame, events: pl.LazyFrame) -> None:
    """The extract holds the stays and events of the cohort, bit for bit."""
    expected = stays.rename({"chief_complaint_group": "chief_complaint"}).select(STAY_COLUMNS)
    assert_frame_equal(extract.stays, expected, check_exact=True)
    texts = [pl.col(c).cast(pl.String) for c in ("activity", "detail", "flag")]
    got = extract.events.select(
        extract.stays["stay_id"].gather(extract.events["stay"]).alias("stay_id"), "minutes", *texts
    )
    wanted = events.collect().select("stay_id", "minutes", "activity", "detail", "flag")
    assert_frame_equal(got, wanted, check_exact=True)


@pytest.mark.parametrize("events_a_shard", [1, 3, 1000])
def test_a_round_trip_loses_nothing(tmp_path: Path, events_a_shard: int) -> None:
    stays, events = a_small_cohort()
    write_meds(stays, events, tmp_path / "m", restricted=True, events_a_shard=events_a_shard)
    assert_same(read_back(tmp_path / "m"), stays, events)


def test_the_order_of_rows_in_a_file_does_not_matter(tmp_path: Path) -> None:
    stays, events = a_small_cohort()
    write_meds(stays, events, tmp_path / "m", restricted=False)
    for path in (tmp_path / "m/data").rglob("*.parquet"):
        pl.read_parquet(path).reverse().write_parquet(path)
    assert_same(read_back(tmp_path / "m"), stays, events)


def test_subjects_that_are_numbers_keep_them(tmp_path: Path) -> None:
    stays, events = a_small_cohort(subject_id=["12", "-3", "12", "9007199254740993"])
    write_meds(stays, events, tmp_path / "m", restricted=False)
    written = pl.read_parquet(tmp_path / "m/data/**/*.parquet")
    assert set(written["subject_id"]) == {12, -3, 9007199254740993}
    assert_same(read_back(tmp_path / "m"), stays, events)


@pytest.mark.parametrize("odd", ["012", "+1", "1.0", "99999999999999999999", "NA"])
def test_subjects_that_only_look_like_numbers_are_numbered(tmp_path: Path, odd: str) -> None:
    stays, events = a_small_cohort(subject_id=["12", odd, "12", "7"])
    write_meds(stays, events, tmp_path / "m", restricted=False)
    written = pl.read_parquet(tmp_path / "m/data/**/*.parquet")
    assert sorted(set(written["subject_id"])) == [1, 2, 3]
    assert_same(read_back(tmp_path / "m"), stays, events)


def test_the_dataset_is_valid_by_the_package_meds(tmp_path: Path) -> None:
    meds = pytest.importorskip("meds", reason="the extra 'meds' is not installed")
    write_meds(*a_small_cohort(), tmp_path, restricted=False, events_a_shard=2)
    shards = sorted((tmp_path / meds.data_subdirectory).rglob("*.parquet"))
    tables = [pq.read_table(path) for path in shards]
    codes = pq.read_table(tmp_path / meds.code_metadata_filepath)
    for table in tables:
        meds.DataSchema.validate(table)
    meds.CodeMetadataSchema.validate(codes)
    meds.SubjectSplitSchema.validate(pq.read_table(tmp_path / meds.subject_splits_filepath))
    described = json.loads((tmp_path / meds.dataset_metadata_filepath).read_text())
    meds.DatasetMetadataSchema.validate(described)
    assert described["meds_version"].startswith("0.4")
    used = {code for table in tables for code in table["code"].to_pylist()}
    assert used == set(codes["code"].to_pylist())
    assert "Enter the ED//WALK IN" in used


def test_a_subject_is_in_one_file_contiguous_and_sorted_by_time(tmp_path: Path) -> None:
    write_meds(*a_small_cohort(), tmp_path, restricted=False, events_a_shard=1)
    shards = sorted((tmp_path / "data").rglob("*.parquet"))
    assert {path.parent.name for path in shards} == {"train", "tuning", "held_out"}
    seen: set[int] = set()
    for path in shards:
        frame = pl.read_parquet(path)
        runs = frame["subject_id"].rle().struct.field("value").to_list()
        assert len(set(runs)) == len(runs)
        assert not seen & set(runs)
        seen |= set(runs)
        for _, one in frame.group_by("subject_id"):
            assert one["time"].is_sorted()
    assert len(seen) == 3


@pytest.mark.parametrize(("events_a_shard", "n_files"), [(1, 7), (2, 4), (7, 1)])
def test_a_file_is_closed_when_it_is_full(
    tmp_path: Path, events_a_shard: int, n_files: int
) -> None:
    stays, events = cohort(
        {
            "stay_id": [f"s{i}" for i in range(7)],
            "subject_id": [f"{9 - i}" for i in range(7)],
            "split": ["val"] * 7,
        },
        [(i, 0.0, "a", None, None) for i in range(7)],
    )
    write_meds(stays, events, tmp_path, restricted=False, events_a_shard=events_a_shard)
    shards = [f"data/tuning/{i}.parquet" for i in range(n_files)]
    found = tmp_path.rglob("data/**/*.parquet")
    assert sorted(path.relative_to(tmp_path).as_posix() for path in found) == shards
    assert [pl.read_parquet(tmp_path / name)["subject_id"][0] for name in shards] == sorted(
        pl.read_parquet(tmp_path / name)["subject_id"].min() for name in shards
    )
    assert_same(read_back(tmp_path), stays, events)


def test_the_split_is_in_the_metadata_and_comes_back(tmp_path: Path) -> None:
    stays, events = a_small_cohort()
    write_meds(stays, events, tmp_path, restricted=False)
    splits = pl.read_parquet(tmp_path / "metadata/subject_splits.parquet")
    assert sorted(splits["split"]) == ["held_out", "train", "tuning"]
    assert read_back(tmp_path).stays["split"].to_list() == stays["split"].to_list()


def test_what_the_extract_said_comes_back(tmp_path: Path) -> None:
    facts = {
        "triage_activity": "Triage in the ED",
        "discharges": ("late",),
        "cap": 128,
        "time_of_day": True,
    }
    write_meds(*a_small_cohort(), tmp_path, restricted=False, facts=facts)
    extract = read_back(tmp_path)
    said = {name: getattr(extract, name) for name in facts}
    assert said == facts
    (tmp_path / "metadata/edsim.json").unlink()
    assert not read_back(tmp_path).time_of_day


@pytest.mark.parametrize(("restricted", "others"), [(True, 0), (False, stat.S_IROTH)])
def test_restricted_data_are_for_their_owner_alone(
    tmp_path: Path, restricted: bool, others: int
) -> None:
    write_meds(*a_small_cohort(), tmp_path / "m", restricted=restricted)
    for path in [tmp_path / "m", *(tmp_path / "m").rglob("*")]:
        assert path.stat().st_mode & stat.S_IROTH == others, path


def test_events_between_microseconds_are_refused(tmp_path: Path) -> None:
    stays, events = a_small_cohort()
    shifted = events.with_columns(pl.col("minutes") + 1e-9)
    with pytest.raises(BadTableError, match="not at a whole microsecond"):
        write_meds(stays, shifted, tmp_path, restricted=False)


def test_events_that_the_stays_do_not_promise_are_refused(tmp_path: Path) -> None:
    stays, events = a_small_cohort()
    with pytest.raises(BadTableError, match="4 events of 2 stays that have 8"):
        write_meds(stays, events.filter(pl.col("minutes") != 0), tmp_path, restricted=False)


def test_a_subject_in_two_parts_is_refused(tmp_path: Path) -> None:
    stays, events = a_small_cohort(split=["train", "val", "test", "test"])
    with pytest.raises(BadTableError, match="two parts"):
        write_meds(stays, events, tmp_path, restricted=False)


def test_stays_without_a_part_are_kept(tmp_path: Path) -> None:
    stays, events = a_small_cohort(split=["train", None, "train", "test"])
    write_meds(stays, events, tmp_path, restricted=False)
    extract = read_back(tmp_path)
    assert_same(extract, stays, events)
    assert any("1 of 4 visits are in no part" in notice for notice in extract.notices)


names = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zs", "Zl", "Zp"]), min_size=1)


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(-(10**12), 10**12), names), min_size=1),
    st.lists(names, min_size=4, max_size=4),
)
def test_any_cohort_comes_back(
    tmp_path_factory: pytest.TempPathFactory,
    drawn: list[tuple[int, int, str]],
    subjects: list[str],
) -> None:
    used = sorted({stay for stay, _, _ in drawn})
    order = sorted(drawn, key=lambda e: (e[0], e[1]))
    events: list[Event] = [
        (used.index(stay), micros / 60_000_000, activity, activity[1:] or None, None)
        for stay, micros, activity in order
    ]
    stays, rows = cohort(
        {
            "stay_id": [f"s{stay}" for stay in used],
            "subject_id": [subjects[stay] for stay in used],
            "split": ["train"] * len(used),
        },
        events,
    )
    directory = tmp_path_factory.mktemp("meds")
    write_meds(stays, rows, directory, restricted=False, events_a_shard=5)
    assert_same(read_back(directory), stays, rows)
