"""Downstream tasks of a cohort: the rows and answers by hand, transport, and what cannot be told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import edsim
from edsim.cli import run
from edsim.errors import BadTableError
from edsim.lab import downstream as lab_downstream
from edsim.lab import downstream_tasks
from edsim.lab.cohort import Cohort
from edsim.lab.downstream import NO_DISCHARGE, downstream
from edsim.lab.downstream_tasks import Department, after_arrival, at_completion, every_row
from edsim.tables.downstream import DownstreamRow
from edsim.tables.visits import Visits

DISCHARGE = 4


def ward() -> Department:
    """Three test stays: of four events with a discharge, of two without, one that begins early."""
    tokens = [1, 2, DISCHARGE, 3, 0, 1, 2, 0, 1, 2, 0]
    minutes = [0, 50, 30, 5, 0, 0, 90, 0, 0, 20, 0]
    visits = Visits(
        np.array(tokens, np.int16),
        np.array(minutes, np.float32),
        np.array([0, 5, 8, 11]),
        np.array([0.0, 0.0, -30.0]),
        np.array([b"a", b"b", b"c"]),
        np.full(3, 2, np.int8),
    )
    return Department(visits, np.array([85.0, 90.0, 300.0]), (DISCHARGE,), np.arange(3))


def test_every_row_before_the_discharge_is_asked_whether_it_comes_within_the_hour() -> None:
    found = every_row(ward(), "test", 100)
    rows = {
        (int(s), int(n)): bool(y) for (s, n), y in zip(found.launches, found.outcome, strict=True)
    }
    assert rows == {
        (0, 1): False,  # 80 minutes to go
        (0, 2): True,  # 30
        (1, 1): False, (1, 2): False,  # never
        (2, 1): False, (2, 2): False,
    }  # fmt: skip


def test_landmarks_by_completion_and_by_the_clock() -> None:
    found = at_completion(ward(), "test", 89, share=0.5)
    assert found.launches.tolist() == [[0, 2], [1, 1], [2, 1]]
    assert found.outcome.tolist() == [False, True, True]
    hour = after_arrival(ward(), "test", 89, hours=1)
    assert hour.launches.tolist() == [[0, 2], [1, 1], [2, 2]]
    later = after_arrival(ward(), "test", 89, hours=2)
    assert later.launches.tolist() == [[2, 2]]  # the others have left


def test_a_sample_of_rows_is_part_of_every_larger_one(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = []
    for most in (2, 4, 100):
        monkeypatch.setitem(downstream_tasks.MOST_ROWS, "test", most)  # type: ignore[arg-type]
        taken.append({tuple(row) for row in every_row(ward(), "test", 1).launches.tolist()})
    assert taken[0] < taken[1] < taken[2] and len(taken[0]) == 2


@pytest.fixture(scope="module")
def cohort(tmp_path_factory: pytest.TempPathFactory) -> Cohort:
    out = tmp_path_factory.mktemp("downstream") / "C"
    source = edsim.SOURCES["synthetic"]
    edsim.build_cohort(source, source.options(stays=1500), out)
    return edsim.open_cohort(out)


def row_of(rows: tuple[DownstreamRow, ...], **wanted: object) -> DownstreamRow:
    return next(r for r in rows if all(getattr(r, name) == value for name, value in wanted.items()))


def test_a_cohort_is_judged_at_home_and_away_and_written(
    cohort: Cohort, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "delays.downstream.json"
    at = str(cohort.directory)
    command = [
        "downstream",
        "--cohort",
        at,
        "--target",
        at,
        "--resamples",
        "20",
        "--json",
        str(file),
    ]
    assert run(command) == 0
    said = capsys.readouterr().out
    assert "From delays alone, internal" in said and "to synthetic" in said
    assert run(command) == 2
    found = edsim.read_downstream(file)
    assert len(found.rows) == 7 * 2 * 2 * 2 * 2
    some = {"task": "top-decile LOS", "landmark": "75 %", "model": "logistic", "features": "gaps"}
    fitted = row_of(found.rows, target="internal", calibration="as fitted", **some)
    moved = row_of(found.rows, target="internal", calibration="recalibrated", **some)
    away = row_of(found.rows, target="to synthetic", calibration="as fitted", **some)
    assert fitted.auroc is not None and fitted.auroc > 0.75
    assert moved.auroc == pytest.approx(fitted.auroc)
    assert replace(away, target="internal") == fitted  # the same cohort
    assert fitted.on_outcome and 0.04 < (fitted.prevalence or 0) < 0.2
    elapsed = row_of(found.rows, task="discharge readiness", features="elapsed alone")
    assert elapsed.n_rows > 1000 and elapsed.auroc is not None
    file.write_text("[]")
    with pytest.raises(BadTableError, match="no downstream table"):
        edsim.read_downstream(file)


def test_without_discharge_tokens_readiness_is_null_with_the_reason(
    cohort: Cohort, monkeypatch: pytest.MonkeyPatch
) -> None:
    of = Department.of
    monkeypatch.setattr(
        lab_downstream.Department, "of", lambda *args: replace(of(*args), discharges=())
    )
    monkeypatch.setattr(lab_downstream, "TASKS", dict(list(lab_downstream.TASKS.items())[-1:]))
    rows = downstream(cohort, resamples=5).rows
    assert {row.note for row in rows} == {NO_DISCHARGE}
    assert all(row.auroc is None for row in rows)


def test_few_people_with_an_outcome_are_not_told_of(
    cohort: Cohort, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = Cohort(cohort.directory, replace(cohort.manifest, restricted=True))
    monkeypatch.setattr(downstream_tasks, "LONG", 0.995)
    monkeypatch.setattr(lab_downstream, "TASKS", dict(list(lab_downstream.TASKS.items())[:1]))
    rows = downstream(kept, resamples=5).rows
    assert all(row.auroc is None and "fewer than 10 subjects" in row.note for row in rows)
