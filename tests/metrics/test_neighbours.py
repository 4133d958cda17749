"""Distances of process mining: as the package that defines them says, and worked by hand."""

from __future__ import annotations

import warnings
from datetime import timedelta
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from edsim.metrics.figures import Table
from edsim.tables.visits import Suffixes
from metrics.groups import group, row_of, table
from metrics.rows import lasting, only_tokens, suffixes

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from log_distance_measures import work_in_progress as theirs
    from log_distance_measures.config import EventLogIDs
    from log_distance_measures.cycle_time_distribution import cycle_time_distribution_distance
    from log_distance_measures.n_gram_distribution import n_gram_distribution_distance
    from log_distance_measures.remaining_time_distribution import (
        remaining_time_distribution_distance,
    )

LAUNCH = pd.Timestamp("2020-01-06")
IDS = EventLogIDs("case", "activity", "start", "end")
NAMES = ("ngram_distance_2", "ngram_distance_3", "cycle_time_distance", "remaining_time_distance", "work_in_progress_distance")  # fmt: skip


def quarter_hours(n: int, seed: int) -> Suffixes:
    """Rows that end, whose gaps are of a quarter of an hour or none."""
    chance = np.random.default_rng(seed)
    made = []
    for _ in range(n):
        tokens = [*chance.integers(1, 5, size=chance.integers(1, 7)).tolist(), 0]
        made.append((tokens, [*(15.0 * chance.integers(0, 9, size=len(tokens) - 1)), 0.0]))
    made[0] = ([1, 0], [0.0, 0.0])  # bins begin at the shortest case
    return suffixes(*made)


def event_log(events: Suffixes, *, from_launch: bool = False) -> pd.DataFrame:
    """The rows as the log of cases that all begin at one moment, END left out."""
    lines = []
    for case in range(len(events)):
        at = slice(events.offsets[case], events.offsets[case + 1] - 1)
        when = LAUNCH + pd.to_timedelta(np.cumsum(events.minutes[at]), unit="min")
        for k, (token, end) in enumerate(zip(events.tokens[at], when, strict=True)):
            begin = LAUNCH if from_launch and k == 0 else end
            lines.append((case, f"activity {token}", begin, end))
    return pd.DataFrame(lines, columns=["case", "activity", "start", "end"])


@pytest.fixture(scope="module")
def both() -> Table:
    return table(quarter_hours(60, 1), quarter_hours(60, 2))


def value(one: Table, name: str) -> float:
    found = row_of(group(one, resamples=5), name).value
    assert found is not None
    return found


@pytest.mark.parametrize("n", [2, 3])
def test_runs_are_as_far_apart_as_the_package_says(both: Table, n: int) -> None:
    logs = [event_log(side) for side in (both.first.observed, both.first.generated)]
    expected = n_gram_distribution_distance(logs[0], IDS, logs[1], IDS, n=n)
    assert value(both, f"ngram_distance_{n}") == pytest.approx(expected)


def test_times_are_as_far_apart_as_the_package_says(both: Table) -> None:
    logs = [event_log(side) for side in (both.first.observed, both.first.generated)]
    bins = timedelta(minutes=5)
    cycle = cycle_time_distribution_distance(logs[0], IDS, logs[1], IDS, bins)
    assert value(both, "cycle_time_distance") == pytest.approx(5 * cycle)
    rest = remaining_time_distribution_distance(logs[0], IDS, logs[1], IDS, LAUNCH, bins)
    assert value(both, "remaining_time_distance") == pytest.approx(5 * rest)


def test_work_in_progress_is_as_far_apart_as_the_package_says(
    both: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It compares times by numpy, which newer pandas no longer lets it; the comparison is the same."""
    by_pandas = SimpleNamespace(
        minimum=lambda one, other: one.where(one < other, other),
        maximum=lambda one, other: one.where(one > other, other),
    )
    monkeypatch.setattr(theirs, "np", by_pandas)
    logs = [event_log(side, from_launch=True) for side in (both.first.observed, both.first.generated)]  # fmt: skip
    hours = theirs.work_in_progress_distance(logs[0], IDS, logs[1], IDS, normalize=False)
    assert value(both, "work_in_progress_distance") == pytest.approx(60 * hours)


def test_runs_worked_by_hand() -> None:
    one = table(only_tokens([1, 2, 0]), only_tokens([1, 1, 0]))  # -1 12 2- against -1 11 1-
    assert value(one, "ngram_distance_2") == pytest.approx(4 / 6)
    capped = table(only_tokens([1, 2]), only_tokens([1, 2, 0]), cap=2)
    assert value(capped, "ngram_distance_2") == pytest.approx(1 / 5)


def test_times_worked_by_hand() -> None:
    one = table(lasting(10, 20), lasting(20, 40))
    assert value(one, "remaining_time_distance") == 15
    assert value(one, "cycle_time_distance") == 0  # the first event is the last: no time passes
    assert value(table(lasting(60), lasting(120)), "work_in_progress_distance") == 30


def test_observed_suffixes_are_at_no_distance_from_themselves(both: Table) -> None:
    same = table(both.first.observed, both.first.observed)
    assert [value(same, name) for name in NAMES] == [0] * 5


def test_nothing_in_common_is_one() -> None:
    one = table(only_tokens([1, 0], [1, 1, 0]), only_tokens([2, 0], [2, 2, 0]))
    assert value(one, "ngram_distance_2") == 1 == value(one, "ngram_distance_3")


def test_rollouts_that_never_end_have_runs_and_no_times() -> None:
    one = group(table(only_tokens([1, 1]), only_tokens([1, 0]), cap=2), resamples=5)
    assert row_of(one, "ngram_distance_2").value is not None
    for name in NAMES[2:]:
        row = row_of(one, name)
        assert row.value is None and "no rollout ended" in row.note, name


def test_no_rollouts_are_null() -> None:
    nothing = group(table(only_tokens(), only_tokens()), resamples=5)
    assert all(row_of(nothing, name).value is None for name in NAMES)


def test_the_order_of_rows_changes_nothing(both: Table) -> None:
    turn = np.random.default_rng(0).permutation(60)
    turned = table(both.first.generated.take(turn), both.first.observed.take(turn))
    for name in NAMES:
        assert value(turned, name) == pytest.approx(value(both, name))
