"""Clocks of a trained network: what `--clock` chooses between."""

from __future__ import annotations

import pytest
import torch

from edsim.errors import BadInputError
from edsim.models.neural.heads import LEVELS, MEDIAN
from neural_models import TRAINING, small_model

MODEL = small_model("gru", "regression")
N = 501
U = torch.linspace(0, 1 - 1e-6, N, dtype=torch.float64)


def minutes(clock: str, u: torch.Tensor, seed: int = 0) -> torch.Tensor:
    output = torch.randn(1, 16, generator=torch.Generator().manual_seed(seed)).expand(len(u), -1)
    tokens, elapsed = torch.ones(len(u), dtype=torch.int64), torch.zeros(len(u))
    with torch.no_grad():
        return MODEL.clock(clock).minutes(output, tokens, elapsed, u)


def quantiles(seed: int = 0) -> torch.Tensor:
    output = torch.randn(1, 16, generator=torch.Generator().manual_seed(seed))
    with torch.no_grad():
        return torch.expm1(MODEL.heads.quantiles(output)[0]).clamp(min=0)


def test_the_median_is_the_middle_quantile_whatever_the_chance() -> None:
    found = minutes("median", U)
    assert torch.all(found == quantiles()[MEDIAN])


def test_sampled_gaps_have_the_quantiles_that_the_head_names() -> None:
    found = minutes("sampled", torch.tensor(LEVELS, dtype=torch.float64))
    named = quantiles().clamp(max=float(TRAINING.minutes.max()))
    torch.testing.assert_close(found, named, rtol=1e-3, atol=1e-4)


def test_sampled_gaps_grow_with_the_chance_and_never_past_the_longest_of_training() -> None:
    longest = float(TRAINING.minutes.max())
    for seed in range(5):
        found = minutes("sampled", U, seed)
        assert torch.all(found.diff() >= 0)
        assert float(found.min()) >= 0 and float(found.max()) <= longest
    assert len(minutes("sampled", U).unique()) > 50


@pytest.mark.parametrize(
    ("heads", "default", "others"),
    [
        ("regression", "median", ["sampled"]),
        ("joint", "lattice", []),
        ("time_bins", "bins", []),
    ],
)
def test_heads_have_a_clock_of_their_own_and_refuse_those_they_lack(
    heads: str, default: str, others: list[str]
) -> None:
    model = small_model("causal_transformer", heads)  # type: ignore[arg-type]
    assert model.clock().name == default
    for name in ("median", "sampled", "lattice", "bins"):
        if name in (default, *others):
            assert model.clock(name).name == name
        else:
            with pytest.raises(BadInputError, match=f"no clock '{name}'"):
                model.clock(name)
