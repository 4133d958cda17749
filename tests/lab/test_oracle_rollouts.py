"""The oracle as a producer: its branches encoded as the cohort is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

from edsim.errors import BadCohortError
from edsim.lab import oracle as module
from edsim.lab.build import CohortSettings, build_cohort
from edsim.lab.cohort import Cohort, open_cohort
from edsim.lab.oracle import Oracle, oracle_of
from edsim.lab.rollouts import RolloutSettings, roll_out
from edsim.sources.synthetic import SOURCE, SyntheticOptions
from edsim.sources.synthetic.draws import stay_keys
from edsim.sources.synthetic.medicines import name_keys
from edsim.sources.synthetic.oracle import department_of, events_with_keys
from edsim.sources.synthetic.reading import stay_numbers
from edsim.tables.visits import END, Launches, Suffixes

VOCABULARIES = ("ed7", "ed32", "ed182")


@pytest.fixture(scope="module", params=[0.0, 1.0], ids=["no drift", "drift"])
def cohort(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Cohort:
    directory = tmp_path_factory.mktemp("oracle") / "C"
    options = SyntheticOptions(stays=500, seed=3, drift=request.param)
    build_cohort(SOURCE, options, directory, settings=CohortSettings(vocabularies=VOCABULARIES))
    return open_cohort(directory)


@pytest.fixture(scope="module")
def launches(cohort: Cohort) -> Launches:
    return np.asarray(cohort.launches("all"))


def replayed(
    options: Mapping[str, Any],
    version: str,
    stay_ids: np.ndarray,
    prefix_lengths: np.ndarray,
    draws: np.ndarray,
    *,
    seed: int,
) -> pl.DataFrame:
    """Goes on with the stays' own chance."""
    department = department_of(options, version)
    numbers = stay_numbers(stay_ids.astype(np.int64))
    keys, names = stay_keys(department, numbers), name_keys(department.seed, numbers)
    return events_with_keys(department, numbers, prefix_lengths.astype(np.int64), keys, names)


def ask(
    oracle: Oracle, launches: Launches, *, cap: int = 600, draws: int = 1, seed: int = 0
) -> Suffixes:
    visits = oracle.cohort.visits(oracle.vocabulary.name)
    return oracle(visits.prefixes(launches), cap=cap, draws=draws, seed=seed)


def assert_same(one: Suffixes, other: Suffixes) -> None:
    assert np.array_equal(one.offsets, other.offsets)
    assert np.array_equal(one.tokens, other.tokens)
    assert one.minutes.tobytes() == other.minutes.tobytes()


@pytest.mark.parametrize("vocabulary", VOCABULARIES)
def test_with_the_stays_own_chance_a_branch_is_the_observed_suffix(
    cohort: Cohort, launches: Launches, vocabulary: str
) -> None:
    oracle = replace(oracle_of(cohort, vocabulary), branch=replayed)
    assert_same(ask(oracle, launches), cohort.visits(vocabulary).suffixes(launches))


def test_the_oracle_itself_goes_on_differently(cohort: Cohort, launches: Launches) -> None:
    branched = ask(oracle_of(cohort, "ed32"), launches)
    observed = cohort.visits("ed32").suffixes(launches)
    same = [np.array_equal(branched.row(i), observed.row(i)) for i in range(len(launches))]
    assert np.mean(same) < 0.3
    assert (branched.minutes >= 0).all()
    assert (branched.tokens[branched.offsets[1:] - 1] == END).all()
    assert np.count_nonzero(branched.tokens == END) == len(launches)


def test_a_coarse_vocabulary_sees_the_same_branches(cohort: Cohort, launches: Launches) -> None:
    fine, coarse = (ask(oracle_of(cohort, name), launches, seed=4) for name in ("ed32", "ed7"))
    whole = {name: cohort.visits(name).tokens for name in ("ed32", "ed7")}
    coarse_of = np.zeros(len(cohort.vocabulary("ed32")), dtype=np.int16)
    coarse_of[whole["ed32"]] = whole["ed7"]
    assert np.array_equal(coarse_of[whole["ed32"]], whole["ed7"])
    assert_same(coarse, Suffixes(coarse_of[fine.tokens], fine.minutes, fine.offsets))


def test_seeds_and_draws_differ_and_come_again(cohort: Cohort, launches: Launches) -> None:
    oracle = oracle_of(cohort, "ed32")
    draws = ask(oracle, launches, draws=3, seed=1)
    single = [draws.take(np.arange(k, len(draws), 3)) for k in range(3)]
    assert_same(single[0], ask(oracle, launches, seed=1))
    assert_same(
        single[1], ask(oracle, launches, draws=2, seed=1).take(np.arange(1, 2 * len(launches), 2))
    )
    futures = [*single, ask(oracle, launches, seed=2)]
    assert len({future.tokens.tobytes() for future in futures}) == 4


def test_order_and_chunks_change_nothing(
    cohort: Cohort, launches: Launches, monkeypatch: pytest.MonkeyPatch
) -> None:
    oracle = oracle_of(cohort, "ed32")
    together = ask(oracle, launches, draws=2)
    order = np.random.default_rng(0).permutation(len(launches))
    shuffled = ask(oracle, launches[order], draws=2)
    rows = (2 * order[:, None] + np.arange(2)).ravel()
    assert_same(shuffled, together.take(rows))
    monkeypatch.setattr(module, "CHUNK", 7)
    few = launches[:40]
    assert_same(ask(oracle, few, draws=2), together.take(np.arange(80)))


def test_a_longer_branch_is_cut_at_the_cap_and_end_may_be_its_last_event(
    cohort: Cohort, launches: Launches
) -> None:
    oracle = oracle_of(cohort, "ed32")
    whole = ask(oracle, launches)
    cap = int(np.median(whole.lengths()))
    cut = ask(oracle, launches, cap=cap)
    assert_same(cut, whole.cut(cap))
    ended = cut.tokens[cut.offsets[1:] - 1] == END
    assert np.array_equal(ended, whole.lengths() <= cap)
    assert (whole.lengths() == cap).any()
    assert (cut.lengths()[~ended] == cap).all()


def test_no_launches_no_branches(cohort: Cohort) -> None:
    assert len(ask(oracle_of(cohort), np.zeros((0, 2), dtype=np.int32))) == 0


def test_the_table_says_that_the_producer_is_privileged(cohort: Cohort) -> None:
    settings = RolloutSettings(launches="matched-50", vocabulary="ed32", draws=2)
    rollouts = roll_out(cohort, "oracle", settings)
    assert rollouts.header.privileged
    assert rollouts.header.producer_version == cohort.manifest.source_version
    assert len(rollouts) == 100


def test_a_cohort_whose_process_is_not_known_has_no_oracle(cohort: Cohort) -> None:
    for source in ("mimic", "meds", "made-up"):
        other = replace(cohort, manifest=replace(cohort.manifest, source=source))
        with pytest.raises(BadCohortError, match=f"source '{source}' has no oracle.*'synthetic'"):
            oracle_of(other)


def test_events_that_the_process_did_not_draw_are_refused(
    cohort: Cohort, launches: Launches
) -> None:
    oracle = oracle_of(cohort, "ed32")
    other = replace(cohort.manifest, source_options={**cohort.manifest.source_options, "seed": 4})
    mistaken = replace(oracle, cohort=replace(cohort, manifest=other))
    early = launches[launches[:, 1] == 1]
    early = np.concatenate([early, early + np.array([0, 1], dtype=np.int32)])
    with pytest.raises(BadCohortError, match=r"of \d+ launch rows are not those the process draws"):
        ask(mistaken, early)
