"""What is learned from two visits that can be read by eye."""

from __future__ import annotations

import numpy as np
import pytest

from edsim.errors import BadInputError
from edsim.models.neural.model import NeuralModel
from edsim.tables.visits import Visits
from edsim.training.examples import NO_DISPOSITION, examples_of
from training_runs import data_of, small

HOME, WARD = 4, 5
VISITS = Visits(
    tokens=np.array([1, 3, WARD, 3, 0, 2, 0], dtype=np.int16),
    minutes=np.array([0, 5, 0, 60, 0, 0, 0], dtype=np.float32),
    offsets=np.array([0, 5, 7]),
    start=np.zeros(2),
    stay_ids=np.array([b"a", b"b"]),
)


def model_with(discharges: tuple[int, ...], name: str = "gru") -> NeuralModel:
    return NeuralModel.untrained(small(name).design, VISITS, 6, discharges)


def test_targets_are_what_comes_next_end_after_the_last() -> None:
    found = examples_of(VISITS, model_with((HOME, WARD)))
    assert found.tokens[:-1].tolist() == [1, 3, WARD, 3, 2]
    assert found.next_tokens[:-1].tolist() == [3, WARD, 3, 0, 0]
    assert found.next_gaps[:-1].tolist() == [5, 0, 60, 0, 0]
    assert found.elapsed[:-1].tolist() == [0, 5, 5, 65, 0]
    assert found.remaining[:-1].tolist() == [65, 60, 60, 0, 0]
    assert found.place[:-1].tolist() == [0, 1, 2, 3, 0]


def test_the_disposition_is_the_stays_last_discharge_or_none() -> None:
    found = examples_of(VISITS, model_with((HOME, WARD)))
    assert found.dispositions[:-1].tolist() == [1, 1, 1, 1, NO_DISPOSITION]
    nothing = examples_of(VISITS, model_with(()))
    assert set(nothing.dispositions[:-1].tolist()) == {NO_DISPOSITION}


@pytest.mark.parametrize("name", ["joint", "decoder"])
def test_time_targets_are_the_models_own_classes(name: str) -> None:
    model = model_with((), name)
    found = examples_of(VISITS, model)
    times = model.time_classes if name == "joint" else model.time_bins
    n_kinds = times.n_classes if name == "joint" else times.n_bins  # type: ignore[union-attr]
    kinds = found.next_kinds[:-1].tolist()
    assert kinds[1] == kinds[3] == kinds[4] == 0, "gaps of zero are the first kind"
    assert 0 < kinds[0] < kinds[2] < n_kinds


def test_a_cohort_without_training_stays_is_refused() -> None:
    empty = Visits(
        np.zeros(0, dtype=np.int16), np.zeros(0, dtype=np.float32), np.zeros(1, dtype=np.int64),
        np.zeros(0), np.zeros(0, dtype="S1"),
    )  # fmt: skip
    with pytest.raises(BadInputError, match="nothing to train on"):
        data_of(train=empty).checked()
    assert data_of().checked().n_events > 0
