"""One content, one hash: whatever file form a log has, and after a journey through MEDS."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from edsim.cohort.splits import SplitRule
from edsim.lab.build import CohortSettings, build_cohort
from edsim.lab.check import check_cohort
from edsim.lab.cohort import open_cohort
from edsim.lab.export import export_meds
from edsim.sources import SOURCES
from edsim.sources.eventlog import EventLogOptions
from edsim.sources.meds import MedsOptions
from edsim.sources.synthetic import SyntheticOptions

AS_GIVEN = SplitRule(kind="given")


def through_meds(cohort: Path, folder: Path, **settings: Any) -> Path:
    """The cohort exported as MEDS and built from that again."""
    export_meds(open_cohort(cohort), folder / "meds")
    options = MedsOptions(folder / "meds")
    again = CohortSettings(split=AS_GIVEN, **settings)
    build_cohort(SOURCES["meds"], options, folder / "again", settings=again)
    return folder / "again"


def test_the_sepsis_log_makes_the_same_cohort_from_both_its_forms_and_from_meds(
    open_data: Path, tmp_path: Path
) -> None:
    pytest.importorskip("r4pm")
    folder = open_data / "sepsis-cases"
    manifests = [
        build_cohort(SOURCES["eventlog"], EventLogOptions(folder / name), tmp_path / name)
        for name in ("sepsis_cases.csv.gz", "sepsis_cases_event_log.xes.gz")
    ]
    assert manifests[0].n_stays == 1050
    assert manifests[0].n_events == 15214
    again = open_cohort(through_meds(tmp_path / "sepsis_cases.csv.gz", tmp_path)).manifest
    assert len({m.content_hash for m in (*manifests, again)}) == 1
    assert all(finding.passed for finding in check_cohort(tmp_path / "again"))


def test_a_cohort_with_every_attribute_comes_back_from_meds(tmp_path: Path) -> None:
    options = SyntheticOptions(stays=1500)
    first = build_cohort(SOURCES["synthetic"], options, tmp_path / "c")
    again = open_cohort(
        through_meds(tmp_path / "c", tmp_path, vocabularies=tuple(first.vocabularies))
    ).manifest
    assert again.content_hash == first.content_hash
    assert again.launches == first.launches
    assert (again.cap, again.triage_activity) == (first.cap, first.triage_activity)
    for name in first.vocabularies:
        for array in ("tokens", "minutes", "offsets", "start"):
            path = f"encoded/{name}/{array}.npy"
            assert (tmp_path / "c" / path).read_bytes() == (tmp_path / "again" / path).read_bytes()
