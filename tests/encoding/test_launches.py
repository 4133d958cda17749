"""Launch sets: small cohorts whose right answer needs no arithmetic."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edsim import seeds
from edsim.encoding.launches import (
    KINDS,
    STORED_SETS,
    LaunchStays,
    NoLaunchesError,
    launch_set,
)
from edsim.errors import BadInputError

TRAIN, VAL, TEST = 0, 1, 2


def made_up(lengths: list[int], splits: list[int], triage: list[int] | None = None) -> LaunchStays:
    split = np.array(splits, dtype=np.int64)
    return LaunchStays(
        stay_ids=[f"stay {number}" for number in range(len(lengths))],
        test=split == TEST,
        val=split == VAL,
        n_events=np.array(lengths, dtype=np.int32),
        triage=None if triage is None else np.array(triage, dtype=np.int32),
    )


COHORTS = st.lists(
    st.tuples(st.integers(1, 9), st.sampled_from([TRAIN, VAL, TEST])), min_size=1, max_size=12
).map(lambda rows: made_up([n for n, _ in rows], [split for _, split in rows]))

SMALL = made_up([2, 4, 1, 3], [TEST, TRAIN, VAL, TEST], triage=[1, 2, 1, 0])


def test_all_is_every_prefix_of_every_test_stay_and_no_other() -> None:
    launches = launch_set("all", SMALL)
    assert launches.tolist() == [[0, 1], [0, 2], [3, 1], [3, 2], [3, 3]]
    assert launches.dtype == np.int32


def test_triage_ends_at_the_triage_row_of_test_stays_that_have_one() -> None:
    assert launch_set("triage", SMALL).tolist() == [[0, 1]]


def test_late_is_three_quarters_and_more() -> None:
    stays = made_up([1, 4, 5, 8], [TEST] * 4)
    late = [[0, 1], [1, 3], [1, 4], [2, 4], [2, 5], [3, 6], [3, 7], [3, 8]]
    assert launch_set("late", stays).tolist() == late


def test_long_prefix_is_at_most_the_longest_quarter() -> None:
    # lengths of the launches: 1 1 1 1 2 2 3 4
    stays = made_up([1, 1, 2, 4], [TEST] * 4)
    assert launch_set("long-prefix", stays).tolist() == [[3, 3], [3, 4]]


@settings(deadline=None)
@given(COHORTS)
def test_long_prefix_takes_the_shortest_length_that_leaves_a_quarter(stays: LaunchStays) -> None:
    every = [
        (row, n)
        for row, total in enumerate(stays.n_events)
        if stays.test[row]
        for n in range(1, total + 1)
    ]
    lengths = [n for _, n in every]
    shortest = next(
        (n for n in range(1, 11) if sum(m >= n for m in lengths) <= 0.25 * len(lengths)), 11
    )
    expected = [list(launch) for launch in every if launch[1] >= shortest]
    if expected:
        assert launch_set("long-prefix", stays).tolist() == expected
    else:
        with pytest.raises(NoLaunchesError):
            launch_set("long-prefix", stays)


@settings(deadline=None)
@given(COHORTS, st.integers(1, 30), st.integers(0, 3))
def test_a_sample_is_the_smallest_keyed_hashes_one_launch_at_a_time(
    stays: LaunchStays, n: int, seed: int
) -> None:
    stays = replace(stays, seed=seed)
    keyed = []
    for row, total in enumerate(stays.n_events):
        for length in range(1, total + 1):
            key = seeds.keys("launch", seed, [stays.stay_ids[row]])
            hashed = int(seeds.combine(key, np.array([length]))[0])
            keyed.append((hashed, row, length, bool(stays.test[row]), bool(stays.val[row])))
    for name, place in (("matched", 3), ("val", 4)):
        chosen = sorted(launch for launch in keyed if launch[place])[:n]
        expected = sorted([row, length] for _, row, length, *_ in chosen)
        if expected:
            assert launch_set(f"{name}-{n}", stays).tolist() == expected
        else:
            with pytest.raises(NoLaunchesError):
                launch_set(f"{name}-{n}", stays)


@settings(deadline=None)
@given(COHORTS)
def test_a_smaller_sample_is_part_of_a_larger_one(stays: LaunchStays) -> None:
    if not stays.test.any():
        return
    samples = [set(map(tuple, launch_set(f"matched-{n}", stays).tolist())) for n in range(1, 12)]
    assert all(small <= large for small, large in pairwise(samples))


def test_adding_stays_moves_no_key() -> None:
    before = launch_set("matched-3", made_up([5, 5], [TEST, TEST])).tolist()
    grown = made_up([5, 5, 9], [TEST, TEST, TEST])
    after = launch_set("matched-19", grown).tolist()
    assert all(launch in after for launch in before)
    only_old = replace(grown, test=np.array([True, True, False]))
    assert launch_set("matched-3", only_old).tolist() == before


def test_where_fewer_exist_all_are_taken() -> None:
    assert launch_set("matched-100k", SMALL).tolist() == launch_set("all", SMALL).tolist()
    assert launch_set("matched-1m", SMALL).tolist() == launch_set("all", SMALL).tolist()


def test_a_number_may_be_written_in_thousands() -> None:
    stays = made_up([4000], [TEST])
    assert launch_set("matched-2k", stays).tolist() == launch_set("matched-2000", stays).tolist()
    assert len(launch_set("matched-2k", stays)) == 2000


def test_keys_are_the_same_on_every_machine() -> None:
    stays = made_up([6, 6, 6], [TEST] * 3)
    assert launch_set("matched-4", stays).tolist() == [[0, 3], [1, 4], [2, 2], [2, 4]]


@pytest.mark.parametrize(
    "name", ["al", "matched", "matched-N", "matched-0", "matched-5x", "val-", "late-3", ""]
)
def test_an_unknown_name_lists_the_known_ones(name: str) -> None:
    with pytest.raises(BadInputError) as refused:
        launch_set(name, SMALL)
    assert all(kind in str(refused.value) for kind in KINDS)


def test_a_near_miss_is_guessed() -> None:
    with pytest.raises(BadInputError, match="did you mean 'long-prefix'"):
        launch_set("longprefix", SMALL)


def test_an_empty_set_says_why() -> None:
    with pytest.raises(NoLaunchesError, match="names none"):
        launch_set("triage", replace(SMALL, triage=None))
    with pytest.raises(NoLaunchesError, match="no test stay has a triage row"):
        launch_set("triage", replace(SMALL, triage=np.zeros(4, dtype=np.int32)))
    with pytest.raises(NoLaunchesError, match="the test split has no stays"):
        launch_set("all", replace(SMALL, test=np.zeros(4, dtype=bool)))
    with pytest.raises(NoLaunchesError, match="the validation split has no stays"):
        launch_set("val-2000", replace(SMALL, val=np.zeros(4, dtype=bool)))
    with pytest.raises(NoLaunchesError, match="same prefix length"):
        launch_set("long-prefix", made_up([1, 1], [TEST, TEST]))


@pytest.mark.parametrize("name", STORED_SETS)
def test_every_stored_set_is_sorted_and_within_its_stays(name: str) -> None:
    rng = np.random.default_rng(5)
    lengths = rng.integers(1, 30, 300).tolist()
    stays = made_up(lengths, rng.integers(0, 3, 300).tolist(), triage=[1] * 300)
    launches = launch_set(name, stays)
    rows, prefix = launches[:, 0], launches[:, 1]
    assert launches.dtype == np.int32
    assert launches.tolist() == sorted(launches.tolist())
    assert ((prefix >= 1) & (prefix <= stays.n_events[rows])).all()
    assert (stays.val if name.startswith("val") else stays.test)[rows].all()
