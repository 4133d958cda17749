"""Neural rows in seats give what the plain loop gives, whatever the seats, the room and the rule."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from edsim.errors import BadSimulatorError
from edsim.models.neural import seats as seats_module
from edsim.models.neural.simulator import NeuralSimulator
from edsim.models.protocol import Seats, rereads
from edsim.rollout import queue, seated
from edsim.rollout.engine import roll_out
from edsim.rollout.slots import roll_out_fast
from edsim.tables.visits import Suffixes
from neural_models import KINDS, N_TOKENS, rule_of, small_simulator
from random_visits import all_launches, random_visits

VISITS = random_visits(60, N_TOKENS, seed=5)
LAUNCHES = all_launches(VISITS)
SEATED = {
    kind: small_simulator(kind)
    for kind, (network, _, _) in KINDS.items()
    if "pooled" not in network
}

every_seated_design = pytest.mark.parametrize("model", SEATED.values(), ids=SEATED.keys())


def both(
    model: NeuralSimulator, seats: int, rule: str = "vanilla", draws: int = 1, cap: int = 30
) -> tuple[Suffixes, Suffixes]:
    how: dict[str, Any] = {"rule": rule_of(rule), "cap": cap, "seed": 8, "draws": draws}
    fast = roll_out_fast(model, VISITS, LAUNCHES, slots=seats, **how)
    return roll_out(model, VISITS.prefixes(LAUNCHES), **how), fast


def share_of_events_that_differ(first: Suffixes, second: Suffixes) -> float:
    """A rollout that differs at all counts with all its events: what follows is another visit."""
    assert len(first) == len(second)
    differ = [
        len(first.row(i))
        for i in range(len(first))
        if first.row(i).tolist() != second.row(i).tolist()
    ]
    return sum(differ) / len(first.tokens)


@every_seated_design
def test_the_plain_loop_gives_the_same_rollouts(model: NeuralSimulator) -> None:
    plain, fast = both(model, seats=64, draws=2)
    assert share_of_events_that_differ(plain, fast) <= 1e-3  # one rollout, where a sum is rounded
    same = [i for i in range(len(plain)) if plain.row(i).tolist() == fast.row(i).tolist()]
    np.testing.assert_allclose(
        fast.take(np.array(same)).minutes, plain.take(np.array(same)).minutes, rtol=1e-3, atol=1e-3
    )


@pytest.mark.parametrize(
    "rule", ["repetition_penalty=1.75+self_loop_cap=2", "process_mask+top_k=3"]
)
def test_rules_look_at_the_same_history(rule: str) -> None:
    plain, fast = both(SEATED["gru, regression, sampled"], seats=32, rule=rule)
    assert share_of_events_that_differ(plain, fast) <= 1e-3


@every_seated_design
def test_seats_that_are_outgrown_and_stays_read_in_many_groups_change_nothing(
    model: NeuralSimulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seats_module, "ROOM", 1)
    monkeypatch.setattr(queue, "GROUP_EVENTS", {"cpu": 20})
    monkeypatch.setattr(seated, "STEPS", {"cpu": 3})
    plain, fast = both(model, seats=17)
    assert share_of_events_that_differ(plain, fast) <= 1e-3


def test_without_a_compiler_torch_alone_finds_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    model = SEATED["causal_transformer, joint, lattice"]
    compiled = both(model, seats=50)[1]
    monkeypatch.setattr(seats_module, "_attention_of", lambda network, device: _plain(network))
    plain = both(model, seats=50)[1]
    assert share_of_events_that_differ(compiled, plain) <= 1e-3


_plain = seats_module._plain


def test_models_with_seats_are_run_in_them(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    model = SEATED["lstm, joint, lattice"]
    offered = NeuralSimulator.seats

    def watched(self: NeuralSimulator, n: int) -> Seats | None:
        asked.append(n)
        return offered(self, n)

    monkeypatch.setattr(NeuralSimulator, "seats", watched)
    roll_out_fast(model, VISITS, LAUNCHES, rule=rule_of(), cap=4, seed=0, slots=20)
    assert max(asked) == 20


def test_a_network_that_reads_everything_again_has_no_seats() -> None:
    again, once = map(
        small_simulator, ["pooled_transformer, joint, lattice", "gru, joint, lattice"]
    )
    assert again.seats(3) is None
    assert rereads(again) and not rereads(once)


def test_weights_that_are_not_finite_are_refused() -> None:
    model = small_simulator("gru, joint, lattice")
    with torch.no_grad():
        model.model.heads.event.bias[2] = torch.nan
    with pytest.raises(BadSimulatorError, match="no distribution"):
        roll_out_fast(model, VISITS, LAUNCHES, rule=rule_of(), cap=9, seed=0)


def test_impossible_minutes_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    model = small_simulator("gru, regression, sampled")
    monkeypatch.setattr(type(model._clock), "minutes", lambda *_: _minus_one(_[2]))
    with pytest.raises(BadSimulatorError, match="impossible minutes"):
        roll_out_fast(model, VISITS, LAUNCHES, rule=rule_of(), cap=9, seed=0)


def _minus_one(tokens: Tensor) -> Tensor:
    return torch.full((len(tokens),), -1.0)


def test_progress_counts_every_rollout_once() -> None:
    class Counting:
        done = 0

        def stage(self, title: str, total: int | None = None, unit: str = "rows") -> None:
            self.total = total

        def advance(self, n: int) -> None:
            self.done += n

        def notice(self, text: str) -> None:
            raise AssertionError(text)

    seen = Counting()
    model = SEATED["gru, joint, lattice"]
    roll_out_fast(
        model, VISITS, LAUNCHES, rule=rule_of(), cap=9, seed=0, draws=2, progress=seen, slots=50
    )
    assert seen.done == seen.total == 2 * len(LAUNCHES)


def test_no_launches_give_no_rows() -> None:
    model = SEATED["gru, joint, lattice"]
    assert len(roll_out_fast(model, VISITS, LAUNCHES[:0], rule=rule_of(), cap=9, seed=0)) == 0
