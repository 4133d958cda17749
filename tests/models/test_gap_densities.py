"""Densities of gaps: a second's probability over a second, the same in every kind of model."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from edsim.models.counts import fit, fit_semi_markov
from edsim.models.gap_units import SECOND
from edsim.models.neural.clocks import SampledClock
from edsim.models.neural.simulator import NeuralSimulator
from edsim.tables.visits import Visits
from neural_models import small_model
from random_visits import random_visits

SECONDS = torch.arange(0, 60 * 420) * SECOND


def one_stay(*gaps: float) -> Visits:
    """Stays of two events, a gap each."""
    n = len(gaps)
    return Visits(
        np.tile([1, 3, 0], n).astype(np.int16),
        np.ravel([[0.0, gap, 0.0] for gap in gaps]).astype(np.float32),
        np.arange(n + 1) * 3,
        np.zeros(n),
        np.array([f"s{i}".encode() for i in range(n)]),
    )


@pytest.mark.parametrize("make", [lambda v: fit(v, 9, 2), lambda v: fit_semi_markov(v, 9)])
def test_the_seconds_of_every_edge_add_up_to_one(make: object) -> None:
    model = make(random_visits(40, 9, seed=3))  # type: ignore[operator]
    gaps = model.automaton.gaps
    seen = (model.automaton.log_probs > -torch.inf).nonzero()[::7, 0]
    for edge in seen.tolist():
        density = gaps.log_density(torch.full((len(SECONDS),), edge), SECONDS).exp()
        total = float((density * SECOND).sum())
        assert total <= 1 + 1e-9
        assert total == pytest.approx(1, abs=0.12)  # long tails end beyond seven hours


def test_training_gaps_worked_by_hand() -> None:
    model = fit(one_stay(0, 0, 5, 5, 5, 90), 4, 1)
    visits = one_stay(5, 0, 7)
    launches = np.array([[0, 1], [1, 1], [2, 1]])
    after = torch.tensor([3, 3, 3])
    events, gap = model.log_prob(visits.prefixes(launches), after, torch.tensor([5.0, 0.0, 7.0]))
    assert gap.exp().tolist() == pytest.approx([3 / 6 * 60, 2 / 6 * 60, 0])
    assert events[0].exp().tolist() == [0, 0, 0, 1]


def test_log_normal_gaps_worked_by_hand() -> None:
    gaps = [0.0] * 5 + [float(np.exp(k)) for k in (1, 2, 3, 2, 2)]
    model = fit_semi_markov(one_stay(*gaps), 4)
    edge = model.automaton.edge_of(model.start(one_stay(1).prefixes(np.array([[0, 1]]))), torch.tensor([3]))  # fmt: skip
    deviation = np.std([1, 2, 3, 2, 2])
    expected = 0.5 / (np.exp(2) * deviation * np.sqrt(2 * np.pi))
    found = model.automaton.gaps.log_density(edge, torch.tensor([np.exp(2)]))
    assert found.exp().item() == pytest.approx(expected, rel=1e-3)
    at_zero = model.automaton.gaps.log_density(edge, torch.tensor([0.0])).exp().item()
    assert at_zero == pytest.approx(0.5 * 60, rel=1e-3)


def test_the_quantile_head_has_the_density_that_its_clock_draws_from() -> None:
    clock = NeuralSimulator(small_model(), "sampled")._clock
    assert isinstance(clock, SampledClock)
    output = torch.randn(1, 16, generator=torch.Generator().manual_seed(1))
    u = torch.arange(20_000, dtype=torch.float64) / 20_000
    drawn = clock.minutes(output.expand(len(u), -1), u.long(), u, u).double()
    seconds = torch.round(drawn / SECOND)
    for second in (0, 20, 60, 200):
        share = float(((seconds >= second) & (seconds < second + 20)).double().mean())
        gaps = (torch.arange(second, second + 20) * SECOND).float()
        density = clock.log_density(output.expand(20, -1), gaps).exp().detach()
        assert float(density.sum()) * SECOND == pytest.approx(share, abs=2e-3)


def test_beyond_the_longest_gap_of_training_there_is_nothing() -> None:
    model = small_model()
    clock = model.clock("sampled")
    assert isinstance(clock, SampledClock)
    longest = model.sizes.longest_gap
    output = torch.zeros(2, 16)
    found = clock.log_density(output, torch.tensor([longest, longest + 1]))
    assert found[0] > -torch.inf and found[1] == -torch.inf
