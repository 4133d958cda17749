from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from edsim.cohort.splits import SplitRule, divide
from edsim.errors import BadInputError
from made_up import events_of, plain_visit, stays_of


def events_for(stays: pl.DataFrame) -> pl.DataFrame:
    return events_of([row for i in range(stays.height) for row in plain_visit(i)])


def split_of(stays: pl.DataFrame, rule: SplitRule) -> pl.DataFrame:
    divided, _, _ = divide(stays, events_for(stays), rule)
    return divided


def test_subjects_with_many_stays_are_never_torn() -> None:
    stays = stays_of([f"p{i % 97}" for i in range(2000)])
    divided = split_of(stays, SplitRule())
    assert divided.group_by("subject_id").agg(pl.col("split").n_unique())["split"].max() == 1


def test_shares_are_70_15_15_of_the_subjects() -> None:
    stays = stays_of([f"p{i}" for i in range(6000)])
    shares = split_of(stays, SplitRule())["split"].value_counts(normalize=True)
    found = dict(shares.iter_rows())
    for part, share in (("train", 0.70), ("val", 0.15), ("test", 0.15)):
        assert found[part] == pytest.approx(share, abs=0.02)


def test_more_data_move_nobody() -> None:
    few = split_of(stays_of([f"p{i}" for i in range(200)]), SplitRule())
    many = split_of(stays_of([f"p{i}" for i in range(900)]), SplitRule())
    assert few["split"].to_list() == many["split"].to_list()[:200]


def test_another_seed_divides_otherwise() -> None:
    stays = stays_of([f"p{i}" for i in range(500)])
    one, two = (split_of(stays, SplitRule(seed=seed))["split"] for seed in (0, 1))
    assert one.to_list() != two.to_list()


def test_the_split_of_known_subjects_is_the_same_on_every_machine() -> None:
    """Fixed vector: a change of the hash would silently reshuffle everybody's test set."""
    divided = split_of(stays_of([f"p{i}" for i in range(40)]), SplitRule())
    letters = "".join(part[1] for part in divided["split"].to_list())
    assert letters == FIXED_SPLIT


PERIODS = ["2008 - 2010", "2011 - 2013", "2014 - 2016", "2017 - 2019"]


def test_temporal_split_trains_early_and_tests_late() -> None:
    stays = stays_of([f"p{i}" for i in range(800)], period=[PERIODS[i % 4] for i in range(800)])
    divided, events, steps = divide(stays, events_for(stays), SplitRule(kind="temporal"))
    by_part = {part: set(frame["period"]) for (part,), frame in divided.group_by("split")}
    assert by_part["train"] == by_part["val"] == set(PERIODS[:2])
    assert by_part["test"] == {PERIODS[3]}
    assert divided.height == 600
    assert steps[0].n_stays == 600
    assert events["stay"].to_list() == np.repeat(np.arange(600), 4).tolist()
    train = (divided["split"] == "train").sum()
    assert train / 400 == pytest.approx(0.85, abs=0.05)


def test_a_subject_who_trains_does_not_test_later() -> None:
    subjects = [f"p{i // 2}" for i in range(400)]  # each with an early and a late stay
    subjects += [f"late{i}" for i in range(50)]
    periods = [PERIODS[0], PERIODS[3]] * 200 + [PERIODS[3]] * 50
    divided = split_of(stays_of(subjects, period=periods), SplitRule(kind="temporal"))
    test = divided.filter(pl.col("split") == "test")
    assert test.height == 50
    assert test["subject_id"].str.starts_with("late").all()


def test_temporal_split_without_periods_says_where_they_come_from() -> None:
    with pytest.raises(BadInputError, match="--hosp"):
        split_of(stays_of(["a", "b"]), SplitRule(kind="temporal"))


def test_periods_that_overlap_are_refused() -> None:
    with pytest.raises(BadInputError, match="must end before"):
        SplitRule(kind="temporal", train_until=2017, test_from=2015)


def test_given_split_is_taken_and_the_rest_is_left_out() -> None:
    stays = stays_of(list("abcde"), split=["train", "val", "test", None, "train"])
    divided, _, steps = divide(stays, events_for(stays), SplitRule(kind="given"))
    assert divided["split"].to_list() == ["train", "val", "test", "train"]
    assert steps[0].n_stays == 4


def test_a_subject_in_two_given_parts_is_refused_without_naming_anyone() -> None:
    stays = stays_of(["secret", "secret", "b", "c"], split=["train", "test", "val", "test"])
    with pytest.raises(BadInputError, match=r"1 of 3 subjects") as caught:
        split_of(stays, SplitRule(kind="given"))
    assert "secret" not in str(caught.value)


def test_where_no_split_came_it_is_said_how_one_does() -> None:
    with pytest.raises(BadInputError, match="--splits random"):
        split_of(stays_of(list("abcde"), split=[None] * 5), SplitRule(kind="given"))


def test_without_a_wish_a_split_that_comes_with_the_data_is_taken() -> None:
    stays = stays_of(list("abcd"), split=["train", "val", "test", "train"])
    assert SplitRule().chosen(stays).kind == "given"
    assert SplitRule(kind="subject").chosen(stays).kind == "subject"
    assert SplitRule().chosen(stays_of(["a"])).kind == "subject"


def test_a_part_without_stays_is_refused() -> None:
    with pytest.raises(BadInputError, match="no stay for"):
        split_of(stays_of(["a"]), SplitRule())


# t[r]ain, v[a]l, t[e]st of p0, p1, ...
FIXED_SPLIT = "erarraerarrrrararrrrerrraarraarrrrrerear"
