"""A build that is killed at any moment leaves no cohort, or one that passes every check."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from edsim.lab.check import check_cohort

COMMAND = [sys.executable, "-m", "edsim", "cohort", "build", "synthetic", "--stays", "4000"]


def build(out: Path, *more: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*COMMAND, "--out", str(out), *more], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


@pytest.mark.kill
def test_killed_at_random_times_a_cohort_is_absent_or_whole(tmp_path: Path) -> None:
    out = tmp_path / "cohort"
    begin = time.monotonic()
    assert build(out).wait() == 0
    usual = time.monotonic() - begin
    whole = 0
    times = random.Random(20)
    for attempt in range(20):
        process = build(out, "--overwrite")
        # half of the kills fall into the last third, where the files are written
        share = times.uniform(0.65, 1.1) if attempt % 2 else times.uniform(0.05, 1.0)
        time.sleep(usual * share)
        process.kill()
        process.wait()
        if out.exists():
            findings = check_cohort(out)
            assert all(finding.passed for finding in findings), findings
            whole += 1
    assert whole, "no kill left a cohort: nothing was tested but its absence"
    assert build(out, "--overwrite").wait() == 0
    leftovers = [path.name for path in tmp_path.iterdir() if path != out]
    assert leftovers == [], "the next build removes what killed ones left"


@pytest.mark.kill
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_politely_nothing_is_left(tmp_path: Path, number: signal.Signals) -> None:
    out = tmp_path / "cohort"
    process = build(out)
    while not list(tmp_path.glob(".cohort.partial-*")):
        assert process.poll() is None
        time.sleep(0.01)
    os.kill(process.pid, number)
    assert process.wait() == 130
    assert list(tmp_path.iterdir()) == []
