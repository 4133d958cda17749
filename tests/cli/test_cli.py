"""The command as a user meets it: help, exit codes, one clear message, never a traceback."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import pytest

from edsim import __version__
from edsim.cli import run

SCRIPT = Path(sys.executable).with_name("edsim")


def edsim(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(SCRIPT), *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )


def test_version() -> None:
    done = edsim("--version")
    assert (done.stdout.strip(), done.returncode) == (__version__, 0)


def test_the_module_is_the_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "edsim", "--version"], capture_output=True, text=True
    )
    assert done.stdout.strip() == __version__


@pytest.mark.parametrize("command", [["--help"], ["cohort", "--help"], ["cohort", "show", "-h"]])
def test_help_is_there_at_every_level(command: list[str]) -> None:
    done = edsim(*command)
    assert done.returncode == 0 and "Usage: edsim" in done.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ["nonsense"],
        ["cohort", "build", "nonsense"],
        ["cohort", "build", "synthetic"],
        ["cohort", "build", "synthetic", "--stays", "many", "--out", "c"],
        ["cohort", "build", "synthetic", "--stays", "0", "--out", "c"],
        ["cohort", "build", "mimic", "--out", "c"],
        ["cohort", "build", "synthetic", "--split", "fair", "--out", "c"],
        ["cohort", "build", "synthetic", "--vocabulary", "ed33", "--out", "c"],
        ["cohort", "build", "synthetic", "--split", "given", "--out", "c"],
        ["cohort", "show", "not-there"],
        ["cohort", "launches", "not-there"],
        ["cohort", "export", "not-there", "--meds", "m"],
        ["synthetic", "write", "--layout", "other", "--out", "raw"],
    ],
)
def test_wrong_use_is_exit_code_2_with_a_message_and_no_traceback(
    arguments: list[str], tmp_path: Path
) -> None:
    done = subprocess.run([str(SCRIPT), *arguments], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert len(done.stderr.strip()) > 20
    assert "Traceback" not in done.stderr + done.stdout
    assert list(tmp_path.iterdir()) == []


def test_a_failed_check_is_exit_code_1(tmp_path: Path) -> None:
    out = tmp_path / "c"
    assert run(["cohort", "build", "synthetic", "--stays", "100", "--out", str(out)]) == 0
    assert run(["cohort", "check", str(out)]) == 0
    (out / "launches" / "all.npy").write_bytes(b"")
    assert run(["cohort", "check", str(out)]) == 1
    assert run(["cohort", "check", str(tmp_path)]) == 1


def test_a_launch_set_is_not_named_for_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "c")
    assert run(["cohort", "build", "synthetic", "--stays", "100", "--out", out]) == 0
    assert run(["cohort", "launches", out, "--launches", "triage"]) == 2
    assert "--csv" in capsys.readouterr().err
    assert run(["cohort", "launches", out, "--launches", "triage", "--csv"]) == 0
    assert capsys.readouterr().out.startswith("stay_id,prefix_length,position,activity,minutes")


def test_a_fault_of_ours_shows_where_and_never_what(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import edsim.lab.check

    def fault(directory: Path, progress: object) -> None:
        raise ValueError("row of patient 10014729")

    monkeypatch.setattr(edsim.lab.check, "check_cohort", fault)
    assert run(["cohort", "check", str(tmp_path)]) == 70
    said = capsys.readouterr().err
    assert "ValueError" in said and "10014729" not in said


def test_output_can_be_cut_short() -> None:
    done = subprocess.run(
        f"{SCRIPT} cohort build --help | head -1", shell=True, capture_output=True, text=True
    )
    assert "Traceback" not in done.stderr and done.stdout.startswith("Usage")


def test_a_pipe_gets_no_progress_and_no_colour(tmp_path: Path) -> None:
    out = tmp_path / "c"
    done = edsim("cohort", "build", "synthetic", "--stays", "100", "--out", str(out))
    assert done.stderr == ""
    assert "\x1b" not in done.stdout


def test_a_terminal_sees_progress(tmp_path: Path) -> None:
    """A pseudo-terminal as standard error: stages with bars appear on it."""
    import pty

    reader, writer = pty.openpty()
    process = subprocess.Popen(
        [SCRIPT, "cohort", "build", "synthetic", "--stays", "3000", "--out", tmp_path / "c"],
        stdout=subprocess.DEVNULL,
        stderr=writer,
        env={**os.environ, "TERM": "xterm"},
    )
    os.close(writer)
    seen = b""
    while True:
        try:
            piece = os.read(reader, 4096)
        except OSError:  # the other side has closed
            break
        if not piece:
            break
        seen += piece
    assert process.wait() == 0
    assert b"drawing visits" in seen and b"writing events" in seen


@pytest.mark.parametrize("command", [["-c", "import edsim"], ["-m", "edsim", "--help"]])
def test_starting_takes_at_most_three_tenths_of_a_second(command: list[str]) -> None:
    """The median of five warm starts, in seconds of processor time.

    Waiting for a busy machine costs no such time, but two processes on one core slow each other: one
    quiet series of three is enough.
    """
    _start(command)
    assert any(statistics.median(_start(command) for _ in range(5)) <= 0.3 for _series in range(3))


def _start(command: list[str]) -> float:
    """Seconds of processor time that one start takes."""
    process = subprocess.Popen([sys.executable, *command], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return usage.ru_utime + usage.ru_stime


def test_nothing_heavy_is_imported_before_it_is_needed() -> None:
    """Not even numpy: `edsim --help` reads every command and the flags of every source."""
    code = (
        "import sys, io, contextlib, edsim.cli\n"
        "with contextlib.redirect_stdout(io.StringIO()): edsim.cli.run(['--help'])\n"
        "heavy = 'numpy torch polars pyarrow numba pandas r4pm altair jinja2 markdown_it'\n"
        "print(*set(heavy.split()) & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout.strip()) == (0, "")


@pytest.fixture()
def small_disk(tmp_path: Path) -> Path:
    """A file system of one megabyte, where the machine lets us mount one."""
    from places import missing

    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)]
    if subprocess.run(mount, capture_output=True).returncode:
        missing("a small file system cannot be mounted here, so a full disk was not tried")
    yield place  # type: ignore[misc]
    subprocess.run(["umount", "-l", str(place)], check=True)


def test_a_full_disk_is_one_sentence_and_nothing_is_kept(small_disk: Path) -> None:
    done = edsim("cohort", "build", "synthetic", "--stays", "20000", "--out", f"{small_disk}/c")
    assert done.returncode == 2
    assert "no space left" in done.stderr and "Traceback" not in done.stderr
    assert list(small_disk.iterdir()) == []


def test_a_disk_that_is_full_at_any_moment_is_one_sentence(
    small_disk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tables, arrays and JSON are written by three libraries, each with its own refusal."""
    built = {}
    for size in (40, 150, 300, 450, 550, 600, 700, 800, 860, 880, 900, 1000, 4000):
        subprocess.run(["mount", "-o", f"remount,size={size}k", str(small_disk)], check=True)
        command = ["cohort", "build", "synthetic", "--stays", "1500", "--out", f"{small_disk}/c"]
        built[size] = run([*command, "--overwrite"])
        said = capsys.readouterr().err
        assert built[size] == 0 or "no space left" in said, (size, said)
        assert built[size] == 0 or list(small_disk.iterdir()) == []
    assert built[40] == 2 and built[4000] == 0


