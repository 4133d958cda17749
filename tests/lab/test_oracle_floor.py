"""The oracle is a floor: on 40,000 launches nothing tells its continuations from the true ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest

from edsim.lab.beside_truth import beside_truth
from edsim.lab.build import CohortSettings, build_cohort
from edsim.lab.cohort import Cohort, open_cohort
from edsim.lab.oracle import oracle_of
from edsim.lab.rollouts import RolloutSettings, roll_out
from edsim.metrics.composition import composition_jsd
from edsim.metrics.occupancy import occupancy_error, occupancy_mae
from edsim.metrics.termination import termination
from edsim.metrics.timing import duration_ratio
from edsim.metrics.two_sample import c2st
from edsim.sources.synthetic import SOURCE, SyntheticOptions
from edsim.tables.rollouts import Scored
from edsim.tables.visits import Prefixes, Suffixes

pytestmark = pytest.mark.calibration

LAUNCHES = "matched-40k"


@pytest.fixture(scope="module", autouse=True)
def _one_thread() -> Iterator[None]:
    """Threads that wait for each other on a busy machine take several times as long."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1, user_api="openmp"):
        yield


@pytest.fixture(scope="module")
def cohort(tmp_path_factory: pytest.TempPathFactory) -> Cohort:
    """Enough stays for most launches to be of different ones."""
    directory = tmp_path_factory.mktemp("floor") / "C"
    options = SyntheticOptions(stays=425_028)
    build_cohort(SOURCE, options, directory, settings=CohortSettings(vocabularies=("ed32",)))
    return open_cohort(directory)


@pytest.fixture(scope="module")
def oracle(cohort: Cohort) -> Scored:
    return beside_truth(roll_out(cohort, "oracle", RolloutSettings(launches=LAUNCHES)), cohort)


@pytest.fixture(scope="module")
def prefixes(cohort: Cohort) -> Prefixes:
    found = cohort.visits().prefixes(np.asarray(cohort.launches(LAUNCHES)))
    assert len(found) == 40_000
    return found


def test_the_event_mix_is_that_of_the_truth(oracle: Scored) -> None:
    assert composition_jsd(oracle) <= 1e-4
    assert composition_jsd(oracle, weighting="per_rollout") <= 1e-4
    assert composition_jsd(oracle, 2) <= 1e-3


def test_visits_last_as_long_as_they_do(oracle: Scored) -> None:
    assert termination(oracle) >= 0.998
    assert abs(duration_ratio(oracle) - 1) <= 0.02


def test_as_many_are_still_there(oracle: Scored) -> None:
    assert occupancy_mae(oracle) <= 0.3
    # one launch is a coin of these two sides at most
    assert np.abs(occupancy_error(oracle)).max() <= 3 * 100 * np.sqrt(0.5 / 40_000)


@pytest.mark.parametrize("conditional", [False, True], ids=["marginal", "conditional"])
def test_a_classifier_cannot_tell_them_apart(
    oracle: Scored, prefixes: Prefixes, conditional: bool
) -> None:
    found = c2st(oracle, prefixes, conditional=conditional)
    assert found.n_launches > 15_000
    assert abs(found.auc - found.null_mean) <= 3 * found.null_sd


def test_nor_where_every_launch_of_a_stay_is_there_to_choose_from(cohort: Cohort) -> None:
    """The launch is not chosen by how long its stay turned out to be."""
    everything = np.asarray(cohort.launches("all"))
    launches = everything[: np.searchsorted(everything[:, 0], everything[200_000, 0])]
    visits, oracle = cohort.visits(), oracle_of(cohort)
    prefixes, cap = visits.prefixes(launches), cohort.manifest.cap
    generated = oracle(prefixes, cap=cap, draws=1, seed=0)
    n_tokens = len(oracle.vocabulary)
    found = c2st(Scored(generated, visits.suffixes(launches), launches, n_tokens, cap), prefixes)
    assert found.n_launches > 5_000
    assert abs(found.auc - found.null_mean) <= 3 * found.null_sd


def off_the_lattice(rows: Suffixes, chance: np.random.Generator) -> Suffixes:
    moved = rows.minutes + np.where(rows.minutes > 0, chance.random(len(rows.minutes)), 0)
    return replace(rows, minutes=moved.astype(np.float32))


def shuffled_gaps(rows: Suffixes, chance: np.random.Generator) -> Suffixes:
    row = np.repeat(np.arange(len(rows)), rows.lengths())
    order = np.lexsort((chance.random(len(row)), row))
    return replace(rows, minutes=rows.minutes[order])


def swapped_pairs(rows: Suffixes, chance: np.random.Generator) -> Suffixes:
    """Every second event changes places with the next, the last two of a row never."""
    place = np.arange(len(rows.tokens)) - np.repeat(rows.offsets[:-1], rows.lengths())
    first = np.flatnonzero(
        (place % 2 == 0) & (place + 2 < np.repeat(rows.lengths(), rows.lengths()))
    )
    tokens = rows.tokens.copy()
    tokens[first], tokens[first + 1] = rows.tokens[first + 1], rows.tokens[first]
    return replace(rows, tokens=tokens)


@pytest.mark.parametrize("spoil", [off_the_lattice, shuffled_gaps, swapped_pairs])
def test_a_classifier_finds_what_is_spoilt(
    cohort: Cohort,
    oracle: Scored,
    spoil: Callable[[Suffixes, np.random.Generator], Suffixes],
) -> None:
    rows = np.arange(10_000)
    spoilt = Scored(
        generated=spoil(oracle.generated.take(rows), np.random.default_rng(0)),
        observed=oracle.observed.take(rows),
        launches=oracle.launches[rows],
        n_tokens=oracle.n_tokens,
        cap=oracle.cap,
    )
    assert c2st(spoilt, cohort.visits().prefixes(oracle.launches[rows])).auc > 0.55


def test_the_order_3_model_lies_well_above_the_floor(cohort: Cohort, oracle: Scored) -> None:
    pytest.importorskip("torch")
    rollouts = roll_out(cohort, "ngram:3", RolloutSettings(launches=LAUNCHES))
    counts = beside_truth(rollouts, cohort)
    assert composition_jsd(counts) > 10 * composition_jsd(oracle)
    assert composition_jsd(counts, 2) > 3 * composition_jsd(oracle, 2)
    assert occupancy_mae(counts) > 2 * occupancy_mae(oracle)
