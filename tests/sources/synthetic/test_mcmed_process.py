"""The second synthetic process: sorted rows, one departure, branches at any row."""

from __future__ import annotations

import numpy as np
import pytest

from edsim import seeds
from edsim.errors import BadInputError
from edsim.sources.mcmed.labels import ACTIVITIES
from edsim.sources.synthetic.draws import Drawn
from edsim.sources.synthetic.mcmed_catalogue import CATALOGUE, IMAGING, LAB, MEDICINE
from edsim.sources.synthetic.mcmed_draws import branch, draw, draw_chunks, draw_with_keys, stay_keys

SEED, N = 11, 1_500
(ARRIVAL, TRIAGE, ROOMED, VITALS, ORDER, GIVEN, RESULT, IMAGE, DECISION, DEPARTURE) = range(10)


@pytest.fixture(scope="module")
def original() -> Drawn:
    return draw(SEED, np.arange(N))


@pytest.fixture(scope="module")
def launches(original: Drawn) -> np.ndarray:
    """A prefix length for each stay, from the first row to the last."""
    u = seeds.uniform(seeds.mix(np.arange(N, dtype=np.uint64)))
    return 1 + np.floor(u * np.diff(original.offsets)).astype(np.int64)


def stay_of_rows(drawn: Drawn) -> np.ndarray:
    return np.repeat(np.arange(len(drawn.numbers)), np.diff(drawn.offsets))


def test_rows_stand_in_the_order_of_the_tie_rule(original: Drawn) -> None:
    stay = stay_of_rows(original)
    place = original.rows["second"].astype(np.int64) * 16 + original.rows["activity"]
    assert (np.diff(place)[stay[1:] == stay[:-1]] >= 0).all()


def test_a_stay_begins_with_arrival_and_triage_and_ends_with_its_one_departure(
    original: Drawn,
) -> None:
    activity = original.rows["activity"]
    begin, end = original.offsets[:-1], original.offsets[1:] - 1
    assert (activity[begin] == ARRIVAL).all()
    assert (activity[begin + 1] == TRIAGE).all()
    assert (activity[end] == DEPARTURE).all()
    for once in (ARRIVAL, TRIAGE, DECISION, DEPARTURE):
        assert (activity == once).sum() == N
    assert (original.rows["second"][end] == original.stays["departure"]).all()


def test_nurses_chart_on_the_minute_and_once_a_minute(original: Drawn) -> None:
    charted = original.rows["activity"] == VITALS
    stay = stay_of_rows(original)[charted]
    clock = original.rows["second"][charted].astype(np.int64) + original.stays["phase"][stay]
    assert (clock % 60 == 0).all()
    assert len(np.unique(stay * 10**8 + clock)) == charted.sum()


def test_what_follows_an_order_comes_after_it_and_once(original: Drawn) -> None:
    stay, rows = stay_of_rows(original), original.rows
    number = stay * 10**5 + rows["order"]
    placed = dict(
        zip(number[rows["activity"] == ORDER], rows[rows["activity"] == ORDER], strict=True)
    )
    for activity, follows in ((GIVEN, MEDICINE), (RESULT, LAB), (IMAGE, IMAGING)):
        at = np.flatnonzero((rows["activity"] == activity) & (rows["part"] == 0))
        assert len(at) > 500
        assert len(np.unique(number[at])) == len(at)
        for row, key in zip(rows[at], number[at], strict=True):
            assert placed[key]["second"] < row["second"]
            assert placed[key]["item"] == row["item"]
            assert CATALOGUE[row["item"]].follows == follows


def test_a_result_has_all_components_of_its_panel_at_once(original: Drawn) -> None:
    rows, stay = original.rows, stay_of_rows(original)
    first = np.flatnonzero((rows["activity"] == RESULT) & (rows["part"] == 0))
    for at in first:
        n = len(CATALOGUE[rows["item"][at]].components)
        panel = rows[at : at + n]
        assert panel["part"].tolist() == list(range(n))
        assert len(np.unique(panel["second"])) == 1
        assert (stay[at : at + n] == stay[at]).all()


def test_a_stay_does_not_depend_on_how_many_are_drawn(original: Drawn) -> None:
    some = draw(SEED, np.array([1_499, 3, 700]))
    for i, k in enumerate(some.numbers):
        assert np.array_equal(some.stay(i), original.stay(k))
    chunks = list(draw_chunks(SEED, N, size=333))
    assert np.array_equal(np.concatenate([c.rows for c in chunks]), original.rows)


def test_another_seed_gives_other_stays(original: Drawn) -> None:
    assert not np.array_equal(draw(SEED + 1, np.arange(N)).rows, original.rows)


