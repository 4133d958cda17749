"""The plain loop: what it draws, when it stops, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from edsim.errors import BadInputError, BadSimulatorError, BadTableError
from edsim.rollout.engine import roll_out
from edsim.tables.visits import END, Prefixes, Suffixes
from rollout.simulators import (
    N_TOKENS,
    CountUp,
    Endless,
    Table,
    launches_of,
    one_hot,
    random_visits,
    rule_of,
    visits_of,
)


def prefixes_of(*stays: list[int]) -> Prefixes:
    visits = visits_of(*stays)
    lengths = visits.n_events()
    return visits.prefixes(np.stack([np.arange(len(visits)), lengths], 1).astype(np.int32))


def as_lists(suffixes: Suffixes) -> list[list[int]]:
    return [suffixes.row(i).tolist() for i in range(len(suffixes))]


def test_every_drawn_event_is_fed_back_and_end_is_the_last_one() -> None:
    out = roll_out(CountUp(), prefixes_of([5], [1, 3]), rule=rule_of(), cap=20, seed=0)
    assert as_lists(out) == [[6, 7, END], [4, 5, 6, 7, END]]
    assert out.tokens.dtype == np.int16 and out.minutes.dtype == np.float32
    assert out.minutes.tolist() == [6, 7, 0, 4, 5, 6, 7, 0]


def test_the_cap_counts_generated_events_and_leaves_no_end() -> None:
    out = roll_out(Endless(), prefixes_of([1, 2, 3], [4]), rule=rule_of(), cap=4, seed=0)
    assert as_lists(out) == [[3] * 4, [4] * 4]


def test_an_end_drawn_as_the_last_event_before_the_cap_is_kept() -> None:
    out = roll_out(CountUp(), prefixes_of([5], [4]), rule=rule_of(), cap=3, seed=0)
    assert as_lists(out) == [[6, 7, END], [5, 6, 7]]


def test_draws_of_a_launch_stand_together_and_differ() -> None:
    out = roll_out(Table(), prefixes_of([5], [4]), rule=rule_of(), cap=40, seed=0, draws=3)
    rows = as_lists(out)
    assert len(rows) == 6
    assert len({tuple(row) for row in rows[:3]}) == 3
    fewer = roll_out(Table(), prefixes_of([5], [4]), rule=rule_of(), cap=40, seed=0, draws=2)
    assert as_lists(fewer) == rows[:2] + rows[3:5]


def test_a_row_does_not_depend_on_the_rows_beside_it() -> None:
    visits = random_visits(60)
    launches = launches_of(visits)
    together = roll_out(Table(), visits.prefixes(launches), rule=rule_of(), cap=30, seed=3)
    for some in (launches[:1], launches[40:47], launches[::-7]):
        where = [int(np.flatnonzero((launches == launch).all(1))[0]) for launch in some]
        apart = roll_out(Table(), visits.prefixes(some), rule=rule_of(), cap=30, seed=3)
        assert as_lists(apart) == [together.row(i).tolist() for i in where]
        assert all(
            (a == b).all()
            for a, b in zip(
                np.split(apart.minutes, apart.offsets[1:-1]),
                [together.minutes[together.offsets[i] : together.offsets[i + 1]] for i in where],
                strict=True,
            )
        )


def test_another_seed_gives_other_events_and_the_same_seed_the_same() -> None:
    prefixes = prefixes_of(*[[1, 2]] * 50)
    once, again, other = (
        roll_out(Table(), prefixes, rule=rule_of(), cap=30, seed=seed) for seed in (1, 1, 2)
    )
    assert as_lists(once) == as_lists(again) != as_lists(other)


def test_events_are_drawn_with_the_probabilities_proposed() -> None:
    table = Table(p_end=0.3)
    prefixes = prefixes_of(*[[2]] * 40_000)
    out = roll_out(table, prefixes, rule=rule_of(), cap=1, seed=5)
    counts = np.bincount(out.tokens, minlength=N_TOKENS)
    expected = table.logits[2].softmax(0).numpy() * len(prefixes)
    possible = expected > 0
    assert counts[~possible].sum() == 0
    assert (
        ((counts - expected) ** 2)[possible] / expected[possible]
    ).sum() < 26  # 7 df: 1 in 1,000


def test_no_prefix_gives_no_rows() -> None:
    nothing = visits_of([1]).prefixes(np.zeros((0, 2), np.int32))
    assert len(roll_out(CountUp(), nothing, rule=rule_of(), cap=3, seed=0)) == 0


class Answers(CountUp):
    """A simulator that gives one answer of its own choosing."""

    def __init__(self, **answers: object) -> None:
        self.answers = answers

    def propose(self, state: Tensor, u_time: Tensor) -> Tensor:
        return self._answer("propose", one_hot(torch.ones_like(state)))

    def commit(self, state: Tensor, tokens: Tensor, u_time: Tensor) -> tuple[Tensor, Tensor]:
        return self._answer("commit", (tokens, torch.zeros(len(tokens))))

    def _answer(self, call: str, otherwise: object) -> object:
        answer = self.answers.get(call, otherwise)
        if isinstance(answer, Exception):
            raise answer
        return answer


def logits_with(value: float, row: int = 1) -> Tensor:
    logits = torch.zeros(3, N_TOKENS)
    logits[row, 2] = value
    return logits


NOTHING_POSSIBLE = torch.zeros(3, N_TOKENS).index_fill(0, torch.tensor([2]), -torch.inf)
STATE = torch.zeros(3, dtype=torch.int64)


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ({"propose": logits_with(torch.nan)}, r"1 of 3 rows, first in row 1 .* holds nan"),
        ({"propose": logits_with(torch.inf)}, r"first in row 1 .* plus infinity"),
        ({"propose": NOTHING_POSSIBLE}, r"first in row 2 .* minus infinity throughout"),
        ({"propose": torch.zeros(3, N_TOKENS + 1)}, r"shape \[3, 8\]; .* shape \[3, 9\]"),
        ({"propose": torch.zeros(2, N_TOKENS)}, r"propose must .* shape \[2, 8\]"),
        ({"propose": torch.zeros(3, N_TOKENS).long()}, r"floating-point .* torch.int64"),
        ({"propose": np.zeros((3, N_TOKENS))}, "propose must answer a tensor .* not ndarray"),
        ({"propose": KeyError("secret")}, "propose raised KeyError"),
        ({"commit": (STATE, torch.tensor([0.0, -1.0, 0.0]))}, r"1 of 3 rows \(1 negative\)"),
        ({"commit": (STATE, torch.full((3,), torch.nan))}, r"3 not a number"),
        ({"commit": (STATE, torch.full((3,), torch.inf))}, r"3 infinite"),
        ({"commit": (STATE, torch.full((3,), 1e300, dtype=torch.float64))}, r"3 infinite"),
        ({"commit": (STATE, torch.zeros(3, 1))}, r"commit must answer .* \[rows\]"),
        ({"commit": STATE}, "the next state and the minutes"),
        ({"commit": ZeroDivisionError("secret")}, "commit raised ZeroDivisionError"),
    ],
)
@pytest.mark.parametrize("rule", ["vanilla", "self_loop_cap=1", "greedy", "process_mask"])
def test_an_answer_that_cannot_be_used_is_refused(
    answers: dict[str, object], message: str, rule: str
) -> None:
    with pytest.raises(BadSimulatorError, match=message) as raised:
        roll_out(Answers(**answers), prefixes_of([1], [2], [3]), rule=rule_of(rule), cap=3, seed=0)
    assert "secret" not in str(raised.value)


def test_impossible_settings_are_refused() -> None:
    for setting in ({"cap": 0}, {"cap": 3, "draws": 0}):
        with pytest.raises(BadInputError, match="at least 1"):
            roll_out(CountUp(), prefixes_of([1]), rule=rule_of(), seed=0, **setting)


@pytest.mark.parametrize("launch", [[0, 0], [0, 3], [1, 1]])
def test_a_launch_that_the_cohort_does_not_have_is_refused(launch: list[int]) -> None:
    with pytest.raises(BadTableError):
        visits_of([1, 2]).prefixes(np.array([launch], np.int32))
