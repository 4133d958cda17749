"""Stretches of repeated events, against a search that tries every place."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from edsim.metrics.repeats import LONGEST_CIRCLE, last_stretches, longest_stretches
from edsim.tables.visits import END
from metrics.rows import only_tokens


def stretch_at(row: list[int], begin: int, circle: int) -> int:
    """Events from `begin` on that repeat a circle, the circle included; 0 if none is repeated."""
    end = begin + circle
    while end < len(row) and row[end] == row[end - circle] and row[end] != END:
        end += 1
    return end - begin if end > begin + circle else 0


def every(row: list[int]) -> list[tuple[int, int]]:
    """(length, begin) of every stretch."""
    return [
        (stretch_at(row, begin, circle), begin)
        for circle in range(1, LONGEST_CIRCLE + 1)
        for begin in range(len(row))
    ]


@given(st.lists(st.lists(st.integers(1, 3), min_size=1, max_size=30), min_size=1, max_size=6))
def test_the_longest_is_as_long_as_trying_every_place_finds(rows: list[list[int]]) -> None:
    longest, last = longest_stretches(only_tokens(*rows)), last_stretches(only_tokens(*rows))
    for i, row in enumerate(rows):
        assert longest.length[i] == max(n for n, _ in every(row))
        to_the_end = [n for n, begin in every(row) if n and begin + n == len(row)]
        assert last.length[i] == max(to_the_end, default=0)
        for found in (longest, last):
            assert (found.length[i], found.begin[i]) in [*every(row), (0, 0)]


def test_stretches_by_hand() -> None:
    found = longest_stretches(
        only_tokens([1, 2, 2, 2, 0], [3, 1, 2, 1, 2, 1, 0], [1, 2, 3, 0], [0])
    )
    assert found.length.tolist() == [3, 5, 0, 0]
    assert found.begin.tolist() == [1, 1, 0, 0]
    assert last_stretches(only_tokens([1, 2, 2, 0], [1, 2, 2])).length.tolist() == [0, 2]


def test_no_stretch_reaches_into_the_next_row() -> None:
    found = longest_stretches(only_tokens([1, 1], [1, 1, 1], [2]))
    assert found.length.tolist() == [2, 3, 0]
    assert np.array_equal(found.begin, [0, 0, 0])
