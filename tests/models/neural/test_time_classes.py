"""Time classes: the lattice is the record's own, a drawn gap is of the drawn class, shares add up."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from edsim.models.neural.time_classes import (
    SAME_MOMENT,
    SAME_TICK,
    SINGLE,
    TimeClasses,
    fit_time_classes,
)
from edsim.tables.visits import Visits


def visits(*stays: list[float]) -> Visits:
    """Stays of one event at each of these minutes, of tokens 1, 2, 1, 2, ...; END follows at once."""
    tokens: list[int] = []
    gaps: list[float] = []
    offsets = [0]
    for at in stays:
        tokens += [1 + place % 2 for place in range(len(at))] + [0]
        gaps += [0.0, *np.diff(at).tolist(), 0.0]
        offsets.append(len(tokens))
    return Visits(
        np.array(tokens, dtype=np.int16),
        np.array(gaps, dtype=np.float32),
        np.array(offsets, dtype=np.int64),
        np.zeros(len(stays)),
    )


def drawn(classes: TimeClasses, kind: int, elapsed: float, n: int = 1000) -> torch.Tensor:
    """Gaps of a class, evenly through its chance, in seconds."""
    logits = torch.full((n, classes.n_classes), -torch.inf)
    logits[:, kind] = 0
    u = (torch.arange(n, dtype=torch.float64) + 0.5) / n
    at = torch.full((n,), elapsed, dtype=torch.float64)
    return (classes.draw(logits, torch.ones(n, dtype=torch.int64), at, u) * 60).round()


MINUTES = fit_time_classes(visits([0, 5, 5.25, 300], [0, 0, 61, 2000]), n_tokens=3)


@pytest.mark.parametrize(
    ("stays", "tick"),
    [
        (([0, 1, 7, 90], [0, 2]), 1.0),
        (([0, 60, 180], [0, 600]), 60.0),
        (([0, 1440, 4320], [0, 1440]), 1440.0),
        (([0, 0.3, 0.75, 2.1], [0, 1.05]), 1 / 60),
        (([0, 0, 0], [0, 0]), 1.0),
    ],
)
def test_the_lattice_is_read_off_the_training_data(
    stays: tuple[list[float], ...], tick: float
) -> None:
    assert fit_time_classes(visits(*stays), n_tokens=3).tick == pytest.approx(tick)


def test_each_of_sixty_minutes_has_a_class_and_longer_gaps_share_one_of_eight_per_cent() -> None:
    of = MINUTES.class_of_gap(torch.zeros(2000, dtype=torch.float64), torch.arange(1.0, 2001.0))
    assert of[:SINGLE].tolist() == list(range(2, 2 + SINGLE))
    assert torch.all(of.diff() >= 0)
    sizes = torch.bincount(of)[2 + SINGLE : -1]
    starts = SINGLE + 1 + torch.cat([torch.zeros(1), sizes.cumsum(0)[:-1]])
    assert torch.all((sizes / starts - 0.08).abs() < 0.02)
    assert of[-1] == MINUTES.n_classes - 1


def test_a_gap_longer_than_any_in_training_is_of_the_last_class() -> None:
    month = torch.tensor([30 * 24 * 60.0])
    at = torch.zeros(1, dtype=torch.float64)
    assert int(MINUTES.class_of_gap(at, month)) == MINUTES.n_classes - 1


def test_the_same_moment_is_no_time_and_the_same_minute_ends_within_it() -> None:
    assert torch.all(drawn(MINUTES, SAME_MOMENT, elapsed=5.5) == 0)
    within = drawn(MINUTES, SAME_TICK, elapsed=5.5)
    assert torch.all((within > 0) & (within <= 30))


def test_a_drawn_gap_is_of_the_class_it_was_drawn_from() -> None:
    for kind in range(MINUTES.n_classes):
        for elapsed in (0.0, 5.5, 61.25):
            gaps = drawn(MINUTES, kind, elapsed, n=50)
            at = torch.full((50,), elapsed, dtype=torch.float64)
            found = MINUTES.class_of_gap(at, (gaps / 60).float())
            assert torch.all(found == kind), (kind, elapsed)


def test_from_off_the_lattice_the_next_event_goes_back_to_it() -> None:
    """Token 1 comes at whole minutes or, once in training, at a quarter."""
    onward = drawn(MINUTES, 2 + 6, elapsed=5.25)
    assert set(((onward + 5.25 * 60) % 60).tolist()) == {0.0, 15.0}


def test_classes_come_as_often_as_they_should() -> None:
    n, shares = 20_000, torch.arange(1.0, MINUTES.n_classes + 1)
    u = (torch.arange(n, dtype=torch.float64) + 0.5) / n
    at, token = torch.zeros(n, dtype=torch.float64), torch.ones(n, dtype=torch.int64)
    gaps = MINUTES.draw(shares.log().expand(n, -1), token, at, u)
    counts = torch.bincount(MINUTES.class_of_gap(at, gaps), minlength=MINUTES.n_classes) / n
    torch.testing.assert_close(counts, shares / shares.sum(), atol=1e-3, rtol=0)


@pytest.mark.parametrize("elapsed", [0.0, 5.25])
def test_the_density_of_all_gaps_adds_up_to_one(elapsed: float) -> None:
    """Over every unit of time that the classes reach."""
    unit = 1 / float(MINUTES.units_a_minute)
    gaps = torch.arange(0, 2200 / unit, dtype=torch.float64) * unit
    n = len(gaps)
    logits = torch.randn(1, MINUTES.n_classes, generator=torch.Generator().manual_seed(1))
    density = MINUTES.log_density(
        logits.expand(n, -1),
        torch.ones(n, dtype=torch.int64),
        torch.full((n,), elapsed, dtype=torch.float64),
        gaps.float(),
    )
    reached = gaps + elapsed % 1 < float(MINUTES.low[-1] + MINUTES.width[-1])
    assert float(density.exp()[reached].sum() * unit) == pytest.approx(1.0, abs=2e-3)
