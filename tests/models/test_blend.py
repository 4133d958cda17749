"""A blend mixes probabilities, takes gaps from the first, and feeds both."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from edsim.errors import BadInputError, BadSimulatorError
from edsim.models.blend import Blend
from edsim.tables.visits import Prefixes
from random_visits import all_launches, random_visits

PREFIXES = random_visits(1, 5).prefixes(all_launches(random_visits(1, 5))[:1])
NO_CHANCE = torch.zeros(1, dtype=torch.float64)


class Fixed:
    """Always the same unnormalised proposal and gap; its state counts what it was given."""

    def __init__(self, *weights: float, minutes: float = 0.0) -> None:
        self.log_weights, self.minutes = torch.tensor([weights]).log(), minutes

    def start(self, prefixes: Prefixes) -> Tensor:
        return torch.zeros(len(prefixes), dtype=torch.int64)

    def propose(self, state: Tensor, u_time: Tensor) -> Tensor:
        return self.log_weights.expand(len(state), -1)

    def commit(self, state: Tensor, tokens: Tensor, u_time: Tensor) -> tuple[Tensor, Tensor]:
        return state + tokens, torch.full((len(state),), self.minutes)

    def keep(self, state: Tensor, rows: Tensor) -> Tensor:
        return state[rows]


def proposed(weight: float) -> list[float]:
    blend = Blend(Fixed(6, 0, 2), Fixed(0, 0, 5), weight)
    row = blend.propose(blend.start(PREFIXES), NO_CHANCE)
    assert row.dtype == torch.float64
    return row.exp()[0].tolist()


def test_probabilities_are_mixed_and_not_their_logarithms() -> None:
    assert proposed(0.5) == pytest.approx([0.375, 0, 0.625])


def test_the_weight_is_that_of_the_second() -> None:
    assert proposed(0.25) == pytest.approx([0.75 * 0.75, 0, 0.25 + 0.75 * 0.25])


def test_at_the_ends_one_of_them_speaks_alone() -> None:
    assert proposed(0) == pytest.approx([0.75, 0, 0.25])
    assert proposed(1) == pytest.approx([0, 0, 1])


def test_the_gap_is_that_of_the_first_and_both_get_the_event() -> None:
    blend = Blend(Fixed(1, 1, minutes=7), Fixed(1, 1, minutes=9), 0.5)
    state, minutes = blend.commit(blend.start(PREFIXES), torch.tensor([3]), NO_CHANCE)
    assert minutes.tolist() == [7]
    assert [part.tolist() for part in state] == [[3], [3]]


@pytest.mark.parametrize("weight", [-0.1, 1.5, float("nan")])
def test_an_impossible_weight_is_refused(weight: float) -> None:
    with pytest.raises(BadInputError, match="between 0 and 1"):
        Blend(Fixed(1), Fixed(1), weight)


def test_a_blend_reads_again_what_either_of_its_two_does() -> None:
    class Rereading(Fixed):
        rereads = True

    plain, again = Fixed(1, 1, 1), Rereading(1, 1, 1)
    assert [Blend(*two, 0.5).rereads for two in ((again, plain), (plain, again))] == [True, True]
    assert not Blend(plain, plain, 0.5).rereads


class Answers(Fixed):
    """Answers the same proposal and minutes whatever the rows."""

    def __init__(self, proposal: object, minutes: object) -> None:
        self.proposal, self.answered = proposal, minutes

    def propose(self, state: Tensor, u_time: Tensor) -> Any:
        return self.proposal

    def commit(self, state: Tensor, tokens: Tensor, u_time: Tensor) -> tuple[Tensor, Any]:
        return state, self.answered


THREE = random_visits(3, 5).prefixes(all_launches(random_visits(3, 5))[:3])
GOOD = Answers(torch.zeros(3, 4), torch.zeros(3))


@pytest.mark.parametrize(
    "proposal",
    [torch.zeros(3, 1), torch.zeros(1, 4), torch.zeros(4), None],
)
@pytest.mark.parametrize("part", ["first", "second"])
def test_a_proposal_is_not_stretched_over_the_other(proposal: object, part: str) -> None:
    odd = Answers(proposal, torch.zeros(3))
    blend = Blend(odd, GOOD, 0.5) if part == "first" else Blend(GOOD, odd, 0.5)
    one_token = isinstance(proposal, Tensor) and proposal.shape == (3, 1)
    with pytest.raises(BadSimulatorError, match="same tokens" if one_token else f"the {part} part"):
        blend.propose(blend.start(THREE), torch.zeros(3, dtype=torch.float64))


@pytest.mark.parametrize("minutes", [torch.zeros(3, 1), torch.zeros(1), None])
@pytest.mark.parametrize("part", ["first", "second"])
def test_the_minutes_of_both_are_one_a_row(minutes: object, part: str) -> None:
    odd = Answers(torch.zeros(3, 4), minutes)
    blend = Blend(odd, GOOD, 0.5) if part == "first" else Blend(GOOD, odd, 0.5)
    with pytest.raises(BadSimulatorError, match=f"the {part} part"):
        blend.commit(blend.start(THREE), torch.zeros(3).long(), torch.zeros(3).double())
