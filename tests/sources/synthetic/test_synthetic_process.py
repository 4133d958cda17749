"""What every drawn stay keeps, whatever the seed."""

from __future__ import annotations

import numpy as np
import pytest

from edsim import seeds
from edsim.errors import BadInputError
from edsim.sources.synthetic.draws import (
    MAX_ROWS,
    TOKENS,
    Department,
    Drawn,
    draw,
    draw_chunks,
    draw_with_keys,
    stay_keys,
)

DEPARTMENT = Department(seed=3)
ENTER, TRIAGE, CHECK, RECONCILE, DISPENSE, DISCHARGE = 0, 3, 7, 9, 16, 24
PLACE_AT_ONE_TIME = np.repeat([0, 2, 1, 3, 4, 5], [3, 4, 2, 7, 8, 7])


@pytest.fixture(scope="module")
def drawn() -> Drawn:
    return draw(DEPARTMENT, np.arange(4_000))


def starts(drawn: Drawn, first: int, end: int) -> np.ndarray:
    return (drawn.rows["token"] >= first) & (drawn.rows["token"] < end)


def same_stays(some: Drawn, others: Drawn) -> bool:
    return bool(
        np.array_equal(some.rows, others.rows)
        and np.array_equal(some.stays, others.stays)
        and np.array_equal(some.offsets, others.offsets)
    )


def test_there_is_a_name_for_every_token() -> None:
    assert len(TOKENS) == len(set(TOKENS)) == len(PLACE_AT_ONE_TIME) == 31


def test_the_same_seed_draws_the_same_bytes(drawn: Drawn) -> None:
    assert same_stays(drawn, draw(DEPARTMENT, np.arange(4_000)))


def test_another_seed_draws_other_stays(drawn: Drawn) -> None:
    other = draw(Department(seed=4), np.arange(4_000))
    assert not np.array_equal(other.stays["departure"], drawn.stays["departure"])


def test_a_stay_does_not_depend_on_how_many_are_drawn_or_in_which_order(drawn: Drawn) -> None:
    numbers = np.array([3_999, 17, 0, 1_234, 17])
    alone = draw(DEPARTMENT, numbers)
    for i, number in enumerate(numbers):
        assert np.array_equal(alone.stay(i), drawn.stay(number))


def test_the_size_of_a_chunk_changes_nothing(drawn: Drawn) -> None:
    chunks = list(draw_chunks(DEPARTMENT, 4_000, size=731))
    assert [len(c.numbers) for c in chunks] == [731] * 5 + [345]
    assert np.array_equal(np.concatenate([c.rows for c in chunks]), drawn.rows)


def test_the_stream_is_the_keyed_chance_of_the_project() -> None:
    from edsim.sources.synthetic.process import STATE, mix, uniform

    key = stay_keys(DEPARTMENT, np.array([5]))[0]
    state = np.zeros(1, dtype=STATE)
    state[0]["base"] = mix(key)
    ours = [uniform(state[0]) for _ in range(3)]
    expected = seeds.uniform(seeds.combine(np.full(3, key), np.arange(3)))
    assert ours == expected.tolist()


def test_rows_stand_by_time_and_then_by_the_tie_rule(drawn: Drawn) -> None:
    within = np.ones(len(drawn.rows) - 1, dtype=bool)
    within[drawn.offsets[1:-1] - 1] = False
    place = PLACE_AT_ONE_TIME[drawn.rows["token"]]
    gap, step = np.diff(drawn.rows["second"])[within], np.diff(place)[within]
    assert (gap >= 0).all()
    assert (step[gap == 0] >= 0).all()
    assert (gap == 0).any()


def test_clinical_rows_lie_on_whole_minutes_and_triage_a_second_after_enter(drawn: Drawn) -> None:
    second = drawn.rows["second"]
    assert (second[starts(drawn, ENTER, TRIAGE)] == 0).all()
    assert (second[starts(drawn, TRIAGE, CHECK)] == 1).all()
    assert (second[starts(drawn, CHECK, DISCHARGE)] % 60 == 0).all()


def test_departure_carries_seconds_in_about_one_stay_of_seven(drawn: Drawn) -> None:
    seconds = drawn.stays["departure"] % 60
    assert 0.12 < (seconds > 0).mean() < 0.16
    assert set(seconds) == set(range(60))


def test_every_stay_enters_once_is_triaged_once_and_ends_in_its_discharge_rows(
    drawn: Drawn,
) -> None:
    for i in range(300):
        token, second = drawn.stay(i)["token"], drawn.stay(i)["second"]
        assert (token < TRIAGE).sum() == 1
        assert ((token >= TRIAGE) & (token < CHECK)).sum() == 1
        n_discharges = (token >= DISCHARGE).sum()
        assert 1 <= n_discharges <= 9
        assert (token[-n_discharges:] >= DISCHARGE).all()
        assert len(set(token[-n_discharges:])) == 1
        assert (second[-n_discharges:] == drawn.stays["departure"][i]).all()
        assert (second[:-n_discharges] < drawn.stays["departure"][i]).all()


def test_no_two_checks_of_a_stay_share_a_minute(drawn: Drawn) -> None:
    for i in range(1_000):
        rows = drawn.stay(i)
        minutes = rows["second"][(rows["token"] >= CHECK) & (rows["token"] < RECONCILE)]
        assert len(set(minutes)) == len(minutes)


def test_a_few_rows_lie_before_arrival_and_stand_first() -> None:
    many = draw(DEPARTMENT, np.arange(20_000))
    early = np.flatnonzero(many.rows["second"] < 0)
    assert 15 < len(early) < 75  # 0.2 % of 20,000
    assert set(early) <= set(many.offsets[:-1])
    assert many.rows["second"][early].min() >= -30 * 60
    assert set(PLACE_AT_ONE_TIME[many.rows["token"][early]]) == {1, 4}


def test_a_stay_is_cut_and_still_ends_in_discharge_rows() -> None:
    numbers = np.arange(3_000)
    keys = stay_keys(DEPARTMENT, numbers)
    whole = draw(DEPARTMENT, numbers)
    cut = draw_with_keys(DEPARTMENT, numbers, np.zeros_like(numbers), keys, max_rows=40)
    lengths = np.diff(cut.offsets)
    assert lengths.max() <= 40
    assert np.diff(whole.offsets).max() > 60
    assert (cut.rows["token"][cut.offsets[1:] - 1] >= DISCHARGE).all()
    short = np.flatnonzero(np.diff(whole.offsets) <= 28)
    assert all(np.array_equal(cut.stay(i), whole.stay(i)) for i in short[:500])
    assert MAX_ROWS == 600


def test_a_medicine_is_followed_at_once_by_its_second_class_row(drawn: Drawn) -> None:
    from edsim.sources.synthetic.rates import FORMULARY_CLASS, SECOND_CLASS

    at = np.flatnonzero(starts(drawn, RECONCILE, DISPENSE))
    item, token = drawn.rows["item"][at], drawn.rows["token"][at] - RECONCILE
    paired = np.flatnonzero(SECOND_CLASS[item] >= 0)
    first, second = paired[::2], paired[1::2]
    assert (second == first + 1).all()
    assert (token[first] == FORMULARY_CLASS[item[first]]).all()
    assert (token[second] == SECOND_CLASS[item[second]]).all()
    assert np.array_equal(drawn.rows["second"][at[first]], drawn.rows["second"][at[second]])


def test_negative_stay_numbers_are_refused() -> None:
    with pytest.raises(BadInputError, match="1 of 2 stay numbers"):
        draw(DEPARTMENT, np.array([0, -1]))
