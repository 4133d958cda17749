"""A table made in parts is the table made in one go, byte for byte."""

from __future__ import annotations

from pathlib import Path

import pytest

from edsim.errors import BadInputError
from edsim.lab.build import build_cohort
from edsim.lab.cohort import Cohort, open_cohort
from edsim.lab.parts import joined_path, part_asked, part_path, parts_of
from edsim.lab.rates import Rates
from edsim.lab.references import kept_rollouts, rollouts_path
from edsim.lab.rollouts import RolloutSettings
from edsim.lab.store import store_of
from edsim.sources import SOURCES


@pytest.fixture(scope="module")
def cohort(tmp_path_factory: pytest.TempPathFactory) -> Cohort:
    folder = tmp_path_factory.mktemp("parts") / "C"
    build_cohort(SOURCES["synthetic"], SOURCES["synthetic"].options(stays=300), folder)
    return open_cohort(folder)


@pytest.mark.parametrize("producer", ["ngram:2", "oracle"])
def test_joined_parts_are_the_whole(cohort: Cohort, producer: str, tmp_path: Path) -> None:
    settings = RolloutSettings(launches="matched-70", draws=3, seed=1)
    store = store_of(cohort)
    whole = rollouts_path(cohort, producer, settings)
    at_once = whole.read_bytes()
    whole.unlink()
    parts = parts_of(cohort, settings, rows=60)
    assert [part.part for part in parts] == [(0, 17), (17, 35), (35, 52), (52, 70)]
    part_path(cohort, producer, parts[2])  # in any order, and by anyone
    assert joined_path(cohort, producer, parts) == whole
    assert whole.read_bytes() == at_once
    left = [part for part in parts if store.holds(part_asked(cohort, producer, part))]
    assert left == [], "parts of a table that is there are removed"


def test_few_rollouts_are_not_divided(cohort: Cohort) -> None:
    assert parts_of(cohort, RolloutSettings(launches="matched-70"), rows=70) == []
    assert len(parts_of(cohort, RolloutSettings(launches="matched-3", draws=9), rows=1)) == 3


def test_what_parts_took_is_known_for_the_next_time(cohort: Cohort) -> None:
    settings = RolloutSettings(launches="matched-50", seed=2)
    parts = parts_of(cohort, settings, rows=25)
    asked = [part_asked(cohort, "markov", part) for part in parts]
    assert Rates([]).expected(asked[0]).seconds is None
    joined_path(cohort, "markov", parts)
    expected = Rates([store_of(cohort)]).expected(asked[0])
    assert expected.like == "markov" and expected.seconds is not None and expected.mib is not None
    other = part_asked(cohort, "ngram:6", parts[0])
    assert Rates([store_of(cohort)]).expected(other).like == ""


@pytest.mark.parametrize(
    "name", ["all", "matched-40", "matched-100k", "triage", "val-2000", "val-7"]
)
def test_a_set_is_counted_without_drawing_it(cohort: Cohort, name: str) -> None:
    assert cohort.n_launches(name) == len(cohort.launches(name))


def test_a_set_that_is_none_is_not_counted(cohort: Cohort) -> None:
    with pytest.raises(BadInputError, match="did you mean 'late'"):
        cohort.n_launches("latte")


def test_launches_of_validation_are_not_cut_out_of_the_test(cohort: Cohort) -> None:
    kept_rollouts(cohort, "markov", launches="all")
    assert len(kept_rollouts(cohort, "markov", launches="val-30")) == 30
