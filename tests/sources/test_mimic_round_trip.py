"""Synthetic visits written as MIMIC files and read back are the visits that were drawn."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from edsim.progress import silent
from edsim.sources import synthetic
from edsim.sources.mimic import MimicOptions, read
from edsim.sources.synthetic.mimic_files import write_mimic
from edsim.tables.extract import Extract

N_STAYS = 600
VITAL = "Vital sign check"


@pytest.fixture(scope="module", params=[False, True], ids=["csv", "csv.gz"])
def files(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("written")
    options = synthetic.SyntheticOptions(stays=N_STAYS, seed=3)
    write_mimic(folder, options, silent, compress=request.param)
    return folder


@pytest.fixture(scope="module")
def drawn() -> Extract:
    options = synthetic.SyntheticOptions(stays=N_STAYS, seed=3)
    return synthetic.SOURCE.read(options, silent)


def as_text(events: pl.DataFrame) -> pl.DataFrame:
    return events.with_columns(pl.col("activity", "detail", "flag").cast(pl.String))


@pytest.mark.parametrize("route", ["mimicel", "tables"])
def test_what_was_drawn_comes_back(files: Path, drawn: Extract, route: str) -> None:
    log = next(iter(files.glob("mimicel.csv*")))
    options = MimicOptions(
        ed=files / "ed", mimicel=log if route == "mimicel" else None, hosp=files / "hosp"
    )
    found = read(options, silent)
    assert found.options["route"] == route
    assert found.notices == ()
    assert found.steps[-1].n_events == found.events.height == drawn.events.height
    assert_frame_equal(as_text(found.events), as_text(drawn.events), check_exact=True)
    assert_frame_equal(found.stays, drawn.stays, check_exact=True)
    assert set(found.events.filter(activity=VITAL)["flag"].cast(pl.String)) == {
        "normal",
        "abnormal",
    }
