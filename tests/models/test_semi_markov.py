"""Log-normal gaps with a mass at zero, given the event and the two events before it."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from edsim.models.contexts import tabulate
from edsim.models.counts import CountModel, compile_semi_markov
from edsim.models.semi_markov import SEMI_MARKOV_ORDER
from edsim.tables.visits import END, Visits

ARRIVE, WALK_IN, TEST = 1, 2, 3


def fitted(stays: list[tuple[int, float]]) -> CountModel:
    """From stays of an arrival, and a test after some minutes."""
    n = len(stays)
    return compile_semi_markov(
        tabulate(
            Visits(
                np.array([[first, TEST, END] for first, _ in stays], dtype=np.int16).ravel(),
                np.array([[0, minutes, 0] for _, minutes in stays], dtype=np.float32).ravel(),
                np.arange(n + 1) * 3,
                np.zeros(n),
            ),
            4,
            SEMI_MARKOV_ORDER,
        )
    )


def quantiles(model: CountModel, first: int, chances: np.ndarray) -> np.ndarray:
    """Minutes from the arrival to the test at each chance."""
    n = len(chances)
    prefixes = Visits(
        np.array([first, END], dtype=np.int16),
        np.zeros(2, dtype=np.float32),
        np.array([0, 2]),
        np.zeros(1),
    ).prefixes(np.array([[0, 1]] * n, dtype=np.int32))
    state, tokens = model.start(prefixes), torch.full((n,), TEST)
    return model.commit(state, tokens, torch.from_numpy(chances))[1].double().numpy()


EVENLY = (np.arange(100_000) + 0.5) / 100_000


def test_a_share_is_exactly_zero_and_the_rest_is_log_normal() -> None:
    positive = np.exp(np.random.default_rng(0).normal(3, 0.5, 600))
    drawn = quantiles(fitted([(ARRIVE, m) for m in [*positive, *[0.0] * 400]]), ARRIVE, EVENLY)
    assert (drawn == 0).mean() == pytest.approx(0.4, abs=1e-5)
    logs = np.log(drawn[drawn > 0])
    assert logs.mean() == pytest.approx(np.log(positive.astype(np.float32)).mean(), abs=1e-3)
    assert logs.std() == pytest.approx(np.log(positive).std(), abs=1e-3)
    assert (np.diff(drawn) >= 0).all()


def test_gaps_all_alike_are_drawn_as_they_are() -> None:
    drawn = quantiles(fitted([(ARRIVE, 30.0)] * 9), ARRIVE, np.array([0, 0.3, 1 - 2.0**-53]))
    assert drawn.tolist() == pytest.approx([30, 30, 30], rel=1e-6)


def test_only_zeros_stay_zeros() -> None:
    assert not quantiles(fitted([(ARRIVE, 0.0)] * 9), ARRIVE, np.array([0, 1 - 2.0**-53])).any()


def test_each_history_has_a_distribution_of_its_own() -> None:
    model = fitted([(ARRIVE, 10.0)] * 5 + [(WALK_IN, 1000.0)] * 5)
    middle = np.array([0.5])
    assert quantiles(model, ARRIVE, middle) == pytest.approx(10)
    assert quantiles(model, WALK_IN, middle) == pytest.approx(1000)


def test_fewer_than_five_gaps_take_the_distribution_of_a_shorter_context() -> None:
    model = fitted([(ARRIVE, 10.0)] * 4 + [(WALK_IN, 1000.0)] * 12)
    mean = np.log([10.0] * 4 + [1000.0] * 12).mean()
    assert quantiles(model, ARRIVE, np.array([0.5])) == pytest.approx(np.exp(mean))
    assert quantiles(model, WALK_IN, np.array([0.5])) == pytest.approx(1000)


def test_fewer_than_five_positive_gaps_keep_their_own_share_of_zeros() -> None:
    model = fitted([(ARRIVE, 10.0)] * 4 + [(ARRIVE, 0.0)] * 6 + [(WALK_IN, 1000.0)] * 12)
    drawn = quantiles(model, ARRIVE, EVENLY)
    assert (drawn == 0).mean() == pytest.approx(0.6, abs=1e-5)
    mean = np.log([10.0] * 4 + [1000.0] * 12).mean()
    assert np.log(drawn[drawn > 0]).mean() == pytest.approx(mean, abs=1e-2)


def test_the_largest_chance_is_still_a_finite_gap() -> None:
    wide = np.exp(np.random.default_rng(1).normal(4, 3, 200))
    drawn = quantiles(fitted([(ARRIVE, m) for m in [0.0, *wide]]), ARRIVE, np.array([1 - 2.0**-53]))
    assert np.isfinite(drawn).all()
    assert drawn[0] > wide.max()
