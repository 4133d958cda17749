"""A file that is there whole or not at all: written beside its target and then renamed."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from edsim.errors import OutputError


@contextmanager
def whole_file(path: Path, *, restricted: bool) -> Iterator[BinaryIO]:
    """Yield a stream; on success its content is `path`, on any failure nothing has changed.

    For the owner alone where the data are restricted, from the first byte on.
    """
    if not path.name or path.is_dir():
        raise OutputError(f"'{path}' is a folder; the name of a file is needed.")
    partial = path.with_name(f".{path.name}.partial-{os.getpid()}")
    mode = 0o600 if restricted else 0o666
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except OSError as error:
        raise cannot_write(path, error) from None
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)


def cannot_write(path: Path, error: OSError) -> OutputError:
    """The operating system's refusal as a message about the path.

    A write that numpy could not finish has no error number: then it is the space that tells.
    """
    there = next(place for place in [path, *path.absolute().parents] if place.exists())
    free = shutil.disk_usage(there).free / 2**20
    if error.errno in (errno.ENOSPC, errno.EDQUOT) or (error.errno is None and free < 1):
        return OutputError(
            f"no space left for '{path}' ({free:,.0f} MiB are free now). Nothing was kept; make "
            "room or choose another place."
        )
    reason = f"{error}" if error.errno is None else os.strerror(error.errno).lower()
    return OutputError(f"'{path}' cannot be written: {reason}. Choose another place.")
