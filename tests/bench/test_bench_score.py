"""What `edsim bench score` measures is the work it names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from edsim.bench import score_work
from edsim.lab.build import build_cohort
from edsim.lab.cohort import open_cohort
from edsim.sources import SOURCES


@pytest.fixture(scope="module")
def cohort(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bench") / "cohort"
    synthetic = SOURCES["synthetic"]
    build_cohort(synthetic, synthetic.options(stays=300), folder)
    return folder


def work(kind: str, cohort: Path, *more: str) -> list[dict[str, Any]]:
    result = cohort.parent / "result.json"
    score_work.main(kind, str(cohort), str(result), *more)
    lines = json.loads(result.read_text())
    assert all(line["seconds"] > 0 and line["cpu_seconds"] >= 0 for line in lines)
    return lines


def test_scoring_is_of_every_test_launch_and_every_measure(cohort: Path) -> None:
    (line,) = work("score", cohort)
    assert line["n_rollouts"] == open_cohort(cohort).n_launches("all") > 100
    assert "1,000 resamples" in line["work"] and line["n_events"] > line["n_rollouts"]


def test_crps_is_of_as_many_draws_as_it_says(cohort: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(score_work, "CRPS_LAUNCHES", 50)
    (line,) = work("crps", cohort)
    assert line["n_rollouts"] == 50 * 32 and "50 launches x 32" in line["work"]


def test_distances_stand_beside_the_packages_up_to_the_size_it_can_take(cohort: Path) -> None:
    pytest.importorskip("log_distance_measures")
    lines = work("neighbours", cohort, "20", "20,100,1000000")
    ours = [line["work"] for line in lines if "beside" not in line]
    theirs = [line["beside"] for line in lines if "beside" in line]
    assert theirs == [name for name in ours if ", 20 rollouts" in name] and len(theirs) == 4
    assert len(ours) == 8  # more rollouts than there are cannot be measured
