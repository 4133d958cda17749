"""A folder of scores is one cohort and one setting, or says what it is instead."""

from __future__ import annotations

from pathlib import Path

import pytest

from edsim.errors import BadInputError, BadTableError
from edsim.report.material import read_material
from edsim.tables.census import write_census
from edsim.tables.scores import write_sheet
from edsim.tables.shown_visits import write_visits
from report.made_up_report import census, cohort, predicted, sheet, study, visits


def test_everything_in_a_folder_and_below_it_is_taken(tmp_path: Path) -> None:
    material = read_material(study(tmp_path))
    assert len(material.sheets) == 11
    assert {one.producer for one in material.open_loop} == {
        "ngram:3",
        "gru@1",
        "transformer@1",
        "joint@1",
    }
    assert (len(material.visits), len(material.censuses)) == (2, 1)
    assert not material.restricted


def test_of_several_settings_the_one_with_most_producers_is_shown_and_the_rest_is_named(
    tmp_path: Path,
) -> None:
    for name, launches in (("a", "matched-1000"), ("b", "matched-1000"), ("c", "triage")):
        write_sheet(sheet(name, launches=launches), tmp_path / f"{name}.scores.json")
    material = read_material(tmp_path)
    assert [one.producer for one in material.sheets] == ["a", "b"]
    assert material.left_out == (
        "1 file of another setting (vocabulary ed5, launches triage, cap 128)",
    )
    assert [one.producer for one in read_material(tmp_path, launches="triage").sheets] == ["c"]


def test_what_belongs_to_another_cohort_or_vocabulary_is_not_shown(tmp_path: Path) -> None:
    from dataclasses import replace

    write_sheet(sheet("a"), tmp_path / "a.scores.json")
    write_visits(replace(visits("a"), vocabulary_sha256="other"), tmp_path / "a.visits.json")
    write_census(
        replace(census("a"), cohort=cohort(content_hash="other")), tmp_path / "a.census.json"
    )
    material = read_material(tmp_path)
    assert (material.visits, material.censuses) == ((), ())


def test_two_cohorts_are_refused(tmp_path: Path) -> None:
    write_sheet(sheet("a"), tmp_path / "a.scores.json")
    write_sheet(sheet("b", cohort=cohort(content_hash="other")), tmp_path / "b.scores.json")
    with pytest.raises(BadInputError, match="scores of 2 cohorts"):
        read_material(tmp_path)


def test_a_folder_without_scores_of_rollouts_says_how_to_make_some(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="edsim score PRODUCERS"):
        read_material(tmp_path / "nowhere")
    with pytest.raises(BadInputError, match="holds no"):
        read_material(tmp_path)
    write_sheet(predicted("a", 0.5), tmp_path / "a.scores.json")
    with pytest.raises(BadInputError, match="predictions only"):
        read_material(tmp_path)
    write_sheet(sheet("a"), tmp_path / "b.scores.json")
    with pytest.raises(BadInputError, match="has no scores of what was asked for"):
        read_material(tmp_path, vocabulary="ed32")


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"schema_version": 1}', '{"schema_version": 1, "visits": [{"stay_id": 3}]}'],
)
def test_a_broken_file_of_visits_is_refused_by_its_name(tmp_path: Path, text: str) -> None:
    write_sheet(sheet("a"), tmp_path / "a.scores.json")
    (tmp_path / "a.visits.json").write_text(text)
    with pytest.raises(BadTableError, match=r"a\.visits\.json"):
        read_material(tmp_path)


def test_visits_whose_events_have_no_name_are_refused(tmp_path: Path) -> None:
    write_sheet(sheet("a"), tmp_path / "a.scores.json")
    write_visits(visits("a", tokens=("END", "Triage")), tmp_path / "a.visits.json")
    with pytest.raises(BadTableError, match="do not fit"):
        read_material(tmp_path)