def test_a_full_disk_while_exporting_is_one_sentence_too(small_disk: Path, tmp_path: Path) -> None:
    assert run(["cohort", "build", "synthetic", "--stays", "20000", "--out", f"{tmp_path}/c"]) == 0
    for command in (
        ["cohort", "launches", f"{tmp_path}/c", "--launches", "all", "--out", f"{small_disk}/p"],
        ["cohort", "export", f"{tmp_path}/c", "--meds", f"{small_disk}/m"],
        ["synthetic", "write", "--layout", "mimic", "--stays", "20000", "--out", f"{small_disk}/r"],
        ["synthetic", "write", "--layout", "mcmed", "--stays", "9000", "--out", f"{small_disk}/r"],
    ):
        done = edsim(*command)
        assert done.returncode == 2, command
        assert "space" in done.stderr and "Traceback" not in done.stderr
        assert list(small_disk.iterdir()) == []


@pytest.mark.parametrize(
    "interrupted",
    [
        "ctypes.pythonapi.PyRun_SimpleString(b'raise KeyboardInterrupt'); raise KeyboardInterrupt",
        "Lost(); time.sleep(20)",
        "Lost(); Lost(); time.sleep(20)",
    ],
    ids=["in code that a library runs", "while an object goes", "twice"],
)
def test_an_interrupt_ends_the_command_wherever_it_comes(interrupted: str) -> None:
    code = f"""
import ctypes, time, edsim.cli

class Lost:
    def __del__(self):
        raise KeyboardInterrupt

def command(*arguments, **more):
    {interrupted}

edsim.cli.app = command
command.help_format = ""
edsim.cli.main()
"""
    begin = time.monotonic()
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, time.monotonic() - begin < 15) == (130, True), done.stderr
    assert "interrupted; nothing half-written was kept" in done.stderr
    assert "Exception ignored" not in done.stderr


def test_a_cohort_that_is_not_there_is_bad_input_and_a_damaged_one_a_finding(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["cohort", "check", str(tmp_path / "none")]) == 2
    assert "there is no folder" in capsys.readouterr().err
    (tmp_path / "C").mkdir()
    assert run(["cohort", "check", str(tmp_path / "C")]) == 1


def test_synthetic_files_are_for_everybody(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        command = ["synthetic", "write", "--layout", "mimic", "--stays", "50"]
        assert run([*command, "--out", str(tmp_path / "raw")]) == 0
    finally:
        os.umask(before)
    assert (tmp_path / "raw" / "ed").stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize("out", [".", "./", "/", "", "folder"])
def test_a_folder_is_no_file_to_write(
    out: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    assert run(["cohort", "build", "synthetic", "--stays", "60", "--out", "C"]) == 0
    assert run(["cohort", "launches", "C", "--csv", "--launches", "all", "--out", out]) == 2
    assert "is a folder" in capsys.readouterr().err


def test_a_read_only_place_is_one_sentence(small_disk: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    done = edsim("cohort", "build", "synthetic", "--stays", "100", "--out", f"{small_disk}/c")
    assert done.returncode == 2
    assert "read-only" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize("command", [["cohort", "show"], ["cohort", "check"]])
def test_a_result_can_be_cut_short_and_that_is_no_failure(
    tmp_path: Path, command: list[str]
) -> None:
    out = tmp_path / "c"
    assert run(["cohort", "build", "synthetic", "--stays", "100", "--out", str(out)]) == 0
    script = f"set -o pipefail; {SCRIPT} {' '.join(command)} {out} | true"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_cohort_that_is_read_only_says_that_a_copy_is_needed(small_disk: Path) -> None:
    pytest.importorskip("torch")
    out = f"{small_disk}/c"
    assert run(["cohort", "build", "synthetic", "--stays", "60", "--out", out]) == 0
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    assert edsim("cohort", "show", out).returncode == 0
    assert edsim("cohort", "check", out).returncode == 0
    done = edsim("cohort", "coverage", out)
    assert done.returncode == 2
    assert "copy the cohort" in done.stderr and "Traceback" not in done.stderr
