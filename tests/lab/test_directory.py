"""A directory that is replaced: killed between any two steps, the next run tidies up."""

from __future__ import annotations

import os
import shutil
import signal
from pathlib import Path
from typing import Any, NoReturn

import pytest

from edsim.errors import OutputError
from edsim.lab.directory import whole_directory


def write(target: Path, text: str) -> None:
    with whole_directory(target, overwrite=True, known_by="file") as folder:
        (folder / "file").write_text(text)


def die(*arguments: Any, **settings: Any) -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def rename_and_die(self: Path, other: Path) -> Path:
    os.rename(self, other)  # noqa: PTH104 - Path.rename is what is replaced
    die()


@pytest.mark.parametrize(
    ("place", "name", "then", "left"),
    [
        (Path, "rename", die, "old"),  # before the old directory steps aside
        (Path, "rename", rename_and_die, None),  # after it, and before the new one is in place
        (shutil, "rmtree", die, "new"),  # before the old one is removed
    ],
)
def test_killed_while_replacing_nothing_half_done_is_left(
    tmp_path: Path, place: Any, name: str, then: Any, left: str | None
) -> None:
    target = tmp_path / "cohort"
    write(target, "old")
    child = os.fork()
    if child == 0:
        setattr(place, name, then)
        write(target, "new")
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    assert (target / "file").read_text() == left if left else not target.exists()
    assert len(list(tmp_path.iterdir())) == 2, "what was killed left something behind"
    write(target, "newer")
    assert list(tmp_path.iterdir()) == [target]
    assert (target / "file").read_text() == "newer"


def test_an_old_directory_comes_back_where_the_new_one_cannot_take_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "cohort"
    write(target, "old")
    rename = Path.rename

    def refused(self: Path, other: Path) -> Path:
        if (self / "file").read_text() == "new" and other == target:
            raise OSError("refused")
        return rename(self, other)

    monkeypatch.setattr(Path, "rename", refused)
    with pytest.raises(OutputError, match="cannot be written: refused"):
        write(target, "new")
    assert list(tmp_path.iterdir()) == [target]
    assert (target / "file").read_text() == "old"


def test_only_what_such_a_run_made_is_ever_replaced(tmp_path: Path) -> None:
    """A mistyped path must not cost anyone their files."""
    thesis, link = tmp_path / "home" / "thesis.txt", tmp_path / "link"
    thesis.parent.mkdir()
    thesis.write_text("years of work")
    link.symlink_to(thesis.parent)
    for target in (thesis.parent, thesis, link):
        with pytest.raises(OutputError, match=r"holds other files|is a file|is a link"):
            write(target, "new")
    assert thesis.read_text() == "years of work" and link.is_symlink()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["home", "link"]


def test_an_empty_directory_may_be_filled(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    write(tmp_path / "empty", "new")
    assert (tmp_path / "empty" / "file").read_text() == "new"


def test_where_nothing_can_be_replaced_no_flag_is_named(tmp_path: Path) -> None:
    with (
        pytest.raises(OutputError, match="remove it") as refused,
        whole_directory(tmp_path),
    ):
        pass
    assert "--overwrite" not in str(refused.value)


def test_names_may_hold_what_means_something_in_a_pattern(tmp_path: Path) -> None:
    target = tmp_path / "c [1]"
    (tmp_path / ".c [1].partial-999999999").mkdir()
    write(target, "new")
    assert list(tmp_path.iterdir()) == [target]


def test_of_two_runs_at_once_the_second_does_not_replace_the_first(tmp_path: Path) -> None:
    target = tmp_path / "cohort"
    with (
        pytest.raises(OutputError, match="already there"),
        whole_directory(target, known_by="file") as second,
    ):
        (second / "file").write_text("second")
        target.mkdir()  # the first is done
        (target / "file").write_text("first")
    assert list(tmp_path.iterdir()) == [target]
    assert (target / "file").read_text() == "first"
