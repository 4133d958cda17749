"""Score sheets on disk: what is written is read back, and nothing else is taken for one."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from edsim.errors import BadTableError, OutputError
from edsim.tables.scores import ScoreRow, ScoreSheet, read_sheet, write_sheet
from edsim.tables.verdicts import Verdict

SHEET = ScoreSheet(
    producer="ngram:3",
    producer_version="0.1.0",
    recipe={"order": 3},
    training_seed=None,
    rule="vanilla",
    clock="own",
    launches="matched-100",
    cap=128,
    draws=1,
    rollout_seed=0,
    privileged=False,
    vocabulary="ed7",
    vocabulary_sha256="ab",
    tokens=("END", "Triage"),
    cohort={"id": "synthetic-1", "restricted": False},
    code_version="0.1.0",
    rows=(
        ScoreRow(metric="jsd", value=0.002, corrected=0.001, low=0.0, high=0.004, target="low"),
        ScoreRow(metric="occupancy_error", at=8, value=-1.5, unit="pp"),
        ScoreRow(
            metric="jsd", population="acuity", group="2", value=None, note="under 10 subjects"
        ),
    ),
    verdicts=(
        Verdict(
            producer="ngram:3", fault="clock bias", sentence="Too long.", evidence=("los_mae",)
        ),
    ),
)


def test_what_was_written_is_read_back(tmp_path: Path) -> None:
    write_sheet(SHEET, tmp_path / "a.scores.json")
    assert read_sheet(tmp_path / "a.scores.json") == SHEET


def test_a_row_is_found_by_what_it_is_about() -> None:
    assert SHEET.find("jsd") == SHEET.rows[0]
    assert SHEET.find("occupancy_error", at=8) == SHEET.rows[1]
    assert SHEET.find("jsd", "acuity", "2") == SHEET.rows[2]
    assert SHEET.find("occupancy_error") is None


@pytest.mark.parametrize(("restricted", "mode"), [(True, 0o600), (False, 0o644)])
def test_scores_of_restricted_data_are_for_their_owner(
    tmp_path: Path, restricted: bool, mode: int
) -> None:
    before = os.umask(0o022)
    try:
        write_sheet(replace(SHEET, cohort={"restricted": restricted}), tmp_path / "a.scores.json")
    finally:
        os.umask(before)
    assert (tmp_path / "a.scores.json").stat().st_mode & 0o777 == mode


def test_a_number_that_is_none_is_never_written(tmp_path: Path) -> None:
    broken = replace(SHEET, rows=(ScoreRow(metric="jsd", value=float("nan")),))
    with pytest.raises(ValueError, match="nan"):
        write_sheet(broken, tmp_path / "a.scores.json")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"schema_version": 2}, "schema version"),
        ({"rows": {}}, "not a list"),
        ({"rows": [{"metric": "jsd"}]}, "rows 0 lacks value"),
        ({"rows": [{"metric": "jsd", "value": "0.1"}]}, "wrong type in value"),
        ({"rows": [{"metric": "jsd", "value": 1, "low": True}]}, "wrong type in low"),
        ({"cap": "128"}, "wrong type in cap"),
        ({"tokens": ["END", 3]}, "wrong type in tokens"),
        ({"colour": "blue"}, "1 fields that are not known"),
        ({"verdicts": [{"producer": "a", "fault": "b"}]}, "verdicts 0 lacks sentence"),
    ],
)
def test_a_changed_file_is_refused_with_the_place(
    tmp_path: Path, change: dict[str, Any], says: str
) -> None:
    path = tmp_path / "a.scores.json"
    write_sheet(SHEET, path)
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(BadTableError, match=says):
        read_sheet(path)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"a": 1}'])
def test_another_file_is_no_table_of_scores(tmp_path: Path, content: str) -> None:
    (tmp_path / "a.scores.json").write_text(content)
    with pytest.raises(BadTableError, match=r"a\.scores\.json"):
        read_sheet(tmp_path / "a.scores.json")


def test_a_missing_file_and_a_missing_folder_are_said(tmp_path: Path) -> None:
    with pytest.raises(BadTableError, match="no such file"):
        read_sheet(tmp_path / "a.scores.json")
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError):
        write_sheet(SHEET, tmp_path / "file" / "a.scores.json")
