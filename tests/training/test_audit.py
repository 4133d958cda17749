"""The supervision audit: counts that can be checked by hand."""

from __future__ import annotations

import numpy as np
import pytest

from edsim import seeds
from edsim.training.audit import FEW, audit_of
from edsim.training.batches import Batches
from edsim.training.examples import StayList
from training_runs import small


def stays_of(lengths: list[int]) -> StayList:
    many = np.array(lengths, dtype=np.int64)
    keys = seeds.keys("test", 1, (str(i) for i in range(len(many))))
    return StayList(np.cumsum(many) - many, many, keys)


def audited(name: str, lengths: list[int]):  # noqa: ANN201
    stays, recipe = stays_of(lengths), small(name)
    batches = Batches(stays, recipe, nobody=sum(lengths))
    return audit_of(stays, batches.epoch(1), recipe.supervision)


def test_every_position_is_counted_by_the_length_of_its_prefix() -> None:
    found = audited("joint", [1] * 60 + [4] * 60)
    assert (found.n_stays, found.eligible, found.supervised) == (120, 300, 300)
    assert found.end_targets == 120 and found.end_share == found.eligible_end_share == 0.4
    counts = {(one.fewest, one.most): one.supervised for one in found.by_length}
    assert counts == {(1, 1): 120, (2, 2): 60, (3, 4): 120}
    assert found.warning is None


def test_final_position_training_is_named_in_a_warning() -> None:
    found = audited("transformer", [10] * 200)
    assert (found.supervised, found.eligible) == (200, 2000)
    assert found.warning is not None
    assert "200 of 2,000 positions an epoch (10.0%)" in found.warning
    assert found.end_share == pytest.approx(0.1, abs=0.06)


def test_a_class_of_few_positions_is_joined_to_the_one_before() -> None:
    """Ten stays reach the length of forty: what few patients did is not told apart."""
    found = audited("joint", [16] * 100 + [35] * 10)
    assert [(one.fewest, one.most) for one in found.by_length][-1] == (17, 35)
    assert all(one.eligible >= FEW for one in found.by_length)
