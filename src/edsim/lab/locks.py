"""One process at a time: a lock file that the operating system gives back when its owner dies.

Such a lock cannot grow stale. It holds between machines too where the shared file system keeps
locks (NFS, Lustre mounted with `flock`, CephFS, GPFS).
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from edsim.errors import OutputError
from edsim.tables.whole_file import cannot_write


def _nothing() -> None:
    pass


@contextmanager
def only_one(path: Path, waiting: Callable[[], None] = _nothing) -> Iterator[None]:
    """Hold the lock `path` while the block runs; `waiting` is called once if another has it."""
    stream = _locked(path)
    if stream is None:
        waiting()
        stream = _locked(path, wait=True)
    assert stream is not None
    try:
        yield
    finally:
        with suppress(OSError):
            path.unlink()
        os.close(stream)


@contextmanager
def only_one_or_none(path: Path) -> Iterator[bool]:
    """Hold the lock if nobody has it: whether it is held is what the block is told."""
    stream = _locked(path)
    try:
        yield stream is not None
    finally:
        if stream is not None:
            with suppress(OSError):
                path.unlink()
            os.close(stream)


def is_held(path: Path) -> bool:
    """Whether some process holds the lock now."""
    if not path.exists():
        return False
    with only_one_or_none(path) as free:
        return not free


def _locked(path: Path, *, wait: bool = False) -> int | None:
    """An open file that holds the lock; None where another holds it and we do not wait."""
    while True:
        try:
            stream = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise cannot_write(path, error) from None
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            if _is_still(path, stream):
                return stream
        except BlockingIOError:
            os.close(stream)
            return None
        except OSError as error:
            os.close(stream)
            reason = os.strerror(error.errno or 0).lower()
            raise OutputError(
                f"the file system of '{path.parent}' keeps no locks ({reason}), so two processes "
                "could write the same file. Use another place, or mount it with locks."
            ) from None
        except BaseException:
            os.close(stream)
            raise
        os.close(stream)  # its owner removed it when done: the name is another file's now


def _is_still(path: Path, stream: int) -> bool:
    with suppress(FileNotFoundError):
        return os.path.samestat(path.stat(), os.fstat(stream))
    return False
