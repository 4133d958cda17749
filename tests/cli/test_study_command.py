"""`edsim study` as a user types it: what is printed, and with which code it ends."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from rich.console import Console

from edsim.cli import run

STUDY = """
title = "Three models"
cohort = "C"
launches = "matched-60"
models = ["marginal", {name = "markov", label = "one event back", rules = ["vanilla", "top_k=3"]}]
metrics = ["termination", "reached_discharge", "jsd", "xf", "duration_ratio", "los_mae", "occupancy_mae"]
resamples = 20

[synthetic]
stays = 300
"""


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert run(["study", *arguments]) == 0
    return capsys.readouterr().out


def test_a_study_is_listed_made_and_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "three.toml"
    file.write_text(STUDY)
    monkeypatch.setattr(
        sys.modules["edsim.cli.study"], "console", Console(width=80, force_terminal=False)
    )
    before = printed(capsys, "run", str(file), "--dry-run")
    assert "3 runs" in before and "one event back top_k=3" in before
    assert "draws 300 synthetic visits first" in " ".join(before.split())
    assert not (tmp_path / "C").exists()
    said = printed(capsys, "run", str(file))
    assert said.count("one event back top_k=3") == 2, "too narrow for one table: two, each named"
    for head in ("Term.", "Disch.", "JSD", "xF", "Duration", "LOS err.", "Occ. pp", "floor"):
        assert head in said
    assert "0 there already" in said
    assert [line for line in said.splitlines()[:-1] if len(line) > 80] == []
    monkeypatch.setattr(
        sys.modules["edsim.cli.study"], "console", Console(width=200, force_terminal=False)
    )
    again = printed(capsys, "run", str(file))
    assert again.count("one event back top_k=3") == 1 and "0 pieces made" in again
    assert "Nothing is left to make." in printed(capsys, "run", str(file), "--dry-run")
    shown = printed(capsys, "show", str(file))
    assert "waiting" not in shown and "done" in shown and "scores of markov" in shown
    assert printed(capsys, "show", str(tmp_path / "three")) == shown


def test_results_of_another_cohort_are_said_to_be(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, folder = tmp_path / "three.toml", tmp_path / "three"
    file.write_text(STUDY)
    printed(capsys, "run", str(file))
    assert "another cohort" not in printed(capsys, "show", str(file))
    said = json.loads((folder / "study.json").read_text())
    (folder / "study.json").write_text(json.dumps({**said, "content_hash": "0" * 64}))
    shown = " ".join(printed(capsys, "show", str(file)).split())
    assert "three are of another cohort: its content has changed since." in shown


def test_a_typing_error_is_said_with_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "three.toml"
    file.write_text(STUDY.replace("launches", "lunches"))
    assert run(["study", "run", str(file)]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "line 4: there is no key 'lunches'. Did you mean 'launches'?" in said
