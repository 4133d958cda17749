"""Bins hold equal shares of the training gaps, and a drawn bin becomes one of its own gaps."""

from __future__ import annotations

import numpy as np
import torch

from edsim.models.neural.time_bins import ZERO, TimeBins, fit_time_bins
from edsim.tables.visits import Visits

N_BINS = 9


def one_visit(gaps: np.ndarray) -> Visits:
    """A visit of these gaps; its first event and END have none."""
    minutes = np.concatenate([[0], gaps, [0]]).astype(np.float32)
    tokens = np.ones(len(minutes), dtype=np.int16)
    return Visits(tokens, minutes, np.array([0, len(minutes)]), np.zeros(1))


GAPS = np.concatenate([np.zeros(300), np.arange(1, 801)]).astype(np.float32)
BINS = fit_time_bins(one_visit(GAPS), N_BINS)


def drawn(bins: TimeBins, logits: torch.Tensor, n: int = 20_000) -> tuple[torch.Tensor, ...]:
    u = (torch.arange(n, dtype=torch.float64) + 0.5) / n
    return bins.draw(logits.expand(n, -1), u)


def test_zero_has_a_bin_of_its_own_and_the_others_hold_equal_shares() -> None:
    found = BINS.bin_of(torch.from_numpy(GAPS))
    assert torch.bincount(found).tolist() == [300] + [100] * (N_BINS - 1)
    assert bool((found[:300] == ZERO).all())


def test_gaps_never_seen_belong_to_a_bin_too() -> None:
    assert BINS.bin_of(torch.tensor([0.01, 1e7])).tolist() == [1, N_BINS - 1]


def test_a_drawn_gap_lies_in_the_drawn_bin_and_bins_come_as_often_as_they_should() -> None:
    shares = torch.arange(1.0, N_BINS + 1)
    bins, minutes = drawn(BINS, shares.log()[None])
    assert torch.equal(BINS.bin_of(minutes), bins)
    counts = torch.bincount(bins, minlength=N_BINS) / len(bins)
    torch.testing.assert_close(counts, shares / shares.sum(), atol=1e-3, rtol=0)


def test_gaps_within_a_bin_are_spread_as_in_training() -> None:
    logits = torch.full((1, N_BINS), -torch.inf)
    logits[0, 3] = 0
    _, minutes = drawn(BINS, logits)
    assert set(minutes.tolist()) == set(range(201, 301))
    assert abs(float(minutes.mean()) - 250.5) < 0.5


def test_the_density_of_a_gap_adds_up_to_its_bins_share() -> None:
    logits = torch.randn(1, N_BINS, generator=torch.Generator().manual_seed(0))
    gaps = torch.arange(201.0, 301.0)
    density = BINS.log_density(logits.expand(100, -1), gaps).exp()
    share = logits.double().softmax(dim=1)[0, 3]
    torch.testing.assert_close(density.sum() * (99 + 1 / 60) / 100, share, rtol=1e-5, atol=0)


def test_many_equal_gaps_are_one_bin_and_zero_gaps_alone_are_one_too() -> None:
    few = fit_time_bins(one_visit(np.array([0, 5, 5, 5, 5, 7])), 64)
    assert few.edges.tolist() == [0, 5, 7]
    none = fit_time_bins(one_visit(np.zeros(4)), 64)
    bins, minutes = drawn(none, torch.zeros(1, 1), 5)
    assert none.n_bins == 1
    assert bins.tolist() == [0] * 5
    assert minutes.tolist() == [0.0] * 5
    assert none.bin_of(torch.tensor([3.0])).tolist() == [0]


def test_gaps_of_a_month_and_a_single_stay_can_be_fitted() -> None:
    month = fit_time_bins(one_visit(np.array([30 * 1440.0, 0.5])), 64)
    assert month.edges.tolist() == [0, 0.5, 43_200]
    assert drawn(month, torch.zeros(1, 3), 3)[1].max() == 43_200
