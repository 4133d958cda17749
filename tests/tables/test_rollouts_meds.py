"""Rollouts as MEDS trajectories, there and back."""

from __future__ import annotations

import importlib
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from small_rollouts import EXPECTED, HEADER, LAUNCHES, STAY_IDS, same, small_rollouts

from edsim.errors import BadTableError
from edsim.tables.rollouts import RolloutsHeader
from edsim.tables.rollouts_check import checked
from edsim.tables.rollouts_meds import LossyTrajectoriesWarning, launch_times, write_meds
from edsim.tables.rollouts_meds_reading import read_foreign_meds, read_meds_rows

SUBJECTS = np.array([7, 8, 7])  # the first and the last stay are one subject's
ARRIVAL = np.array(
    ["2180-01-01T10:00", "2180-01-02T10:00", "2180-03-01T23:00"], dtype="datetime64[us]"
)
MINUTES = np.array([0.0, 0.0, 30.0, 5.0, -1.0, 0.0, 1 / 60, 61.5, 90.0])
OFFSETS = np.array([0, 3, 4, 9])
FOREIGN = RolloutsHeader(producer="another", cap=4, tokens=HEADER.tokens)


def launched(launches: Any = LAUNCHES) -> Any:
    return launch_times(ARRIVAL, MINUTES, OFFSETS, launches)


def write(directory: Path, *, plain: bool = False, header: RolloutsHeader = HEADER) -> Path:
    """The small table as trajectories. The launches of the first stay are at the same time."""
    rollouts = small_rollouts(header)
    times = np.repeat(launched(), 2)
    write_meds(rollouts, directory, STAY_IDS, subjects=SUBJECTS, launched=times, plain=plain)
    return directory


def foreign(directory: Path, **changes: Any) -> Any:
    """Read as trajectories of another tool."""
    given = {
        "stay_ids": STAY_IDS,
        "launches": LAUNCHES,
        "subjects": SUBJECTS,
        "launched": launched(),
        **changes,
    }
    return checked(read_foreign_meds(directory, FOREIGN, **given))


def trajectory_schema() -> Any:
    """The published schema; the same made from MEDS where the package is not installed."""
    try:
        module = importlib.import_module("MEDS_trajectory_evaluation.schema")
    except ImportError:
        pytest.importorskip("meds", reason="needs the extra 'meds'")
        module = importlib.import_module("trajectory_schema")
    return module.GeneratedTrajectorySchema


def test_the_way_there_and_back_loses_nothing(tmp_path: Path) -> None:
    assert same(checked(read_meds_rows(write(tmp_path)), EXPECTED), small_rollouts())


@pytest.mark.parametrize("plain", [True, False])
@pytest.mark.filterwarnings("ignore::edsim.tables.rollouts_meds.LossyTrajectoriesWarning")
def test_every_file_keeps_the_published_schema(tmp_path: Path, plain: bool) -> None:
    schema = trajectory_schema()
    write(tmp_path, plain=plain)
    files = [path for path in tmp_path.rglob("*.parquet") if path.name != "id_map.parquet"]
    assert files
    for path in files:
        schema.validate(pq.read_table(path))


def test_the_schema_of_the_test_can_refuse(tmp_path: Path) -> None:
    schema = trajectory_schema()
    path = write(tmp_path) / "draw-0" / "000.parquet"
    with pytest.raises(Exception, match="prediction_time"):
        schema.validate(pq.read_table(path).drop_columns("prediction_time"))


def test_times_are_launch_times_and_what_was_generated_since(tmp_path: Path) -> None:
    events = pq.read_table(write(tmp_path) / "draw-0" / "000.parquet").to_pylist()
    last = [event for event in events if event["prefix_length"] == 4]
    assert [event["prediction_time"].isoformat() for event in last[:1]] == ["2180-03-02T00:01:30"]
    assert [event["time"].isoformat() for event in last] == ["2180-03-02T00:01:30"]
    assert [event["code"] for event in last] == ["END"]
    first = [event for event in events if event["prefix_length"] == 1 and event["subject_id"] == 7]
    assert first[0]["prediction_time"].isoformat() == "2180-01-01T10:00:00"
    assert first[0]["time"].isoformat() == "2180-01-01T10:00:06"


def test_no_file_holds_two_trajectories_of_a_subject_from_one_time(tmp_path: Path) -> None:
    files = sorted(path.relative_to(tmp_path).as_posix() for path in write(tmp_path).rglob("0*"))
    assert files == [
        "draw-0/000.parquet",
        "draw-0/001.parquet",
        "draw-1/000.parquet",
        "draw-1/001.parquet",
    ]
    for name in files:
        events = pq.read_table(tmp_path / name).to_pylist()
        rollout = {(e["stay_id"], e["prefix_length"], e["draw"]) for e in events}
        moments = {(e["subject_id"], e["prediction_time"]) for e in events}
        assert len(rollout) == len(moments)


