"""Rows filled with visits: none overlaps, and little room is left."""

from __future__ import annotations

import numpy as np
import pytest

from edsim.training.packing import pack


def packed_by_hand(lengths: list[int], room: int) -> list[list[int]]:
    """Numbers of the visits in each row, from its left."""
    found = pack(np.array(lengths), room, np.arange(len(lengths)))
    rows: list[list[int]] = [[] for _ in range(found.n_rows)]
    for visit in np.argsort(found.columns, kind="stable"):
        rows[found.rows[visit]].append(int(visit))
    return rows


def test_a_visit_goes_where_just_enough_room_is_left() -> None:
    assert packed_by_hand([3, 7, 6, 4], room=10) == [[1, 0], [2, 3]]


def test_a_visit_as_long_as_a_row_has_one_to_itself() -> None:
    assert packed_by_hand([5, 5, 1], room=5) == [[0], [1], [2]]


def test_visits_of_one_length_share_rows() -> None:
    assert packed_by_hand([2, 2, 2, 2, 2], room=5) == [[0, 3], [1, 4], [2]]


def test_nothing_is_packed_into_nothing() -> None:
    assert pack(np.zeros(0, dtype=np.int64), 8, np.zeros(0, dtype=np.int64)).n_rows == 0


@pytest.mark.parametrize("seed", range(5))
def test_no_two_visits_overlap_and_a_tenth_at_most_is_padding(seed: int) -> None:
    chance = np.random.default_rng(seed)
    lengths = np.clip(chance.lognormal(2.7, 0.6, 2000).astype(np.int64), 1, 128)
    found = pack(lengths, 128, chance.permutation(2000))
    taken = np.zeros((found.n_rows, 128), dtype=int)
    for row, column, length in zip(found.rows, found.columns, lengths, strict=True):
        taken[row, column : column + length] += 1
    assert taken.max() == 1
    assert taken.sum() == lengths.sum()
    assert 1 - taken.mean() <= 0.1
