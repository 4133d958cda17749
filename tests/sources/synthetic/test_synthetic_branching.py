"""The process can be left at any row and gone on with afresh."""

from __future__ import annotations

import numpy as np
import pytest

from edsim import seeds
from edsim.errors import BadInputError
from edsim.sources.synthetic.draws import (
    Department,
    Drawn,
    branch,
    draw,
    draw_with_keys,
    stay_keys,
)

DEPARTMENT = Department(seed=11)
N = 1_500


@pytest.fixture(scope="module")
def original() -> Drawn:
    return draw(DEPARTMENT, np.arange(N))


@pytest.fixture(scope="module")
def launches(original: Drawn) -> np.ndarray:
    """A prefix length for each stay, from the first row to the last."""
    u = seeds.uniform(seeds.mix(np.arange(N, dtype=np.uint64)))
    return 1 + np.floor(u * np.diff(original.offsets)).astype(np.int64)


def test_before_the_launch_row_a_branch_is_the_original(
    original: Drawn, launches: np.ndarray
) -> None:
    branched = branch(DEPARTMENT, np.arange(N), launches, seed=1)
    for i, p in enumerate(launches):
        assert np.array_equal(branched.stay(i)[:p], original.stay(i)[:p])


def test_with_the_original_key_a_branch_is_the_original_to_its_end(
    original: Drawn, launches: np.ndarray
) -> None:
    numbers = np.arange(N)
    replayed = draw_with_keys(DEPARTMENT, numbers, launches, stay_keys(DEPARTMENT, numbers))
    assert np.array_equal(replayed.rows, original.rows)
    assert np.array_equal(replayed.stays, original.stays)


def test_every_row_of_a_stay_can_be_the_launch_row(original: Drawn) -> None:
    stay = int(np.diff(original.offsets).argmax())
    rows = original.stay(stay)
    lengths = np.arange(1, len(rows) + 1)
    branched = branch(DEPARTMENT, np.full(len(rows), stay), lengths, seed=5)
    for i, p in enumerate(lengths):
        assert np.array_equal(branched.stay(i)[:p], rows[:p])
    assert np.array_equal(branched.stay(len(rows) - 1), rows)


def test_two_branch_seeds_differ_and_so_do_two_draws(launches: np.ndarray) -> None:
    futures = [
        branch(DEPARTMENT, np.arange(N), launches, seed=seed, draw=k).rows.tobytes()
        for seed, k in ((1, 0), (2, 0), (1, 1), (1, 0))
    ]
    assert futures[0] == futures[3]
    assert len(set(futures)) == 3


def test_a_branch_leaves_the_original_future(original: Drawn, launches: np.ndarray) -> None:
    early = np.flatnonzero(launches < np.diff(original.offsets) / 2)
    branched = branch(DEPARTMENT, early, launches[early], seed=1)
    same = [np.array_equal(branched.stay(i), original.stay(k)) for i, k in enumerate(early)]
    assert np.mean(same) < 0.05


def test_what_is_drawn_right_after_the_launch_row_is_fresh_already(original: Drawn) -> None:
    """After a check the next check is drawn: it must not be the original's any more."""
    token = original.rows["token"]
    check = (token == 7) | (token == 8)
    after = np.flatnonzero(check[:-1] & check[1:])
    stay = np.searchsorted(original.offsets, after, side="right") - 1
    branched = branch(DEPARTMENT, stay, after - original.offsets[stay] + 1, seed=4)
    place = branched.offsets[:-1] + after - original.offsets[stay] + 1
    same = branched.rows[place] == original.rows[after + 1]
    assert len(after) > 1_000
    assert same.mean() < 0.5


def test_a_branch_does_not_depend_on_the_other_launches(launches: np.ndarray) -> None:
    together = branch(DEPARTMENT, np.arange(N), launches, seed=8)
    some = np.array([1_499, 3, 700])
    alone = branch(DEPARTMENT, some, launches[some], seed=8)
    for i, k in enumerate(some):
        assert np.array_equal(alone.stay(i), together.stay(k))


def test_branches_keep_latents_and_the_home_list(original: Drawn, launches: np.ndarray) -> None:
    branched = branch(DEPARTMENT, np.arange(N), launches, seed=1)
    for name in ("minute", "acuity", "transport", "disposition", "pathway"):
        assert np.array_equal(branched.stays[name], original.stays[name])
    checked = 0
    for i, p in enumerate(launches):
        before, after = original.stay(i)[:p], branched.stay(i)[p:]
        listed = (before["token"] >= 9) & (before["token"] < 16)
        coming = after["item"][(after["token"] >= 9) & (after["token"] < 16)]
        if listed.any():
            whole = original.stay(i)
            taken = whole["item"][(whole["token"] >= 9) & (whole["token"] < 16)]
            longer = branched.stay(i)["item"][
                (branched.stay(i)["token"] >= 9) & (branched.stay(i)["token"] < 16)
            ]
            n = min(len(taken), len(longer), len(set(taken)))
            assert np.array_equal(taken[:n], longer[:n])  # one list, entered in one order
            checked += len(coming) > 0
    assert checked > 50


@pytest.mark.parametrize("length", [1, 2, 4, 9, 20])
def test_futures_and_branched_futures_have_one_law(length: int) -> None:
    """Remaining minutes and counts by token agree within four standard errors.

    Launched after a row whose number is fixed: a launch chosen by the share of its stay that is
    over would be selected on the outcome, and the two would differ.
    """
    everyone = draw(DEPARTMENT, np.arange(20_000))
    numbers = np.flatnonzero(np.diff(everyone.offsets) >= length)
    branched = branch(DEPARTMENT, numbers, np.full_like(numbers, length), seed=2)
    true, drawn = futures(draw(DEPARTMENT, numbers), length), futures(branched, length)
    for one, other in zip(true, drawn, strict=True):
        difference = (one - other).astype(float)
        error = difference.std() / np.sqrt(len(numbers))
        assert abs(difference.mean()) <= 4 * error


def futures(drawn: Drawn, length: int) -> list[np.ndarray]:
    """ln(1 + minutes) from the launch row to the last, and how often each token follows."""
    n = len(drawn.numbers)
    stay = np.repeat(np.arange(n), np.diff(drawn.offsets))
    later = np.arange(len(drawn.rows)) - drawn.offsets[stay] >= length
    now = drawn.rows["second"][drawn.offsets[:-1] + length - 1]
    last = drawn.rows["second"][drawn.offsets[1:] - 1]
    tokens = [stay[later & (drawn.rows["token"] == token)] for token in range(31)]
    return [np.log1p((last - now) / 60), *(np.bincount(rows, minlength=n) for rows in tokens)]


def test_a_prefix_longer_than_the_stay_is_refused(original: Drawn) -> None:
    n_rows = np.diff(original.offsets)
    with pytest.raises(BadInputError, match=r"1 of 2 launches .* first at launch 1"):
        branch(DEPARTMENT, np.array([0, 1]), np.array([1, n_rows[1] + 1]), seed=0)
    with pytest.raises(BadInputError, match="1 of 1 launches"):
        branch(DEPARTMENT, np.array([0]), np.array([0]), seed=0)


def test_drift_belongs_to_the_department_that_is_branched() -> None:
    moved = Department(seed=11, drift=1.0)
    drawn = draw(moved, np.arange(200))
    lengths = np.full(200, 3)
    branched = branch(moved, np.arange(200), lengths, seed=1)
    for i in range(200):
        assert np.array_equal(branched.stay(i)[:3], drawn.stay(i)[:3])
