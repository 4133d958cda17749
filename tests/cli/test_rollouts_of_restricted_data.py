"""What is said of rollouts of restricted data depends on how many people are behind them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from edsim.cli import run


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log of few people with many cases each, and one of many, both with rollouts."""
    folder = tmp_path_factory.mktemp("restricted")
    for name, n_people in (("few", 50), ("many", 150)):
        log, cohort = folder / f"{name}.csv", folder / name
        log.write_text(log_of(n_people))
        build = ["cohort", "build", "eventlog", str(log), "--subject", "patient"]
        assert run([*build, "--discharge", "leave", "--out", str(cohort)]) == 0
        made = ["rollout", "markov", "--cohort", str(cohort), "--launches", "all"]
        assert run([*made, "--out", str(rollouts_of(folder, name))]) == 0
    return folder


def log_of(n_people: int, n_cases: int = 4) -> str:
    lines = ["case,patient,activity,timestamp"]
    for case in range(n_people * n_cases):
        for place, activity in enumerate(["come", "look", "treat", "leave"]):
            at = f"2024-{1 + case % 12:02}-{1 + case % 28:02} {8 + 2 * place:02}:{case % 60:02}:00"
            lines.append(f"c{case},p{case // n_cases},{activity},{at}")
    return "\n".join(lines) + "\n"


def rollouts_of(folder: Path, name: str) -> Path:
    return folder / f"{name}.rollouts.parquet"


def said_by(capsys: pytest.CaptureFixture[str], *command: str | Path) -> str:
    capsys.readouterr()
    run([str(part) for part in command])
    both = capsys.readouterr()
    return re.sub(r"\s+", " ", both.out + both.err)


def test_rollouts_of_few_people_are_not_counted(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    few = rollouts_of(folder, "few")
    on = ["--cohort", folder / "few"]
    shown = said_by(capsys, "rollouts", "show", few, *on)
    assert "fewer than ten subjects" in shown and "producer" in shown
    rolled = said_by(
        capsys, "rollout", "markov", *on, "--launches", "all", "--out", few, "--overwrite"
    )
    assert "fewer than ten subjects" in rolled
    converted = said_by(capsys, "rollouts", "convert", few, folder / "again.csv", *on)
    assert converted.startswith("Few rollouts written")
    prefixes = ["cohort", "launches", folder / "few", "--csv", "--launches", "all"]
    written = said_by(capsys, *prefixes, "--out", folder / "prefixes.csv")
    assert written.startswith("Some prefixes written")
    for said in (shown, rolled):
        assert not re.search(r"\d+ launches|rows|ended|mean", said)


def test_the_checks_of_few_people_are_said_without_numbers(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for producer in (rollouts_of(folder, "few"), "markov"):
        said = said_by(capsys, "check", producer, "--cohort", folder / "few")
        assert "# of # rows" in said or "none of # rows" in said
        assert not re.search(r"\d+ (of \d+ )?(rows|rollouts|launches|gaps)", said)


def test_rollouts_of_many_people_are_counted_where_the_cohort_says_how_many(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    many, on = rollouts_of(folder, "many"), ["--cohort", folder / "many"]
    alone = said_by(capsys, "rollouts", "show", many)
    assert "--cohort" in alone and not re.search(r"\d+ launches", alone)
    assert re.search(r"\d+ launches", said_by(capsys, "rollouts", "show", many, *on))
    assert re.search(r"\d+ rollouts that fit", said_by(capsys, "check", many, *on))


def test_a_small_count_among_many_people_is_said_roughly(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text, on = folder / "spoilt.csv", ["--cohort", folder / "many"]
    run(["rollouts", "convert", str(rollouts_of(folder, "many")), str(text), *map(str, on)])
    text.with_name("spoilt.csv.json").unlink()
    head, first, *rest = text.read_text().splitlines()
    first = re.sub(r"[^,]*$", "-5", first)  # a gap below zero
    text.write_text("\n".join([head, first, *rest]) + "\n")
    for command in (["check", text], ["rollouts", "convert", text, folder / "again.csv"]):
        said = said_by(capsys, *command, *on)
        assert "fewer than 10" in said


def test_predictions_of_few_people_are_not_counted(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["predict", "markov", "--overwrite", "--out", folder / "p.predictions.parquet"]
    few = said_by(capsys, *command, "--cohort", folder / "few")
    assert few.startswith("Few predictions written to")
    many = said_by(capsys, *command, "--cohort", folder / "many")
    assert re.match(r"\d+ predictions, [\d.]+% of them right", many)


def test_a_diagnosis_of_few_people_is_said_without_numbers(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for command in ("diagnose", "score"):
        few = said_by(capsys, command, rollouts_of(folder, "few"), "--cohort", folder / "few")
        assert command == "score" or not re.search(r"\d", few.removeprefix("markov")), few
        assert not re.search(r"\d+ (are launched|stays|launches)", few)
    many = said_by(capsys, "diagnose", rollouts_of(folder, "many"), "--cohort", folder / "many")
    assert re.search(r"\d", many)


def test_a_diagnosis_does_not_say_from_how_few_stays(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    on = ["--cohort", folder / "many", "--launches", "matched-5"]
    said = said_by(capsys, "diagnose", "markov", *on)
    assert "Too few stays" in said and not re.search(r"\d", said)
