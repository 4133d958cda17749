"""Defects that change rollouts after they were made, worked by hand on two launches."""

from __future__ import annotations

import numpy as np
from ward import visits

from edsim.conformance.defects import stopped_after_a_day, with_the_prefix
from edsim.tables.rollouts import Rollouts, RolloutsHeader
from edsim.tables.visits import Suffixes

LAUNCHES = np.array([[0, 2], [1, 3]], dtype=np.int32)


def rollouts(*rows: tuple[list[int], list[float]]) -> Rollouts:
    lengths = [len(tokens) for tokens, _ in rows]
    generated = Suffixes(
        np.array([token for tokens, _ in rows for token in tokens], dtype=np.int16),
        np.array([gap for _, minutes in rows for gap in minutes], dtype=np.float32),
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
    )
    return Rollouts(
        RolloutsHeader(producer="made up"), LAUNCHES, np.zeros(2, dtype=np.int32), generated
    )


TWO = rollouts(([3, 4, 0], [10.0, 20.0, 0.0]), ([3, 3, 6, 0], [700.0, 700.0, 100.0, 0.0]))


def test_the_whole_trajectory_is_prefix_and_suffix_of_each_launch() -> None:
    whole = with_the_prefix(TWO, visits()).generated
    prefixes = visits().prefixes(LAUNCHES)
    for row, length in enumerate((2, 3)):
        begin = prefixes.offsets[row]
        before = prefixes.tokens[begin : begin + length].tolist()
        assert whole.row(row).tolist() == before + TWO.generated.row(row).tolist()
    elapsed = whole.total_minutes() - TWO.generated.total_minutes()
    np.testing.assert_allclose(elapsed, prefixes.elapsed_minutes())


def test_the_event_that_passes_24_hours_is_the_last() -> None:
    cut = stopped_after_a_day(TWO, visits())
    assert cut.generated.row(0).tolist() == [3, 4, 0]
    assert cut.generated.row(1).tolist() == [3, 3, 6]
    assert cut.terminated().tolist() == [True, False]


def test_an_end_that_itself_passes_24_hours_still_ends_the_rollout() -> None:
    late = rollouts(([3, 0], [10.0, 1500.0]), ([6, 0], [1440.0, 0.0]))
    cut = stopped_after_a_day(late, visits())
    assert cut.terminated().tolist() == [True, True]
    assert cut.generated.lengths().tolist() == [2, 2]
