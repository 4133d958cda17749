"""The paper's stopping rule before its audit: END once the END head is sure enough."""

from __future__ import annotations

import pytest
import torch

from edsim.errors import BadInputError
from edsim.models.neural.end_head import THRESHOLD, StopsByTheEndHead
from edsim.models.neural.simulator import NeuralSimulator
from edsim.tables.visits import END
from neural_models import N_TOKENS, small_model
from random_visits import all_launches, random_visits

VISITS = random_visits(10, N_TOKENS, seed=9)
PREFIXES = VISITS.prefixes(all_launches(VISITS))
U = torch.full((len(PREFIXES),), 0.5, dtype=torch.float64)


def test_end_alone_is_proposed_where_its_head_is_sure_and_nothing_changes_elsewhere() -> None:
    plain = NeuralSimulator(small_model("gru"))
    with torch.no_grad():
        plain.model.heads.end.weight.mul_(20)
    stopping = StopsByTheEndHead(plain)
    state = plain.start(PREFIXES)
    with torch.no_grad():
        sure = plain.model.heads.end(state.output)[:, 0].sigmoid() > THRESHOLD
    assert 0 < int(sure.sum()) < len(sure), "the test needs rows of either kind"
    before, after = plain.propose(state, U), stopping.propose(state, U)
    assert torch.equal(before[~sure], after[~sure])
    assert torch.equal(after[sure].isfinite().sum(dim=1), torch.ones(int(sure.sum())).long())
    assert bool(after[sure, END].isfinite().all())


def test_heads_without_an_end_of_their_own_are_refused() -> None:
    with pytest.raises(BadInputError, match="regression heads"):
        StopsByTheEndHead(NeuralSimulator(small_model("gru", "joint")))
