"""The fast path gives the rollouts of the plain loop, event by event and bit by bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from edsim.errors import BadInputError, BadSimulatorError, BadTableError
from edsim.rollout.engine import roll_out
from edsim.rollout.slots import REREADING_SLOTS, roll_out_fast
from edsim.rollout.states import gathered, is_tree, joined
from edsim.tables.visits import Prefixes, Suffixes
from rollout.simulators import (
    CountUp,
    Endless,
    NestedTable,
    OpaqueTable,
    Table,
    last_tokens,
    launches_of,
    random_visits,
    rule_of,
    visits_of,
)

VISITS = random_visits(15)
LAUNCHES = launches_of(VISITS)


class PaddedTable(Table):
    """A tree whose width depends on the batch: it can be gathered, but not always joined."""

    def _state(self, last: Tensor, elapsed: Tensor) -> Any:
        return last, elapsed, torch.zeros(len(last), 1 + int(last.max()))

    def _parts(self, state: Any) -> tuple[Tensor, Tensor]:
        return state[0], state[1]


class RowsSecondTable(Table):
    """A tensor with the rows in its second dimension, which may be as many as the first has."""

    def _state(self, last: Tensor, elapsed: Tensor) -> Any:
        return torch.stack([last.double(), elapsed])

    def _parts(self, state: Any) -> tuple[Tensor, Tensor]:
        return state[0].long(), state[1]


class CountingStarts(Table):
    """Remembers how many prefixes it was started on."""

    def __init__(self) -> None:
        super().__init__()
        self.started = 0

    def start(self, prefixes: Prefixes) -> Any:
        self.started += len(prefixes)
        return super().start(prefixes)


def assert_same(fast: Suffixes, plain: Suffixes) -> None:
    assert fast.offsets.tolist() == plain.offsets.tolist()
    assert fast.tokens.dtype == np.int16 and fast.minutes.dtype == np.float32
    assert (fast.tokens == plain.tokens).all()
    assert (fast.minutes == plain.minutes).all()


@pytest.mark.parametrize("model", [Table, NestedTable, OpaqueTable, PaddedTable, RowsSecondTable])
@pytest.mark.parametrize("slots", [1, 7, 40, 10_000])
@pytest.mark.parametrize(("cap", "draws"), [(1, 1), (5, 3), (40, 2)])
def test_the_fast_path_equals_the_plain_loop(
    model: type[Table], slots: int, cap: int, draws: int
) -> None:
    plain = roll_out(
        Table(), VISITS.prefixes(LAUNCHES), rule=rule_of(), cap=cap, seed=4, draws=draws
    )
    fast = roll_out_fast(
        model(), VISITS, LAUNCHES, rule=rule_of(), cap=cap, seed=4, draws=draws, slots=slots
    )
    assert_same(fast, plain)


@pytest.mark.parametrize(
    "rule", ["repetition_penalty=1.75", "self_loop_cap=2", "process_mask+top_k=4", "greedy"]
)
@pytest.mark.parametrize("model", [Table, OpaqueTable])
def test_rules_with_a_history_are_applied_alike(model: type[Table], rule: str) -> None:
    plain = roll_out(
        Table(), VISITS.prefixes(LAUNCHES), rule=rule_of(rule), cap=12, seed=4, draws=2
    )
    for slots in (5, 4096):
        fast = roll_out_fast(
            model(), VISITS, LAUNCHES, rule=rule_of(rule), cap=12, seed=4, draws=2, slots=slots
        )
        assert_same(fast, plain)


@pytest.mark.parametrize("p_end", [0.01, 0.3, 0.9])
def test_they_agree_whether_rows_end_early_or_at_the_cap(p_end: float) -> None:
    for cap in (1, 2, 17):
        plain = roll_out(
            Table(p_end=p_end), VISITS.prefixes(LAUNCHES), rule=rule_of(), cap=cap, seed=9
        )
        fast = roll_out_fast(
            Table(p_end=p_end), VISITS, LAUNCHES, rule=rule_of(), cap=cap, seed=9, slots=32
        )
        assert_same(fast, plain)
        assert fast.lengths().max() <= cap


def test_an_end_as_the_last_event_before_the_cap_is_kept() -> None:
    visits = visits_of([5], [4])
    out = roll_out_fast(
        CountUp(), visits, launches_of(visits), rule=rule_of(), cap=3, seed=0, slots=1
    )
    assert [out.row(0).tolist(), out.row(1).tolist()] == [[6, 7, 0], [5, 6, 7]]


def test_launches_in_any_order_meet_the_same_chance() -> None:
    order = np.random.default_rng(0).permutation(len(LAUNCHES))
    straight = roll_out_fast(Table(), VISITS, LAUNCHES, rule=rule_of(), cap=30, seed=1, slots=40)
    mixed = roll_out_fast(
        Table(), VISITS, LAUNCHES[order], rule=rule_of(), cap=30, seed=1, slots=40
    )
    for i, j in enumerate(order):
        assert mixed.row(i).tolist() == straight.row(int(j)).tolist()


def test_a_launch_is_started_once_for_all_its_draws() -> None:
    model = CountingStarts()
    roll_out_fast(model, VISITS, LAUNCHES, rule=rule_of(), cap=20, seed=0, draws=5, slots=64)
    assert model.started == len(LAUNCHES)


def test_slots_are_never_exceeded_and_are_refilled() -> None:
    widths: list[int] = []

    class Watched(Table):
        def propose(self, state: Any, u_time: Tensor) -> Tensor:
            widths.append(len(u_time))
            return super().propose(state, u_time)

    roll_out_fast(Watched(), VISITS, LAUNCHES, rule=rule_of(), cap=60, seed=0, slots=16)
    assert max(widths) == 16
    busy = [i for i, width in enumerate(widths) if width > 14]
    assert busy[-1] > len(widths) // 2 > 10


@pytest.mark.parametrize("how", ["says so", "has no seats"])
def test_who_reads_everything_again_is_given_few_rows_at_a_time(how: str) -> None:
    widths: list[int] = []

    class Watched(Table):
        def propose(self, state: Any, u_time: Tensor) -> Tensor:
            widths.append(len(u_time))
            return super().propose(state, u_time)

    def widest(model: Table) -> tuple[int, Suffixes]:
        widths.clear()
        made = roll_out_fast(model, VISITS, LAUNCHES, rule=rule_of(), cap=40, seed=0, draws=9)
        return max(widths), made

    class Rereading(Watched):
        rereads = how == "says so"

    class Seatless(Watched):
        def seats(self, n: int) -> None:
            return None

    few, made = widest(Rereading() if how == "says so" else Seatless())
    many, same = widest(Watched())
    assert few == REREADING_SLOTS["cpu"] < len(LAUNCHES) < many
    assert_same(made, same)


def test_capped_rows_leave_their_slots_too() -> None:
    out = roll_out_fast(Endless(), VISITS, LAUNCHES, rule=rule_of(), cap=6, seed=0, slots=16)
    assert (out.lengths() == 6).all()
    assert (
        out.tokens.reshape(-1, 6) == last_tokens(VISITS.prefixes(LAUNCHES)).numpy()[:, None]
    ).all()


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
    roll_out_fast(Table(), VISITS, LAUNCHES, rule=rule_of(), cap=9, seed=0, draws=2, progress=seen)
    assert seen.done == seen.total == 2 * len(LAUNCHES)


def test_bad_answers_and_bad_launches_are_refused_here_too() -> None:
    class Broken(Table):
        def propose(self, state: Any, u_time: Tensor) -> Tensor:
            return super().propose(state, u_time) * torch.nan

    with pytest.raises(BadSimulatorError, match="holds nan"):
        roll_out_fast(Broken(), VISITS, LAUNCHES, rule=rule_of(), cap=9, seed=0)
    for launch in ([0, 0], [0, 99], [15, 1], [-1, 1]):
        with pytest.raises(BadTableError):
            roll_out_fast(
                Table(), VISITS, np.array([launch], np.int32), rule=rule_of(), cap=9, seed=0
            )
    with pytest.raises(BadInputError, match="slots must be at least 1"):
        roll_out_fast(Table(), VISITS, LAUNCHES, rule=rule_of(), cap=9, seed=0, slots=0)


def test_nothing_to_roll_out_gives_no_rows() -> None:
    assert len(roll_out_fast(Table(), VISITS, LAUNCHES[:0], rule=rule_of(), cap=9, seed=0)) == 0


def test_trees_are_gathered_and_joined_and_opaque_states_are_known() -> None:
    rows = torch.tensor([2, 0])
    tree = {"a": [torch.arange(3), (torch.ones(3, 2), None)], "b": "constant"}
    assert is_tree(tree, 3) and not is_tree(tree, 2)
    part = gathered(tree, rows)
    assert part is not None and part["a"][0].tolist() == [2, 0] and part["b"] == "constant"
    both = joined(tree, part)
    assert both is not None and both["a"][0].tolist() == [0, 1, 2, 2, 0]
    assert joined({"a": torch.ones(2, 3)}, {"a": torch.ones(2, 4)}) is None
    assert joined({"a": torch.ones(2), "b": 1}, {"a": torch.ones(2), "b": 2}) is None
    assert not is_tree(object(), 3) and not is_tree(torch.tensor(1.0), 1)


@settings(max_examples=25, deadline=None)
@given(
    model=st.sampled_from([Table, NestedTable, OpaqueTable]),
    rule=st.sampled_from(["vanilla", "self_loop_cap=2+top_p=0.8", "repetition_penalty=3"]),
    slots=st.integers(3, 150),
    cap=st.integers(1, 25),
    draws=st.integers(1, 4),
    seed=st.integers(0, 2**40),
    p_end=st.floats(0.02, 0.9),
    some=st.integers(1, len(LAUNCHES)),
)
def test_whatever_the_settings_both_loops_agree(
    model: type[Table],
    rule: str,
    slots: int,
    cap: int,
    draws: int,
    seed: int,
    p_end: float,
    some: int,
) -> None:
    given_both: dict[str, Any] = {"rule": rule_of(rule), "cap": cap, "seed": seed, "draws": draws}
    launches = LAUNCHES[:some]
    plain = roll_out(Table(p_end=p_end), VISITS.prefixes(launches), **given_both)
    assert_same(
        roll_out_fast(model(p_end=p_end), VISITS, launches, slots=slots, **given_both), plain
    )
