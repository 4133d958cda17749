"""Which numbers of a measure tell of so few people that restricted data may not show them.

A number is hidden that rests on under ten subjects, or that is a share, or is held against one, of
which under ten subjects are a part or under ten are not.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from edsim.metrics.measure import Measure
from edsim.metrics.resampling import StaySums
from edsim.privacy import Cell, small, without_small_cells

SMALL = "fewer than 10 subjects, or a cell that would give one away"


def people(
    measure: Measure, sums: StaySums, subject_of_stay: NDArray[np.int64], n_numbers: int
) -> list[int]:
    """How many subjects each number rests on: for a series those who have what it counts."""
    if measure.support is None:
        return [len(np.unique(subject_of_stay))] * n_numbers
    columns = measure.support(_n_columns(sums))
    return [_subjects(_rows(sums, some) > 0, subject_of_stay) for some in columns]


def hidden_numbers(
    measure: Measure, sums: StaySums, subject_of_stay: NDArray[np.int64], n_numbers: int
) -> list[bool]:
    """Which numbers may not be shown; where all add up, a second one goes with a single one."""
    resting = people(measure, sums, subject_of_stay, n_numbers)
    if measure.adds_up:
        cells = [Cell(str(k), 1, count) for k, count in enumerate(resting)]
        shown = {cell.name for cell in without_small_cells(cells)[0]}
        return [str(k) not in shown for k in range(n_numbers)]
    hidden = [small(count) for count in resting]
    if measure.cells is None:
        return hidden
    for k, (part, whole) in enumerate(measure.cells(_n_columns(sums))):
        inside, every = _rows(sums, part), _rows(sums, whole)
        sides = [_subjects(side, subject_of_stay) for side in (inside > 0, every > inside)]
        hidden[k] = hidden[k] or any(small(count) for count in sides)
    return hidden


def hidden_of_any(
    measure: Measure, tables: Sequence[StaySums], subject_of_stay: NDArray[np.int64], n_numbers: int
) -> list[bool]:
    """Which numbers may not be shown beside each other: those of any table that may not be."""
    found = [hidden_numbers(measure, one, subject_of_stay, n_numbers) for one in tables]
    return [any(of_number) for of_number in zip(*found, strict=True)]


def _n_columns(sums: StaySums) -> int:
    return len(sums.begin) - 1


def _rows(sums: StaySums, columns: NDArray[np.integer]) -> NDArray[np.float64]:
    """[stays]: what some columns that count rows have together."""
    found = np.zeros(sums.n_stays)
    for column in columns:
        found[sums.stays_in(column)] += sums.value[sums.begin[column] : sums.begin[column + 1]]
    return found


def _subjects(stays: NDArray[np.bool_], subject_of_stay: NDArray[np.int64]) -> int:
    return len(np.unique(subject_of_stay[stays]))
