"""`edsim predict` and the scores of what it writes, as a user types them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import edsim
from edsim.cli import run
from edsim.errors import BadTableError


@pytest.fixture(scope="module")
def cohort(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("predict") / "C"
    source = edsim.SOURCES["synthetic"]
    edsim.build_cohort(source, source.options(stays=600), out)
    return out


def test_predictions_are_made_kept_written_and_scored(
    cohort: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, sheet = tmp_path / "markov.predictions.parquet", tmp_path / "markov.scores.json"
    assert run(["predict", "markov", "--cohort", str(cohort), "--out", str(file)]) == 0
    assert "right, written to" in capsys.readouterr().out
    assert run(["predict", "markov", "--cohort", str(cohort), "--out", str(file)]) == 2
    command = ["score", str(file), "--cohort", str(cohort), "--populations", "acuity"]
    assert run([*command, "--json", str(sheet)]) == 0
    said = capsys.readouterr().out
    assert "Next event right" in said and "By acuity" in said
    found = edsim.read_sheet(sheet)
    opened = edsim.open_cohort(cohort)
    own = edsim.kept_predictions(opened, "markov")
    row = found.find("accuracy")
    assert row is not None and row.value == pytest.approx((own.rank == 1).mean())
    assert row.reference == pytest.approx((edsim.predict(opened, "ngram:3").rank == 1).mean())
    assert found.rule == "open loop" and row.low is not None and row.low < row.value
    assert json.loads(sheet.read_text())["launches"] == "all"


def test_a_smaller_set_is_cut_out_of_the_whole(cohort: Path) -> None:
    opened = edsim.open_cohort(cohort)
    edsim.kept_predictions(opened, "ngram:2")
    cut = edsim.kept_predictions(opened, "ngram:2", launches="matched-50")
    made = edsim.predict(opened, "ngram:2", launches="matched-50")
    assert np.array_equal(cut.launches, made.launches)
    assert np.array_equal(cut.log_prob, made.log_prob)
    assert cut.header == made.header


def test_what_cannot_be_asked_or_scored_is_refused(
    cohort: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "x.predictions.parquet"
    at = ["--cohort", str(cohort)]
    assert run(["predict", "oracle", *at, "--out", str(file)]) == 2
    assert "runs by itself" in capsys.readouterr().err
    assert run(["predict", "markov", *at, "--out", str(tmp_path / "x.parquet")]) == 2
    assert "is named *.predictions.parquet" in capsys.readouterr().err
    assert run(["predict", "markov", *at, "--out", str(file), "--launches", "matched-20"]) == 0
    assert run(["score", str(file), "ngram:3", *at]) == 2
    assert "two commands" in capsys.readouterr().err
    assert run(["score", str(file), *at, "--metrics", "jsd"]) == 2
    assert "there is no measure 'jsd'" in capsys.readouterr().err


def test_predictions_about_other_events_are_refused(cohort: Path) -> None:
    opened = edsim.open_cohort(cohort)
    made = edsim.predict(opened, "markov", launches="matched-20")
    made.token[3] = (made.token[3] + 1) % 10
    with pytest.raises(BadTableError, match="1 of 20 predictions are about an event"):
        edsim.score_predictions([made], opened)


def test_coverage_of_contexts_is_a_sheet_too(
    cohort: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "coverage.scores.json"
    command = ["cohort", "coverage", str(cohort), "--orders", "3", "--json", str(file)]
    assert run(command) == 0
    sheet = edsim.read_sheet(file)
    shares = [sheet.find("context_coverage", at=order) for order in (1, 2, 3)]
    values = [row.value for row in shares if row is not None and row.value is not None]
    assert 1 >= values[0] >= values[1] >= values[2] > 0
    assert f"{values[2]:.6f}" in capsys.readouterr().out
    assert shares[0] is not None and shares[0].n_launches == len(
        edsim.open_cohort(cohort).launches("all")
    )
