"""Where the open data are, and how a test without them is skipped."""

from __future__ import annotations

import os
from pathlib import Path

# before torch is loaded: threads that wait leave the processor to the tests beside them
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import pytest

from places import ROOT, missing


@pytest.fixture(scope="session")
def open_data() -> Path:
    """The folder of open real data; the test is skipped where it is not there."""
    folder = Path(os.environ.get("EDSIM_OPEN_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        missing(
            "the open data (MIMIC-IV-ED demo, Sepsis log) are not here: set EDSIM_OPEN_DATA to "
            "their folder"
        )
    return folder
