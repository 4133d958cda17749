"""All draws of every launch stand beside what was observed there, or are refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from edsim.errors import BadTableError
from edsim.lab.beside_truth import beside_truth, ensemble_of
from edsim.lab.build import build_cohort
from edsim.lab.cohort import Cohort, open_cohort
from edsim.lab.rollouts import RolloutSettings, roll_out
from edsim.sources import SOURCES
from edsim.tables.rollouts import Rollouts


@pytest.fixture(scope="module")
def cohort(tmp_path_factory: pytest.TempPathFactory) -> Cohort:
    source, directory = SOURCES["synthetic"], tmp_path_factory.mktemp("ensembles") / "C"
    build_cohort(source, source.options(stays=200), directory)
    return open_cohort(directory)


@pytest.fixture(scope="module")
def rollouts(cohort: Cohort) -> Rollouts:
    return roll_out(cohort, "oracle", RolloutSettings(launches="matched-40", draws=3))


def some(rollouts: Rollouts, rows: np.ndarray) -> Rollouts:
    return Rollouts(
        rollouts.header,
        rollouts.launches[rows],
        rollouts.draw[rows],
        rollouts.generated.take(rows),
    )


def test_every_draw_is_there_beside_one_truth(cohort: Cohort, rollouts: Rollouts) -> None:
    found = ensemble_of(rollouts, cohort)
    assert found.draws == 3 and len(found.launches) == len(found.observed) == 40
    for draw in range(3):
        one = beside_truth(rollouts, cohort, draw=draw)
        assert np.array_equal(one.launches, found.launches)
        assert np.array_equal(one.observed.tokens, found.observed.tokens)
        minutes = one.generated.total_minutes()
        assert np.allclose(found.generated.total_minutes().reshape(-1, 3)[:, draw], minutes)


def test_a_launch_without_all_its_draws_is_refused(cohort: Cohort, rollouts: Rollouts) -> None:
    n = len(rollouts)
    for rows in (np.arange(1, n), np.delete(np.arange(n), 4), np.delete(np.arange(n), [1, 3, 8])):
        with pytest.raises(BadTableError, match="3 draws of every launch"):
            ensemble_of(some(rollouts, rows), cohort)
    with pytest.raises(BadTableError):
        ensemble_of(replace(rollouts, header=replace(rollouts.header, draws=2)), cohort)
