"""`edsim quickstart`: its commands are commands, none runs twice, and it can be stopped."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from edsim.cli import app, run
from edsim.cli.chains import LOG, Chains, Command, CommandFailed


def drawn(folder: Path, name: str, stays: int = 50, *needs: Path) -> Command:
    """A cohort in a moment."""
    out = folder / name
    arguments = ("cohort", "build", "synthetic", "--stays", str(stays), "--out", str(out))
    return Command(arguments=arguments, makes=out / "cohort.json", needs=needs)


def done(folder: Path, *chains: list[Command]) -> dict[str, bool]:
    """Run them, and say of each whether it was made now or found."""
    made: dict[str, bool] = {}
    folder.mkdir(exist_ok=True)
    told = Chains(
        folder, workers=2, told=lambda c, s: made.update({c.makes.parent.name: s is not None})
    )
    told.run(chains)
    return made


def running() -> Iterator[str]:
    """The command lines of all processes, where the system tells."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            yield path.read_text(errors="replace")


def test_every_command_it_shows_is_one_that_edsim_understands(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["quickstart", "--dry-run", "--out", str(tmp_path / "a place")]) == 0
    shown = [line for line in capsys.readouterr().out.splitlines() if line.startswith("edsim ")]
    for line in shown:
        app.parse_args(shlex.split(line)[1:], exit_on_error=False, print_error=False)
    verbs = [shlex.split(line)[1] for line in shown]
    assert verbs[0] == "cohort" and verbs[-1] == "report"
    made = [verbs.count(verb) for verb in ("train", "rollout", "predict", "score", "census")]
    assert made == [3, 5, 4, 2, 1]
    assert not (tmp_path / "a place").exists()


def test_what_was_done_is_found_and_what_rests_on_something_younger_is_made_again(
    tmp_path: Path,
) -> None:
    first, other = drawn(tmp_path, "a"), drawn(tmp_path, "b")
    second = drawn(tmp_path, "c", 60, first.makes)
    assert done(tmp_path, [first, second], [other]) == {"a": True, "b": True, "c": True}
    assert done(tmp_path, [first, second], [other]) == {"a": False, "b": False, "c": False}
    later = second.makes.stat().st_mtime + 5
    os.utime(first.makes, (later, later))
    assert done(tmp_path, [first, second], [other]) == {"a": False, "b": False, "c": True}
    assert "$ edsim cohort build synthetic --stays 60" in (tmp_path / LOG).read_text()


def test_a_command_that_fails_stops_the_rest_and_says_why(tmp_path: Path) -> None:
    with pytest.raises(CommandFailed, match=r"--stays -3.*exit code 2:\n.*stays"):
        done(tmp_path, [drawn(tmp_path, "a", -3), drawn(tmp_path, "b")])
    assert not (tmp_path / "b").exists()


def test_a_cohort_of_other_settings_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "q"
    done(out, [drawn(out, "cohort", 50)])
    assert run(["quickstart", "--out", str(out), "--stays", "60"]) == 2
    said = capsys.readouterr().err
    assert "is already there" in said and "--overwrite" in said


def test_ctrl_c_ends_what_runs_and_keeps_what_is_done(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "edsim", "quickstart", "--out", str(tmp_path / "q")]
    process = subprocess.Popen(
        [*command, "--stays", "3000"],  # enough that training takes a while
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
    )
    threading.Timer(120, process.kill).start()
    runs = tmp_path / "q" / "cohort" / "artifacts" / "runs"
    while process.poll() is None and not runs.exists():  # until networks are being trained
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    printed, said = process.communicate(timeout=60)
    assert process.returncode == 130 and "interrupted; nothing half-written was kept" in said
    assert "cohort build synthetic" in printed
    assert (tmp_path / "q" / "cohort" / "cohort.json").exists()
    assert [line for line in running() if str(tmp_path) in line] == []