def test_a_stay_cut_short_still_ends_with_a_decision_and_a_departure() -> None:
    numbers = np.arange(400)
    nothing = np.zeros_like(numbers)
    cut = draw_with_keys(SEED, numbers, nothing, stay_keys(SEED, numbers), max_rows=60)
    assert np.diff(cut.offsets).max() <= 60
    assert (cut.rows["activity"] == DECISION).sum() == 400
    assert (cut.rows["activity"][cut.offsets[1:] - 1] == DEPARTURE).all()


def test_before_the_launch_row_a_branch_is_the_original(
    original: Drawn, launches: np.ndarray
) -> None:
    branched = branch(SEED, np.arange(N), launches, seed=1)
    for i, p in enumerate(launches):
        assert np.array_equal(branched.stay(i)[:p], original.stay(i)[:p])


def test_with_the_original_key_a_branch_is_the_original_to_its_end(
    original: Drawn, launches: np.ndarray
) -> None:
    numbers = np.arange(N)
    replayed = draw_with_keys(SEED, numbers, launches, stay_keys(SEED, numbers))
    assert np.array_equal(replayed.rows, original.rows)
    assert np.array_equal(replayed.stays, original.stays)


def test_every_row_of_a_stay_can_be_the_launch_row(original: Drawn) -> None:
    stay = int(np.diff(original.offsets).argmax())
    rows = original.stay(stay)
    lengths = np.arange(1, len(rows) + 1)
    branched = branch(SEED, np.full(len(rows), stay), lengths, seed=5)
    for i, p in enumerate(lengths):
        assert np.array_equal(branched.stay(i)[:p], rows[:p])
    assert np.array_equal(branched.stay(len(rows) - 1), rows)


def test_two_branch_seeds_differ_and_so_do_two_draws(launches: np.ndarray) -> None:
    futures = [
        branch(SEED, np.arange(N), launches, seed=seed, draw=k).rows.tobytes()
        for seed, k in ((1, 0), (2, 0), (1, 1), (1, 0))
    ]
    assert futures[0] == futures[3]
    assert len(set(futures)) == 3


def test_branches_keep_latents_and_leave_the_future(original: Drawn, launches: np.ndarray) -> None:
    branched = branch(SEED, np.arange(N), launches, seed=1)
    for name in ("minute", "phase", "acuity", "transport", "disposition", "care"):
        assert np.array_equal(branched.stays[name], original.stays[name])
    early = np.flatnonzero(launches < np.diff(original.offsets) / 2)
    same = [np.array_equal(branched.stay(i), original.stay(i)) for i in early]
    assert np.mean(same) < 0.05


@pytest.mark.parametrize("length", [2, 5, 12, 60])
def test_futures_and_branched_futures_have_one_law(length: int) -> None:
    """Remaining minutes and counts by activity agree within four standard errors."""
    everyone = draw(SEED, np.arange(8_000))
    numbers = np.flatnonzero(np.diff(everyone.offsets) >= length)
    branched = branch(SEED, numbers, np.full_like(numbers, length), seed=2)
    true, drawn = futures(draw(SEED, numbers), length), futures(branched, length)
    for one, other in zip(true, drawn, strict=True):
        difference = (one - other).astype(float)
        error = difference.std() / np.sqrt(len(numbers))
        assert abs(difference.mean()) <= 4 * error


def futures(drawn: Drawn, length: int) -> list[np.ndarray]:
    """ln(1 + minutes) from the launch row to the last, and how often each activity follows."""
    n, stay, rows = len(drawn.numbers), stay_of_rows(drawn), drawn.rows
    later = np.arange(len(rows)) - drawn.offsets[stay] >= length
    now = rows["second"][drawn.offsets[:-1] + length - 1]
    last = rows["second"][drawn.offsets[1:] - 1]
    counts = [
        np.bincount(stay[later & (rows["activity"] == a)], minlength=n)
        for a in range(len(ACTIVITIES))
    ]
    abnormal = np.bincount(
        stay[later & (rows["activity"] == RESULT) & (rows["flag"] == 1)], minlength=n
    )
    return [np.log1p((last - now) / 60), abnormal, *counts]


def test_a_prefix_longer_than_the_stay_is_refused(original: Drawn) -> None:
    n_rows = np.diff(original.offsets)
    with pytest.raises(BadInputError, match=r"1 of 2 launches .* first at launch 1"):
        branch(SEED, np.array([0, 1]), np.array([1, n_rows[1] + 1]), seed=1)


@pytest.mark.calibration
def test_visits_have_about_the_length_of_the_published_ones() -> None:
    """Published: mean about 93 rows, p99.9 about 512, 34 % above 128 (rough shape only)."""
    n_rows = np.diff(draw(1, np.arange(60_000)).offsets)
    assert abs(n_rows.mean() - 93) < 6
    assert 430 < np.percentile(n_rows, 99.9) < 580
    assert 0.25 < (n_rows > 128).mean() < 0.38
