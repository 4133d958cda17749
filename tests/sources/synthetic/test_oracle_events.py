"""Branches as events: the original where nothing is drawn afresh, lawful where it is."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from edsim.errors import BadCohortError
from edsim.progress import silent
from edsim.sources.synthetic import SOURCE, SyntheticOptions, medicines
from edsim.sources.synthetic.draws import Department, draw, stay_keys
from edsim.sources.synthetic.medicines import name_keys
from edsim.sources.synthetic.oracle import branch_events, department_of, events_with_keys
from edsim.sources.synthetic.reading import VERSION, read_visits
from edsim.tables.extract import EVENT_COLUMNS

SEED = 5
N = 400
OPTIONS = SyntheticOptions(stays=N, seed=SEED)
DEPARTMENT = Department(seed=SEED)
DISPENSED = "Medicine dispensations"


@pytest.fixture(scope="module")
def visits() -> pl.DataFrame:
    """The events of the cohort's stays, with the place of each row in its stay from 1."""
    events = read_visits(OPTIONS, silent).events
    return events.with_columns(place=pl.int_range(1, pl.len() + 1).over("stay"))


@pytest.fixture(scope="module")
def launches(visits: pl.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Every launch of every stay: stay numbers and prefix lengths."""
    return (
        visits["stay"].to_numpy().astype(np.int64),
        visits["place"].to_numpy().astype(np.int64),
    )


def ids(numbers: np.ndarray) -> np.ndarray:
    return (30_000_000 + numbers).astype(np.bytes_)


def test_with_the_stays_own_keys_every_launch_goes_on_as_the_record_does(
    visits: pl.DataFrame, launches: tuple[np.ndarray, np.ndarray]
) -> None:
    numbers, lengths = launches
    replayed = events_with_keys(
        DEPARTMENT, numbers, lengths, stay_keys(DEPARTMENT, numbers), name_keys(SEED, numbers)
    )
    of_launch = pl.DataFrame({"branch": np.arange(len(numbers)), "stay": numbers, "from": lengths})
    expected = (
        of_launch.with_columns(pl.col("stay").cast(pl.UInt32))
        .join(visits, on="stay", maintain_order="left_right")
        .filter(pl.col("place") >= pl.col("from"))
        .select(pl.col("branch").cast(pl.UInt32).alias("stay"), *EVENT_COLUMNS[1:])
    )
    assert_frame_equal(replayed, expected)


def test_a_branch_begins_with_its_launch_row(
    visits: pl.DataFrame, launches: tuple[np.ndarray, np.ndarray]
) -> None:
    numbers, lengths = launches
    branched = branch_events(DEPARTMENT, ids(numbers), lengths, np.zeros(len(numbers), int), seed=1)
    first = branched.group_by("stay", maintain_order=True).first()
    assert_frame_equal(first.drop("stay"), visits.select(EVENT_COLUMNS[1:]))


def test_seeds_and_draws_give_other_futures_and_the_same_ones_again(
    launches: tuple[np.ndarray, np.ndarray],
) -> None:
    numbers, lengths = (part[:500] for part in launches)

    def future(seed: int, draw: int) -> list[tuple[object, ...]]:
        draws = np.full(len(numbers), draw)
        return branch_events(DEPARTMENT, ids(numbers), lengths, draws, seed=seed).rows()

    assert future(1, 0) == future(1, 0)
    assert future(1, 0) != future(2, 0)
    assert future(1, 0) != future(1, 1)


def test_an_act_of_dispensing_that_has_begun_stays_of_one_medicine() -> None:
    """Its second row is counted before its first is written, so no branch can lose it."""
    drawn = draw(DEPARTMENT, np.arange(N))
    rows, stay = drawn.rows, np.repeat(np.arange(N), np.diff(drawn.offsets))
    act = np.stack([stay, rows["item"], rows["token"]], axis=1)
    begun = np.flatnonzero((act[:-1] == act[1:]).all(axis=1) & (rows["token"][:-1] >= 16))
    begun = begun[rows["token"][begun] < 24]
    assert len(begun) > 100
    lengths = begun - drawn.offsets[stay[begun]] + 1
    branched = branch_events(
        DEPARTMENT, ids(stay[begun]), lengths, np.zeros(len(begun), int), seed=3
    )
    pairs = branched.group_by("stay", maintain_order=True).head(2)
    for column in ("minutes", "detail"):
        first, second = pairs[column].cast(pl.String).to_numpy().reshape(-1, 2).T
        assert (first == second).all()


def test_medicines_dispensed_after_the_launch_are_named_afresh_and_by_the_same_law() -> None:
    numbers = np.arange(4_000)
    lengths = np.ones_like(numbers)
    options = SyntheticOptions(stays=len(numbers), seed=SEED)
    record = read_visits(options, silent).events
    draws = [
        branch_events(DEPARTMENT, ids(numbers), lengths, np.full_like(numbers, k), seed=1)
        for k in (0, 1)
    ]
    shares = [
        frame.filter(pl.col("activity") == DISPENSED)["detail"]
        .cast(pl.String)
        .value_counts(normalize=True, name="share")
        for frame in (record, *draws)
    ]
    joined = (
        shares[0]
        .join(shares[1], on="detail", suffix="_1")
        .join(shares[2], on="detail", suffix="_2")
    )
    assert joined.height == shares[0].height
    for other in ("share_1", "share_2"):
        assert (joined["share"] - joined[other]).abs().max() < 0.012
    # where both draws begin with a medicine of one class, its name is drawn twice
    class_of = {name: c for c, names in medicines._DISPENSED_NAMES.items() for name in names}
    first = [
        frame.filter(pl.col("activity") == DISPENSED)
        .group_by("stay", maintain_order=True)
        .first()
        .with_columns(pl.col("detail").cast(pl.String))
        .with_columns(drawn_class=pl.col("detail").replace_strict(class_of))
        for frame in draws
    ]
    both = first[0].join(first[1], on=["stay", "drawn_class"])
    assert both.height > 500
    assert (both["detail"] == both["detail_right"]).mean() < 0.5


def test_whole_stay_facts_stay_in_every_branch(visits: pl.DataFrame) -> None:
    """Where triage and departure are yet to come, acuity and disposition are those of the stay."""
    numbers = np.arange(N)
    branched = branch_events(DEPARTMENT, ids(numbers), np.ones(N, int), np.zeros(N, int), seed=1)
    for activity in ("Triage in the ED", "Discharge from the ED"):
        true, drawn = (
            frame.filter(pl.col("activity") == activity)
            .group_by("stay", maintain_order=True)
            .first()["detail"]
            .to_list()
            for frame in (visits, branched)
        )
        assert true == drawn


def test_the_cohort_says_which_department_it_is_of() -> None:
    assert department_of({"stays": 9, "seed": 4, "per_day": 150, "drift": 0.5}, VERSION) == (
        Department(seed=4, drift=0.5)
    )


def test_visits_of_another_version_or_altered_by_an_option_are_refused() -> None:
    known = {"stays": 9, "seed": 4, "per_day": 150, "drift": 0.0}
    with pytest.raises(BadCohortError, match="Build the cohort again"):
        department_of(known, "process 0")
    with pytest.raises(BadCohortError, match="deduplicate"):
        department_of({**known, "deduplicate": True}, VERSION)


def test_only_a_source_that_knows_its_process_can_branch() -> None:
    from edsim.sources import SOURCES

    assert [name for name, source in SOURCES.items() if source.branch is not None] == [SOURCE.name]
