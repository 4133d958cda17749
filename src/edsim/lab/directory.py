"""A directory that is there whole or not at all.

Work goes into a hidden folder beside the target, private to its owner, which is renamed when all
is written. What a killed run leaves behind is recognised by its dead process and removed by the
next run.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from edsim.errors import OutputError
from edsim.tables.whole_file import cannot_write


@contextmanager
def whole_directory(
    target: Path | str, *, overwrite: bool = False, known_by: str = ""
) -> Iterator[Path]:
    """Yield a folder to fill; on success it becomes `target`, on any failure it vanishes.

    `overwrite` replaces what a run like this one made, known by the file `known_by` in it, and an
    empty directory; never anything else. Without `known_by` nothing is ever replaced.
    """
    target = Path(os.path.abspath(target))  # noqa: PTH100 - a link stays a link
    if os.path.lexists(target):
        _check_replaceable(target, overwrite=overwrite, known_by=known_by)
    partial = target.parent / f".{target.name}.partial-{os.getpid()}"
    try:
        with _plain_messages(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            _remove_leftovers(target)
            partial.mkdir(mode=0o700)
            yield partial
            _flush(partial)
            if os.path.lexists(target):  # perhaps another run has made it in the meantime
                _check_replaceable(target, overwrite=overwrite, known_by=known_by)
            _put_in_place(partial, target)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _check_replaceable(target: Path, *, overwrite: bool, known_by: str) -> None:
    """Raise unless the directory may go: a mistyped path must not cost anyone their files."""
    if not overwrite or not known_by:
        way_out = "or replace it with --overwrite" if known_by else "or remove it"
        raise OutputError(f"'{target}' is already there. Choose another place, {way_out}.")
    if target.is_symlink() or not target.is_dir():
        kind = "a link" if target.is_symlink() else "a file"
        raise OutputError(
            f"'{target}' is {kind}, and --overwrite replaces directories only. Choose another "
            "place."
        )
    if not (target / known_by).exists() and any(target.iterdir()):
        raise OutputError(
            f"'{target}' holds other files: there is no {known_by} in it, by which --overwrite "
            "knows what this command made. Choose another place, or remove it yourself."
        )


@contextmanager
def _plain_messages(target: Path) -> Iterator[None]:
    """The operating system's refusals as messages about the target."""
    try:
        yield
    except OSError as error:
        raise cannot_write(target, error) from None


def _remove_leftovers(target: Path) -> None:
    for old in target.parent.iterdir():
        begin, _, owner = old.name.rpartition("-")
        if not begin.startswith(f".{target.name}.partial"):
            continue
        if owner.isdigit() and not _alive(int(owner)):
            shutil.rmtree(old, ignore_errors=True)


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return process != os.getpid()


def _flush(directory: Path) -> None:
    for path in directory.rglob("*"):
        if path.is_file():
            with path.open("rb") as stream:
                os.fsync(stream.fileno())


def _put_in_place(partial: Path, target: Path) -> None:
    """Rename into place; an older directory steps aside first and is then removed."""
    aside = target.parent / f".{target.name}.partial-old-{os.getpid()}"
    replaced = target.exists()
    if replaced:
        target.rename(aside)
    try:
        partial.rename(target)
    except OSError:
        if replaced:
            aside.rename(target)
        raise
    shutil.rmtree(aside, ignore_errors=True)
