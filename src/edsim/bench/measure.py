"""A piece of work in a process of its own: how long it took and how much memory it ever held."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from edsim.errors import EdsimError


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """One line of a benchmark."""

    work: str
    n_stays: int
    n_events: int
    seconds: float
    peak_gib: float
    cpu_seconds: float | None = None
    """Of all threads together: what to look at where the machine was shared."""
    beside: str | None = None
    """The work that this plain line is to be compared with."""
    file_mb: float | None = None
    """Size of the file it wrote, in millions of bytes."""

    @property
    def seconds_a_million_events(self) -> float:
        """What two sizes can be compared by."""
        return self.seconds / self.n_events * 1e6


def measure(
    work: str,
    arguments: Sequence[str],
    *,
    n_stays: int,
    n_events: int = 0,
    beside: str | None = None,
    environment: Mapping[str, str] | None = None,
) -> Measurement:
    """Run `python ARGUMENTS` and wait for it; what it prints is kept for a failure's message."""
    with tempfile.TemporaryFile() as printed:
        begin = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, *arguments],
            stdout=printed,
            stderr=printed,
            env={**os.environ, **(environment or {})},
        )
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            printed.seek(0)
            last = printed.read().decode(errors="replace").strip().splitlines()[-1:]
            raise EdsimError(f"'{work}' failed: {' '.join(last) or process.returncode}")
    return Measurement(
        work=work,
        n_stays=n_stays,
        n_events=n_events,
        seconds=seconds,
        peak_gib=usage.ru_maxrss / 2**20,
        cpu_seconds=usage.ru_utime + usage.ru_stime,
        beside=beside,
    )
