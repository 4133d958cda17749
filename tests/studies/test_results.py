"""Results are found where they were made, of the main cohort and of those beside it."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

from edsim.errors import BadCohortError
from edsim.lab.build import build_cohort
from edsim.lab.cohort import Cohort, open_cohort
from edsim.lab.scores import ScoreSettings
from edsim.sources import SOURCES
from edsim.studies.results import Results
from edsim.studies.runs import Role, Run

QUICK = ScoreSettings(metrics=["termination", "jsd"], resamples=20)
RUN = Run(producer="markov", launches="matched-60")


@pytest.fixture(scope="module")
def cohort(tmp_path_factory: pytest.TempPathFactory) -> Cohort:
    folder = tmp_path_factory.mktemp("results") / "C"
    build_cohort(SOURCES["synthetic"], SOURCES["synthetic"].options(stays=1_500), folder)
    return open_cohort(folder)


def files_of(cohort: Cohort, kind: str) -> dict[str, int]:
    folder = cohort.directory / "artifacts" / kind
    return {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}


def test_a_sheet_is_made_once_and_is_that_of_its_run(cohort: Cohort) -> None:
    sheet = Results(cohort, scoring=QUICK).sheet(RUN)
    before = files_of(cohort, "scores"), files_of(cohort, "rollouts")
    assert Results(cohort, scoring=QUICK).sheet(RUN) == sheet
    assert (files_of(cohort, "scores"), files_of(cohort, "rollouts")) == before
    assert (sheet.producer, sheet.launches, sheet.rule) == ("markov", "matched-60", "vanilla")
    jsd = sheet.find("jsd")
    assert jsd is not None and jsd.value is not None and jsd.reference is not None


def test_whatever_differs_has_a_sheet_of_its_own(cohort: Cohort) -> None:
    results = Results(cohort, scoring=QUICK)
    first = results.sheet(RUN)
    n_before = len(files_of(cohort, "scores"))
    capped = results.sheet(replace(RUN, cap=3))
    assert capped.cap == 3 and capped.rows != first.rows
    assert results.sheet(replace(RUN, rollout_seed=1)).rows != first.rows
    assert results.sheet(replace(RUN, rule="greedy")).rule == "greedy"
    more = results.sheet(RUN, replace(QUICK, metrics=["termination"]))
    assert {row.metric for row in more.rows} == {"termination"}
    assert len(files_of(cohort, "scores")) == n_before + 2 * 4


def test_a_synthetic_cohort_brings_those_beside_it(cohort: Cohort) -> None:
    results = Results(cohort, scoring=QUICK)
    temporal = results.cohort("temporal")
    assert temporal is not None and "2017" in temporal.manifest.split["rule"]
    assert results.absent("temporal") == ""
    assert results.cohort("temporal") is temporal
    again = Results(cohort).cohort("temporal")
    assert again is not None and again.directory == temporal.directory
    sheet = results.sheet(replace(RUN, cohort="temporal"))
    assert sheet.cohort["content_hash"] == temporal.manifest.content_hash


def test_the_second_department_is_read_back_from_its_files(cohort: Cohort) -> None:
    external = Results(cohort).cohort("external")
    assert external is not None and external.manifest.source == "mcmed"
    assert external.manifest.cap == 512 and not external.manifest.restricted


def test_the_same_visits_are_encoded_with_the_finest_vocabulary_once(cohort: Cohort) -> None:
    results = Results(cohort)
    extended = results.cohort("extended")
    assert extended is not None and list(extended.manifest.vocabularies) == ["ed182"]
    assert extended.manifest.files["stays.parquet"] == cohort.manifest.files["stays.parquet"]
    assert Results(extended).cohort("extended") is extended


def test_of_real_data_the_command_is_named(cohort: Cohort) -> None:
    real = Cohort(cohort.directory, replace(cohort.manifest, source="mimic"))
    results = Results(real, temporal=None)
    assert results.cohort("temporal") is None
    assert "--split temporal" in results.absent("temporal")
    assert "mcmed" in results.absent("external")
    with pytest.raises(BadCohortError, match=r"there is no temporal cohort .* --temporal"):
        results.sheet(replace(RUN, cohort="temporal"))
    assert Results(real, temporal=cohort).cohort("temporal") is cohort
    with pytest.raises(BadCohortError, match=r"--vocabulary ed182 --out COHORT` .* --cohort"):
        results.sheet(replace(RUN, cohort="extended"))


@pytest.mark.parametrize("role", ["temporal", "external", "extended"])
def test_the_command_that_is_named_has_flags_that_there_are(cohort: Cohort, role: Role) -> None:
    real = Cohort(cohort.directory, replace(cohort.manifest, source="mimic"))
    _, _, _, source, *words = Results(real).absent(role).split()
    flags = {word.removeprefix("--") for word in words if word.startswith("--")}
    of_source = {field.name for field in fields(SOURCES[source].options)}
    assert flags <= of_source | {"split", "vocabulary", "out"}


def test_a_run_says_what_is_not_the_default() -> None:
    assert str(RUN) == "markov, matched-60"
    other = replace(RUN, rule="top_k=4", cohort="temporal", draws=8, cap=9, rollout_seed=2)
    assert str(other) == "markov, rule top_k=4, temporal cohort, matched-60, 8 draws, cap 9, seed 2"


def test_the_code_that_scores_is_an_input(cohort: Cohort, monkeypatch: pytest.MonkeyPatch) -> None:
    from edsim.lab import sheets

    asked = sheets.sheet_asked(cohort, RUN.producer, RUN.settings(), QUICK)
    monkeypatch.setattr(sheets, "scoring_code", lambda: "changed")
    assert sheets.sheet_asked(cohort, RUN.producer, RUN.settings(), QUICK).key != asked.key
