"""What a count model learns, on visits small enough to count by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from edsim.errors import BadTableError
from edsim.models.contexts import tabulate
from edsim.models.counts import CountModel, compile_counts, fit
from edsim.tables.visits import END, Visits
from random_visits import all_launches, random_visits

ARRIVE, TRIAGE, TEST, LEAVE, NEVER = 1, 2, 3, 4, 5
N_TOKENS = 6


def visits(*stays: list[tuple[int, float]]) -> Visits:
    """Stays of (event, minutes before it); END is added."""
    rows = [event for stay in stays for event in [*stay, (END, 0.0)]]
    return Visits(
        np.array([token for token, _ in rows], dtype=np.int16),
        np.array([minutes for _, minutes in rows], dtype=np.float32),
        np.cumsum([0, *(len(stay) + 1 for stay in stays)]).astype(np.int64),
        np.zeros(len(stays)),
        np.array([f"{i}".encode() for i in range(len(stays))]),
    )


def after(model: CountModel, *history: int) -> dict[int, float]:
    """Events that may follow a history, and how likely each is."""
    state = model.start(visits([(event, 0.0) for event in history]).prefixes(_all_of(history)))
    row = model.propose(state, torch.zeros(1)).exp()[0]
    return {token: round(p, 12) for token, p in enumerate(row.tolist()) if p > 0}


def gap(model: CountModel, history: tuple[int, ...], event: int, u_time: float) -> float:
    """Minutes before `event` after a history."""
    state = model.start(visits([(token, 0.0) for token in history]).prefixes(_all_of(history)))
    u = torch.tensor([u_time], dtype=torch.float64)
    return float(model.commit(state, torch.tensor([event]), u)[1])


def _all_of(history: tuple[int, ...]) -> np.ndarray:
    return np.array([[0, len(history)]], dtype=np.int32)


THREE = visits(
    [(ARRIVE, 0), (TRIAGE, 2), (LEAVE, 30)],
    [(ARRIVE, 0), (TRIAGE, 4), (TEST, 10), (TEST, 20), (LEAVE, 50)],
    [(ARRIVE, 0), (TEST, 1), (LEAVE, 9)],
)


def test_the_marginal_counts_every_event_but_the_first_of_a_stay() -> None:
    shares = {END: 3 / 11, TRIAGE: 2 / 11, TEST: 3 / 11, LEAVE: 3 / 11}
    assert after(fit(THREE, N_TOKENS, 0), ARRIVE) == pytest.approx(shares)


def test_a_context_is_the_last_events_and_no_more() -> None:
    markov = fit(THREE, N_TOKENS, 1)
    assert after(markov, ARRIVE) == pytest.approx({TRIAGE: 2 / 3, TEST: 1 / 3})
    assert after(markov, TRIAGE, TEST) == pytest.approx({TEST: 1 / 3, LEAVE: 2 / 3})
    second = fit(THREE, N_TOKENS, 2)
    assert after(second, ARRIVE, TRIAGE, TEST) == {TEST: 1}
    assert after(second, ARRIVE, TEST) == {LEAVE: 1}


def test_nearer_the_start_the_whole_history_is_the_context() -> None:
    assert after(fit(THREE, N_TOKENS, 7), ARRIVE) == pytest.approx({TRIAGE: 2 / 3, TEST: 1 / 3})


def test_an_unseen_context_gives_way_to_the_longest_seen_one() -> None:
    model = fit(THREE, N_TOKENS, 3)
    assert after(model, LEAVE, TRIAGE, TEST) == after(model, TRIAGE, TEST)
    assert after(model, TEST, TEST, TEST) == after(model, TEST, TEST) == {LEAVE: 1}
    assert after(model, ARRIVE, NEVER) == after(fit(THREE, N_TOKENS, 0), ARRIVE)


def test_gaps_are_those_of_training_in_order_of_chance() -> None:
    six = visits(*[[(ARRIVE, 0), (TRIAGE, minutes)] for minutes in (30, 10, 0, 0, 20, 40)])
    model = fit(six, N_TOKENS, 1)
    chances = [i / 6 + 0.01 for i in range(6)]
    assert [gap(model, (ARRIVE,), TRIAGE, u) for u in chances] == [0, 0, 10, 20, 30, 40]
    assert gap(model, (ARRIVE,), TRIAGE, 1 - 2.0**-53) == 40


def test_fewer_than_five_gaps_are_left_for_those_of_a_shorter_context() -> None:
    few = [[(ARRIVE, 0), (TEST, 100)] for _ in range(4)]
    many = [[(TRIAGE, 0), (TEST, 1)] for _ in range(4)]
    model = fit(visits(*few, *many), N_TOKENS, 1)
    assert {gap(model, (ARRIVE,), TEST, u) for u in (0.1, 0.4, 0.6, 0.9)} == {1.0, 100.0}
    one_more = fit(visits(*few, few[0], *many), N_TOKENS, 1)
    assert {gap(one_more, (ARRIVE,), TEST, u) for u in (0.1, 0.4, 0.6, 0.9)} == {100.0}


def test_an_event_never_seen_comes_at_once() -> None:
    model = fit(THREE, N_TOKENS, 2)
    assert gap(model, (ARRIVE,), NEVER, 0.7) == gap(model, (ARRIVE,), ARRIVE, 0.7) == 0


def test_gaps_come_back_to_the_bit_in_any_unit() -> None:
    for unit in (60.0, 60_000.0, 7.3):
        training = random_visits(100, 9, seed=5, unit=unit)
        targets = np.delete(training.minutes, training.offsets[:-1])
        assert np.array_equal(
            np.unique(fit(training, 9, 3).automaton.gaps.minutes), np.unique(targets)
        )


@pytest.mark.parametrize("order", [1, 3, 5])
def test_many_tokens_and_look_ups_that_do_not_fit_change_nothing(order: int) -> None:
    """1,200 tokens of order 7 do not fit into one 64-bit number."""
    training = random_visits(150, 1200, seed=6)
    moved = Visits(
        np.where(training.tokens, training.tokens * 25, 0).astype(np.int16),
        training.minutes,
        training.offsets,
        training.start,
        training.stay_ids,
    )
    near = compile_counts(tabulate(training, 1200, order + 2))
    far = compile_counts(tabulate(moved, 30_001, order + 2), most_entries=0)
    launches = all_launches(training)
    ours = near.propose(near.start(training.prefixes(launches)), torch.zeros(len(launches)))
    for row in range(0, len(launches), 40):
        prefixes = moved.prefixes(launches[row : row + 1])
        theirs = far.propose(far.start(prefixes), torch.zeros(1))[0]
        assert torch.equal(ours[row], theirs[::25][:1200])
        assert math.isclose(float(theirs.exp().sum()), 1, rel_tol=1e-12)


def test_visits_of_another_vocabulary_are_refused() -> None:
    with pytest.raises(BadTableError, match="3 of 14 events have a token outside 0 to 3"):
        fit(THREE, 4, 1)


def test_nothing_to_count_is_refused() -> None:
    with pytest.raises(BadTableError, match="no event to count"):
        fit(visits(), N_TOKENS, 1)
