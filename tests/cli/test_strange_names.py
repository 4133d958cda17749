"""Paths and names as people have them, and as they mistype them: one message, exit code 2."""

from __future__ import annotations

from pathlib import Path

import pytest

from edsim.cli import run

pytest.importorskip("torch")


@pytest.fixture(scope="module")
def cohort(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """In a folder whose name would be a pattern to a shell."""
    folder = tmp_path_factory.mktemp("names") / "my [1] data *é 😀"
    folder.mkdir()
    out = folder / "C [2]"
    assert run(["cohort", "build", "synthetic", "--stays", "300", "--out", str(out)]) == 0
    return out


def test_a_cohort_may_lie_where_the_path_looks_like_a_pattern(cohort: Path) -> None:
    c, place = str(cohort), cohort.parent
    table, text, folder = (str(place / name) for name in ("r.rollouts.parquet", "t.csv", "meds"))
    for command in (
        ["cohort", "show", c, "--vocabulary", "ed32"],
        ["cohort", "check", c],
        ["cohort", "launches", c, "--csv", "--out", str(place / "p.csv")],
        ["rollout", "markov", "--cohort", c, "--launches", "matched-20", "--out", table],
        ["rollouts", "convert", table, text, "--cohort", c],
        ["rollouts", "convert", table, folder, "--cohort", c],
        *(["check", file, "--cohort", c] for file in (table, text, folder)),
    ):
        assert run(command) == 0, command


def test_raw_files_may_lie_there_too(cohort: Path) -> None:
    place = cohort.parent
    raw, log, out = place / "raw", place / "log.csv", str(place / "from raw")
    assert (
        run(["synthetic", "write", "--layout", "mimic", "--stays", "300", "--out", str(raw)]) == 0
    )
    rows = "".join(f"{i},a,2024-01-01 0{k}:00:00\n" for i in range(60) for k in range(3))
    log.write_text("case_id,activity,timestamp\n" + rows)
    import polars as pl

    pl.read_csv(log, glob=False, try_parse_dates=True).write_parquet(log.with_suffix(".parquet"))
    for source in (
        ["mimic", "--ed", str(raw / "ed"), "--mimicel", str(raw / "mimicel.csv")],
        ["eventlog", str(log)],
        ["eventlog", str(log.with_suffix(".parquet"))],
    ):
        assert run(["cohort", "build", *source, "--out", out, "--overwrite"]) == 0, source


def test_synthetic_raw_files_say_that_they_are(cohort: Path, tmp_path: Path) -> None:
    raw = tmp_path / "raw"
    command = ["synthetic", "write", "--layout", "mcmed", "--stays", "60", "--out", str(raw)]
    assert run(command) == 0
    assert "No row comes from a patient" in (raw / "SYNTHETIC.txt").read_text()
    assert run([*command, "--overwrite"]) == 0
    (raw / "SYNTHETIC.txt").unlink()  # as in a folder of the real data set
    assert run([*command, "--overwrite"]) == 2
    assert (raw / "visits.csv").exists()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("gru", "'gru@1'"),
        ("gru@", "'gru@1'"),
        ("orcale", "Did you mean 'oracle'?"),
        ("mine.py", "'mine.py:NAME'"),
        ("nothing like it", "module:object"),
        ("", "there is no producer"),
    ],
)
def test_an_unknown_producer_is_told_what_there_is(
    cohort: Path, name: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["check", name, "--cohort", str(cohort)]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["check", "nothing.csv"], "there is no rollouts file"),
        (["check", "nothing.rollouts.parquet"], "there is no rollouts file"),
        (["check", "ngram:3", "--cap", "0"], "at least 1"),
    ],
)
def test_what_cannot_be_checked_at_all_is_no_failed_check(
    cohort: Path, arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*arguments, "--cohort", str(cohort)]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("orders", ["0", "8"])
def test_orders_that_there_are_none_of_are_refused(
    cohort: Path, orders: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["cohort", "coverage", str(cohort), "--orders", orders]) == 2
    assert "from 1 to 7" in capsys.readouterr().err


def test_nothing_is_printed_of_prefixes_that_cannot_be_written(
    cohort: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["cohort", "launches", str(cohort), "--csv", "--vocabulary", "ed33"]
    assert run(command) == 2
    assert capsys.readouterr().out == ""


def test_trajectories_that_another_tool_wrote_are_checked_by_their_folder(
    cohort: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import shutil

    table, folder = tmp_path / "r.rollouts.parquet", tmp_path / "trajectories"
    c = str(cohort)
    command = ["rollout", "markov", "--cohort", c, "--launches", "triage", "--out", str(table)]
    assert run(command) == 0
    assert run(["rollouts", "convert", str(table), str(folder), "--cohort", c]) == 0
    (folder / "header.json").unlink()
    assert run(["check", str(folder), "--cohort", c]) == 0
    assert "rollouts that fit the cohort" in " ".join(capsys.readouterr().out.split())
    shutil.rmtree(folder / "draw-0")
    (folder / "id_map.parquet").unlink()
    assert run(["check", str(folder), "--cohort", c]) == 2, "an empty folder is nothing to check"
