"""The loop on a graphics card: everything stays there, and both forms of the loop still agree."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from edsim.rollout.engine import roll_out
from edsim.rollout.slots import roll_out_fast
from edsim.tables.visits import Prefixes
from rollout.simulators import CountUp, Table, last_tokens, launches_of, random_visits, rule_of

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no graphics card")

VISITS = random_visits(200)
LAUNCHES = launches_of(VISITS)
RULES = ["vanilla", "process_mask+repetition_penalty=1.75+self_loop_cap=2", "top_k=3+top_p=0.9"]


class OnCuda(Table):
    """The random table on the card."""

    device = "cuda"

    def __init__(self) -> None:
        super().__init__()
        self.logits = self.logits.cuda()

    def start(self, prefixes: Prefixes) -> Any:
        return self._state(
            last_tokens(prefixes).cuda(), torch.from_numpy(prefixes.elapsed_minutes()).cuda()
        )


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("slots", [64, 1000, 100_000])
def test_the_fast_path_equals_the_plain_loop_on_the_card(rule: str, slots: int) -> None:
    plain = roll_out(
        OnCuda(), VISITS.prefixes(LAUNCHES), rule=rule_of(rule), cap=20, seed=4, draws=2
    )
    fast = roll_out_fast(
        OnCuda(), VISITS, LAUNCHES, rule=rule_of(rule), cap=20, seed=4, draws=2, slots=slots
    )
    assert fast.offsets.tolist() == plain.offsets.tolist()
    assert (fast.tokens == plain.tokens).all() and (fast.minutes == plain.minutes).all()


@pytest.mark.parametrize("rule", RULES)
def test_the_card_draws_the_events_of_the_processor(rule: str) -> None:
    """Chance is the same to the bit; the last bit of an exponential may move one draw in 10**14."""
    given: dict[str, Any] = {"rule": rule_of(rule), "cap": 20, "seed": 4}
    card = roll_out_fast(OnCuda(), VISITS, LAUNCHES, **given)
    processor = roll_out_fast(Table(), VISITS, LAUNCHES, **given)
    assert card.tokens.tolist() == processor.tokens.tolist()
    assert np.array_equal(card.minutes, processor.minutes)


def test_a_simulator_without_a_device_stays_on_the_processor() -> None:
    out = roll_out_fast(CountUp(), VISITS, LAUNCHES, rule=rule_of(), cap=20, seed=0)
    assert (out.tokens[out.offsets[1:] - 1] == 0).all()
