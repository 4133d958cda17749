"""What a piece of work took: seconds on the wall, and the most memory its process ever held."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

_SELF = Path("/proc/self")


@dataclass(slots=True)
class Spent:
    """Filled when the block has ended."""

    seconds: float = 0.0
    peak_mib: float = 0.0


@contextmanager
def measured() -> Iterator[Spent]:
    """Time a block; where Linux lets us, the peak is of the block and not of all before it."""
    spent = Spent()
    with suppress(OSError):
        (_SELF / "clear_refs").write_text("5")  # the peak begins anew
    begin = time.perf_counter()
    try:
        yield spent
    finally:
        spent.seconds = round(time.perf_counter() - begin, 3)
        spent.peak_mib = round(peak_mib(), 1)


def peak_mib() -> float:
    """The most memory of this process, in MiB."""
    with suppress(OSError, StopIteration, ValueError):
        lines = (_SELF / "status").read_text().splitlines()
        return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) / 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 1024)
