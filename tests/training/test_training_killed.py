"""Training that is killed at any moment goes on, and ends with the weights of one never killed."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from edsim.lab.build import build_cohort
from edsim.models.neural.checkpoint import read_checkpoint
from edsim.sources import SOURCES
from edsim.training.loop import work_folder

SAVING_OFTEN = (
    "import sys; from edsim.training import loop; loop.SAVE_SECONDS = 0.05; "
    "from edsim.training.__main__ import main; sys.exit(main(sys.argv[1:]))"
)


@pytest.mark.kill
def test_killed_again_and_again_it_ends_with_the_same_weights(tmp_path: Path) -> None:
    """Each kill comes a moment after something was saved, wherever the next step stands then."""
    source = SOURCES["synthetic"]
    build_cohort(source, source.options(stays=100), tmp_path / "C")
    encoded = tmp_path / "C" / "encoded" / "ed7"

    def start(out: Path) -> subprocess.Popen[bytes]:
        given = ["--encoded", encoded, "--recipe", "joint", "--epochs", 5, "--out", out]
        return subprocess.Popen(
            [sys.executable, "-c", SAVING_OFTEN, *map(str, given)], stdout=subprocess.DEVNULL
        )

    out, times = tmp_path / "killed.npz", random.Random(4)
    state = work_folder(out) / "state.npz"
    saved, kills = 0, 0
    while kills < 3:
        process = start(out)
        while not (state.exists() and state.stat().st_mtime_ns != saved):
            assert process.poll() is None, "it ended before it could be killed"
            time.sleep(0.01)
        time.sleep(times.uniform(0, 0.3))
        process.kill()
        kills += process.wait() != 0
        saved = state.stat().st_mtime_ns if state.exists() else saved
        if out.exists():
            break
    assert kills, "it ended before it could be killed: nothing was tested"
    assert start(out).wait() == 0
    assert start(tmp_path / "whole.npz").wait() == 0
    whole, killed = read_checkpoint(tmp_path / "whole.npz"), read_checkpoint(out)
    for name, array in whole.weights.items():
        assert np.array_equal(array, killed.weights[name]), name
    assert not work_folder(out).exists(), "nothing is left beside it"
