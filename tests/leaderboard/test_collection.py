"""Boards as folders: who comes in, what has to agree, what stands beside what."""

from __future__ import annotations

import json
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from made_up_sheets import CONTENT_HASH, OTHER_HASH, cohort, sheet, with_row

from edsim.cli import run
from edsim.errors import BadInputError
from edsim.leaderboard.collection import add, in_groups, look_at
from edsim.tables.scores import ScoreRow, ScoreSheet, read_sheet, sheet_as_text, write_sheet


def written(folder: Path, name: str, made: ScoreSheet) -> Path:
    path = folder / f"{name}.scores.json"
    write_sheet(made, path)
    return path


def refusal(paths: list[Path], board: Path) -> str:
    before = sorted(board.rglob("*"))
    with pytest.raises(BadInputError) as caught:
        add(paths, board)
    assert sorted(board.rglob("*")) == before, "what is refused leaves nothing behind"
    return str(caught.value)


def test_files_folders_and_bundles_come_in_once(tmp_path: Path) -> None:
    board, folder = tmp_path / "board", tmp_path / "scores"
    folder.mkdir()
    single = written(tmp_path, "one", sheet("one"))
    written(folder, "two", sheet("two", 3.0))
    with zipfile.ZipFile(tmp_path / "share.zip", "w") as bundle:
        bundle.writestr("scores/01.scores.json", sheet_as_text(sheet("three", 4.0)))
        bundle.writestr("report.html", "<html>")
    names = add([single, folder, tmp_path / "share.zip"], board)
    assert [name.partition("-")[0] for name in names] == ["one", "two", "three"]
    looked = look_at(board)
    assert sorted(entry.sheet.producer for entry in looked.entries) == ["one", "three", "two"]
    assert looked.problems == {}
    assert "on the board already" in refusal([single], board)


def test_what_is_never_shared_is_taken_out_on_the_way_in(tmp_path: Path) -> None:
    private = replace(sheet(), recipe={"width": 8, "folder": "/home/x"}, producer="/home/x/gru.npz")
    (name,) = add([written(tmp_path, "gru", private)], tmp_path / "board")
    kept = read_sheet(tmp_path / "board" / "entries" / name)
    assert (kept.recipe, kept.producer) == ({"width": 8}, "gru.npz")


def test_all_come_in_or_none(tmp_path: Path) -> None:
    good = written(tmp_path, "good", sheet("good"))
    bad = written(tmp_path, "bad", replace(sheet("bad"), launches="val-2000"))
    (tmp_path / "board").mkdir()
    assert "bad.scores.json: the launch set" in refusal([good, bad], tmp_path / "board")


AT_ODDS = {
    "another size of the cohort": (
        replace(sheet("b"), cohort=cohort(n_stays=6001)),
        "other sizes of the same cohort",
    ),
    "other tokens": (replace(sheet("b"), tokens=("END", "A", "B")), "other tokens"),
    "fewer launches": (with_row(sheet("b"), "termination", n_launches=1999), "another number"),
    "another reference": (
        with_row(sheet("b"), "termination", reference=0.98),
        "the order-3 reference of termination differs",
    ),
}


@pytest.mark.parametrize("what", AT_ODDS)
def test_entries_that_contradict_one_another_do_not_come_in(tmp_path: Path, what: str) -> None:
    add([written(tmp_path, "a", sheet("a"))], tmp_path / "board")
    made, expected = AT_ODDS[what]
    assert expected in refusal([written(tmp_path, "b", made)], tmp_path / "board")


def test_only_what_is_comparable_stands_together(tmp_path: Path) -> None:
    board = tmp_path / "board"
    sheets = {
        "a": sheet("a"),
        "b": sheet("b", 3.0),
        "greedy": replace(sheet("a", 4.0), rule="greedy"),
        "elsewhere": replace(sheet("c"), cohort=cohort(OTHER_HASH)),
        "late": replace(sheet("d"), launches="late"),
        "shorter": replace(sheet("e"), cap=64),
    }
    add([written(tmp_path, name, made) for name, made in sheets.items()], board)
    groups = in_groups(look_at(board).entries)
    assert [len(entries) for entries in groups.values()] == [3, 1, 1, 1]
    assert next(iter(groups)).content_hash == CONTENT_HASH


def test_a_board_may_take_only_certain_cohorts(tmp_path: Path) -> None:
    board = tmp_path / "board"
    add([written(tmp_path, "a", sheet("a"))], board)
    (board / "board.json").write_text(json.dumps({"title": "Ours", "cohorts": [CONTENT_HASH]}))
    other = replace(sheet("b"), cohort=cohort(OTHER_HASH))
    assert "none of the 1 that this board takes" in refusal([written(tmp_path, "b", other)], board)
    for wrong in ("[]", "{", '{"cohort": []}', '{"title": 3}'):
        (board / "board.json").write_text(wrong)
        assert "board.json is to be" in refusal([written(tmp_path, "b", sheet("b"))], board)


def test_a_proposed_file_is_judged_and_nothing_of_it_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As on a pull request: files lie in the folder already."""
    board = tmp_path / "board"
    add([written(tmp_path, "a", sheet("a"))], board)
    entries = board / "entries"
    (entries / "b.scores.json").write_text(
        sheet_as_text(sheet("b")).replace("{", '{"x": 10014729,', 1)
    )
    (entries / "c.scores.json").write_text("[" * 100_000)
    (entries / "d.txt").write_text("10014729")
    (entries / "e.scores.json").symlink_to(tmp_path / "a.scores.json")
    written(entries, "f", replace(sheet("f"), recipe={"who": "10014729"}))
    assert run(["board", "check", "--board", str(board)]) == 1
    said = capsys.readouterr().out
    for name in ("b.scores.json", "c.scores.json", "d.txt", "e.scores.json", "f.scores.json"):
        assert f"{name}: " in said
    assert "1 entries are fine, 5 are not." in said
    assert "10014729" not in said
    assert run(["board", "build", "--board", str(board), "--out", str(tmp_path / "site")]) == 2
    assert not (tmp_path / "site").exists()


@pytest.mark.parametrize("source", ["nothing.scores.json", "empty", "text.zip", "text.scores.json"])
def test_what_holds_no_scores_is_said(tmp_path: Path, source: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "text.zip").write_text("text")
    (tmp_path / "text.scores.json").write_text("text")
    code = run(["board", "add", str(tmp_path / source), "--board", str(tmp_path / "board")])
    assert code == 2
    assert not (tmp_path / "board").exists()


def test_predictions_in_a_folder_are_passed_over_and_by_themselves_refused(tmp_path: Path) -> None:
    written(tmp_path / "scores", "gru", sheet())
    accuracy = ScoreRow(metric="accuracy", value=0.5, n_launches=100, n_stays=50, n_subjects=40)
    asked = replace(sheet(), rows=(accuracy,), draws=0, rule="open loop")
    of_predictions = written(tmp_path / "scores" / "open-loop", "asked", asked)
    assert len(add([tmp_path / "scores"], tmp_path / "board")) == 1
    assert refusal([of_predictions], tmp_path / "board").count("scores of predictions") == 1
    assert "predictions only" in refusal([of_predictions.parent], tmp_path / "board")
