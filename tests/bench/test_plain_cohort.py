"""The fast build equals the build written plainly with pandas."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from edsim.bench.plain_cohort import build
from edsim.lab.build import build_cohort
from edsim.lab.cohort import open_cohort
from edsim.progress import silent
from edsim.sources import SOURCES
from edsim.sources.synthetic import LAYOUTS, SyntheticOptions


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("bench")
    (folder / "raw").mkdir()
    LAYOUTS["mimic"](folder / "raw", SyntheticOptions(stays=400, seed=3), silent)
    build(folder / "raw", folder / "plain")
    mimic = SOURCES["mimic"]
    options = mimic.options(
        ed=folder / "raw" / "ed", mimicel=folder / "raw" / "mimicel.csv", hosp=folder / "raw/hosp"
    )
    build_cohort(mimic, options, folder / "fast")
    return folder / "plain", folder / "fast"


@pytest.mark.parametrize("vocabulary", ["ed7", "ed32"])
@pytest.mark.parametrize("array", ["tokens", "minutes"])
def test_the_encoded_visits_are_equal(both: tuple[Path, Path], vocabulary: str, array: str) -> None:
    plain, fast = both
    ours = getattr(open_cohort(fast).visits(vocabulary), array)
    theirs = np.load(plain / vocabulary / f"{array}.npy")
    assert np.array_equal(ours, theirs)


def test_events_and_splits_are_equal(both: tuple[Path, Path]) -> None:
    plain, fast = both
    ours, theirs = (pl.read_parquet(folder / "events.parquet") for folder in (fast, plain))
    assert ours.cast(theirs.schema).equals(theirs.select(ours.columns))
    parts = [pl.read_parquet(folder / "stays.parquet")["split"] for folder in (fast, plain)]
    assert parts[0].to_list() == parts[1].to_list()


def test_launches_are_equal(both: tuple[Path, Path]) -> None:
    plain, fast = both
    ours = open_cohort(fast).launches("all")[:, 1]
    assert np.array_equal(ours, np.load(plain / "launches.npy"))
