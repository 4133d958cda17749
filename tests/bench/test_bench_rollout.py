"""What `edsim bench rollout` measures is the work it names."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from edsim.bench import rollout_work
from edsim.bench.rollout import bench_rollout
from edsim.lab.build import build_cohort
from edsim.lab.cohort import open_cohort
from edsim.models.counts_file import load_counts
from edsim.sources import SOURCES


@pytest.fixture(scope="module")
def cohort(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bench") / "cohort"
    synthetic = SOURCES["synthetic"]
    build_cohort(synthetic, synthetic.options(stays=600), folder)
    return folder


def work(kind: str, cohort: Path, *more: str) -> dict[str, float]:
    folder = cohort.parent
    rollout_work.main(
        kind, str(cohort), str(folder / "model.npz"), "3", str(folder / "result.json"), *more
    )
    return json.loads((folder / "result.json").read_text())


def test_fitting_writes_the_model_of_the_training_part(cohort: Path) -> None:
    said = work("fit", cohort)
    training = open_cohort(cohort).visits("ed32").part("train")
    model, fitted_on = load_counts(cohort.parent / "model.npz")
    assert said["n_events"] == int(training.n_events().sum()) == int(model.table.counts.sum())
    assert said["seconds"] > 0
    assert fitted_on.content_hash == open_cohort(cohort).manifest.content_hash


def test_both_ways_of_rolling_out_do_the_same_amount_of_work_per_launch(cohort: Path) -> None:
    work("fit", cohort)
    fast, plain = work("roll-out", cohort), work("roll-out-plainly", cohort, "0.5")
    n_launches = len(open_cohort(cohort).launches("all"))
    lengths = fast["n_events"] / n_launches, plain["n_events"] / (n_launches / 2)
    assert np.ptp(lengths) < 0.15 * np.mean(lengths)


def test_a_small_run_gives_every_line_and_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    rows = bench_rollout(300, plain_share=1)
    assert [row.work.split(",")[0] for row in rows] == [
        "fit order 3",
        "roll out order 3",
        "fit order 7",
        "roll out order 7",
        "the same",
    ]
    assert all(row.seconds > 0 and row.n_events > 0 and row.peak_gib > 0 for row in rows)
    assert [row.file_mb is not None for row in rows] == [True, False, True, False, False]
    assert rows[-1].beside == rows[1].work
    assert not list(tmp_path.iterdir())
