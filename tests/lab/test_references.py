"""Reference and oracle rollouts are made once, found again, and cut out of larger tables."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from edsim.errors import BadCohortError
from edsim.lab.build import build_cohort
from edsim.lab.cohort import Cohort, open_cohort
from edsim.lab.references import has_oracle, kept_rollouts
from edsim.lab.rollouts import RolloutSettings, roll_out
from edsim.sources import SOURCES
from edsim.tables.rollouts import Rollouts


@pytest.fixture()
def cohort(tmp_path: Path) -> Cohort:
    source = SOURCES["synthetic"]
    build_cohort(source, source.options(stays=300), tmp_path / "C")
    return open_cohort(tmp_path / "C")


def kept_files(cohort: Cohort) -> dict[str, int]:
    """Name and time of writing."""
    folder = cohort.directory / "artifacts" / "rollouts"
    return {path.name: path.stat().st_mtime_ns for path in folder.glob("*.parquet")}


def same_rows(one: Rollouts, other: Rollouts) -> bool:
    return (
        np.array_equal(one.launches, other.launches)
        and np.array_equal(one.generated.tokens, other.generated.tokens)
        and np.array_equal(one.generated.minutes, other.generated.minutes)
        and one.header.launches == other.header.launches
    )


@pytest.mark.parametrize("producer", ["ngram:3", "oracle"])
def test_a_table_is_made_once(cohort: Cohort, producer: str) -> None:
    made = kept_rollouts(cohort, producer, launches="matched-50")
    before = kept_files(cohort)
    assert same_rows(kept_rollouts(cohort, producer, launches="matched-50"), made)
    assert kept_files(cohort) == before


@pytest.mark.parametrize("producer", ["ngram:3", "oracle"])
def test_a_smaller_set_is_cut_out_of_the_whole(cohort: Cohort, producer: str) -> None:
    kept_rollouts(cohort, producer, launches="all")
    before = kept_files(cohort)
    settings = RolloutSettings(launches="matched-50")
    cut = kept_rollouts(cohort, producer, launches="matched-50")
    assert same_rows(cut, roll_out(cohort, producer, settings))
    assert kept_files(cohort) == before


def test_vocabularies_caps_and_draws_have_tables_of_their_own(cohort: Cohort) -> None:
    for different in ({}, {"vocabulary": "ed7"}, {"cap": 5}, {"draws": 2}):
        kept_rollouts(cohort, "markov", launches="matched-20", **different)  # type: ignore[arg-type]
    assert len(kept_files(cohort)) == 4


def test_a_cohort_of_unknown_process_has_no_oracle(cohort: Cohort) -> None:
    from dataclasses import replace

    unknown = replace(cohort, manifest=replace(cohort.manifest, source="eventlog"))
    assert has_oracle(cohort) and not has_oracle(unknown)
    with pytest.raises(BadCohortError, match="no oracle"):
        kept_rollouts(unknown, "oracle", launches="matched-20")