def test_the_id_map_names_the_stays_of_the_table(tmp_path: Path) -> None:
    rows = pq.read_table(write(tmp_path) / "id_map.parquet").to_pylist()
    assert rows == [
        {"stay_id": "secret-a", "subject_id": 7},
        {"stay_id": "secret-ä", "subject_id": 7},
    ]


def test_restricted_trajectories_are_their_owners_alone(tmp_path: Path) -> None:
    write(tmp_path, header=replace(HEADER, restricted=True))
    for path in tmp_path.rglob("*"):
        if path.is_file():
            assert not path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO)


def test_plain_trajectories_come_with_a_warning_of_what_is_lost(tmp_path: Path) -> None:
    with pytest.warns(LossyTrajectoriesWarning, match=r"prefix lengths \(4 launches have 3 diff"):
        write(tmp_path, plain=True)
    assert not (tmp_path / "id_map.parquet").exists()
    with pytest.raises(BadTableError, match=r"their launches have to be found by time"):
        read_meds_rows(tmp_path)


@pytest.mark.filterwarnings("ignore::edsim.tables.rollouts_meds.LossyTrajectoriesWarning")
def test_plain_trajectories_are_read_where_every_time_has_one_launch(tmp_path: Path) -> None:
    apart = launched() + np.arange(4) * np.timedelta64(1, "m")
    write_meds(
        small_rollouts(),
        tmp_path,
        STAY_IDS,
        subjects=SUBJECTS,
        launched=np.repeat(apart, 2),
        plain=True,
    )
    read, ours = foreign(tmp_path, launched=apart), small_rollouts()
    assert np.array_equal(read.generated.tokens, ours.generated.tokens)
    assert np.array_equal(read.draw, ours.draw)
    assert np.array_equal(
        read.launches, [[0, 1], [0, 1], [0, 2], [0, 2], [1, 1], [1, 1], [1, 4], [1, 4]]
    )
    assert np.abs(read.generated.minutes - ours.generated.minutes).max() < 1e-6
    assert read.header.draws == 2


@pytest.mark.filterwarnings("ignore:without the further columns")
def test_of_several_launches_at_one_time_the_longest_prefix_is_taken(tmp_path: Path) -> None:
    write(tmp_path, plain=True)
    with pytest.warns(LossyTrajectoriesWarning, match="1 of 3 prediction times are those of sev"):
        read = read_foreign_meds(
            tmp_path,
            FOREIGN,
            stay_ids=STAY_IDS,
            launches=LAUNCHES,
            subjects=SUBJECTS,
            launched=launched(),
        )
    assert set(read.prefix_length[read.stay == 0].tolist()) == {2}


@pytest.mark.filterwarnings("ignore::edsim.tables.rollouts_meds.LossyTrajectoriesWarning")
def test_a_time_of_no_launch_is_said(tmp_path: Path) -> None:
    write(tmp_path, plain=True)
    with pytest.raises(
        BadTableError, match=r"1 of 3 subjects and prediction times of .* no launch"
    ):
        foreign(tmp_path, launched=launched() + np.array([0, 0, 0, 1], dtype="timedelta64[us]"))


def test_a_code_that_is_no_token_is_said(tmp_path: Path) -> None:
    path = write(tmp_path) / "draw-0" / "000.parquet"
    table = pq.read_table(path)
    codes = ["SECRET//1", *table["code"].to_pylist()[1:]]
    place = table.column_names.index("code")
    pq.write_table(table.set_column(place, "code", pa.array(codes)), path)
    with pytest.raises(
        BadTableError, match=r"1 of 21 rows .* no token .*\(1 different codes\)"
    ) as e:
        read_meds_rows(tmp_path)
    assert "SECRET" not in str(e.value)


def test_a_folder_without_trajectories_is_said(tmp_path: Path) -> None:
    with pytest.raises(BadTableError, match="has no Parquet with trajectories"):
        read_meds_rows(tmp_path)
    with pytest.raises(BadTableError, match="there is no folder of trajectories"):
        read_meds_rows(tmp_path / "nothing")


def test_a_damaged_file_is_said(tmp_path: Path) -> None:
    path = write(tmp_path) / "draw-1" / "000.parquet"
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(BadTableError, match=r"000.parquet is not a Parquet file"):
        read_meds_rows(tmp_path)


def test_gaps_that_no_timestamp_can_hold_are_said(tmp_path: Path) -> None:
    rollouts = small_rollouts()
    rollouts.generated.minutes[2] = 3e38
    with pytest.raises(BadTableError, match="1 of 8 rollouts last longer than a timestamp"):
        write_meds(
            rollouts, tmp_path, STAY_IDS, subjects=SUBJECTS, launched=np.repeat(launched(), 2)
        )
    assert not list(tmp_path.iterdir())
