from __future__ import annotations

import numpy as np

from edsim.cohort.cap import cap_by_rule
from edsim.cohort.complaints import group_complaints
from made_up import stays_of


def test_groups_are_the_commonest_first_named_complaints_of_training_subjects() -> None:
    complaints = ["Chest pain, SOB"] * 12 + ["ABD PAIN"] * 30 + ["rare thing"] * 3 + [None]
    stays = stays_of([f"p{i}" for i in range(46)], chief_complaint=complaints, split=["train"] * 46)
    column, groups = group_complaints(stays)
    assert groups == ["abd pain", "chest pain"]
    assert column.to_list() == ["chest pain"] * 12 + ["abd pain"] * 30 + ["other"] * 3 + [None]


def test_validation_and_test_make_no_group() -> None:
    stays = stays_of(
        [f"p{i}" for i in range(60)],
        chief_complaint=["fall"] * 20 + ["fever"] * 40,
        split=["train"] * 20 + ["val"] * 20 + ["test"] * 20,
    )
    column, groups = group_complaints(stays)
    assert groups == ["fall"]
    assert set(column.to_list()[20:]) == {"other"}


def test_one_subject_with_many_stays_makes_no_group() -> None:
    stays = stays_of(["p"] * 50, chief_complaint=["dizzy"] * 50, split=["train"] * 50)
    assert group_complaints(stays)[1] == []


def test_grouping_groups_again_changes_nothing() -> None:
    complaints = [f"complaint {i}" for i in range(25) for _ in range(20 + i)] + ["rare"] * 30
    n = len(complaints)
    stays = stays_of([f"p{i}" for i in range(n)], chief_complaint=complaints, split=["train"] * n)
    column, groups = group_complaints(stays)
    assert len(groups) == 20
    again, groups_again = group_complaints(stays.with_columns(column.alias("chief_complaint")))
    assert groups_again == groups
    assert again.to_list() == column.to_list()


def test_the_cap_is_a_power_of_two_above_the_999th_permille() -> None:
    lengths = np.concatenate([np.full(9980, 10), np.full(20, 200)])
    assert cap_by_rule(lengths) == 256
    assert cap_by_rule(np.array([3, 3, 3])) == 4
