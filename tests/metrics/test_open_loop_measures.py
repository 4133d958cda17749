"""Measures of predictions, worked by hand."""

from __future__ import annotations

import numpy as np
import pytest

from edsim.metrics.figures import Group, PredictedTable
from edsim.metrics.open_loop import LEAST_DENSITY, LEAST_PROBABILITY, OPEN_LOOP
from edsim.metrics.resampling import resample_weights
from edsim.metrics.score_rows import group_rows
from edsim.tables.predictions import Predicted, Predictions, PredictionsHeader
from edsim.tables.scores import ScoreRow
from metrics.groups import FACTS

NAN = float("nan")


def predicted(
    token: list[int],
    rank: list[int],
    p: list[float],
    p_end: list[float],
    *,
    given: list[float] | None = None,
    density: list[float] | None = None,
    guess: list[float] | None = None,
    remaining: list[float] | None = None,
) -> Predicted:
    n = len(token)

    def logs(values: list[float] | None) -> np.ndarray:
        with np.errstate(divide="ignore"):
            return np.full(n, NAN) if values is None else np.log(values)

    return Predicted(
        Predictions(
            PredictionsHeader(producer="made up"),
            np.array([(i // 2, 1 + i % 2) for i in range(n)], dtype=np.int32).reshape(n, 2),
            np.array(token, dtype=np.int16),
            np.array(rank, dtype=np.int32),
            logs(p),
            logs(p_end),
            np.array([0 if given is None else 1] * n, dtype=np.int32),
            logs(given),
            logs(density),
            np.full(n, NAN) if guess is None else np.array(guess),
        ),
        np.zeros(n) if remaining is None else np.array(remaining),
    )


def rows(one: Predicted) -> dict[str, ScoreRow]:
    n = len(np.unique(one.launches[:, 0]))
    group = Group(
        table=PredictedTable(one),
        facts=FACTS,
        weights=resample_weights(n, 40),
        subject_of_stay=np.arange(n),
    )
    return {row.metric: row for row in group_rows(group, list(OPEN_LOOP.values()))}


FOUR = predicted(
    token=[1, 2, 0, 3],
    rank=[1, 2, 1, 5],
    p=[0.6, 0.3, 0.9, 0.0],
    p_end=[0.1, 0.5, 0.9, 0.2],
    density=[2.0, 0.5, 60.0, 0.0],
    guess=[10.0, 20.0, 0.0, NAN],
    remaining=[40.0, 15.0, 0.0, 9.0],
)


def test_accuracy_and_surprise_worked_by_hand() -> None:
    found = {name: row.value for name, row in rows(FOUR).items()}
    assert found["accuracy"] == 0.5
    assert found["accuracy_top3"] == 0.75
    assert found["accuracy_without_end"] == pytest.approx(2 / 3)  # END stood before the second
    surprise = -np.log([0.6, 0.3, 0.9, LEAST_PROBABILITY])
    gaps = -np.log([2.0, 0.5, 60.0, LEAST_DENSITY])
    assert found["event_nll"] == pytest.approx(surprise.mean())
    assert found["gap_nll"] == pytest.approx(gaps.mean())
    assert found["joint_nll"] == pytest.approx((surprise + gaps).mean())
    assert found["event_ruled_out"] == found["gap_ruled_out"] == 0.25
    assert found["los_mae_open_loop"] == pytest.approx((30 + 5 + 0) / 3)
    assert found["end_probability"] == pytest.approx(1.7 / 4)
    assert float(rows(FOUR)["end_probability"].target) == 0.25


def test_what_a_model_does_not_say_is_null_with_the_reason() -> None:
    found = rows(predicted([1, 0], [1, 1], [0.5, 0.5], [0.5, 0.5]))
    for name in ("gap_nll", "joint_nll", "gap_ruled_out", "los_mae_open_loop"):
        assert found[name].value is None and "the model" in found[name].note, name
    assert found["accuracy_given_gap"].note == "the model does not draw the time before the event"


def test_a_time_first_model_is_surprised_by_the_event_given_the_gap() -> None:
    one = predicted([1], [2], [0.3], [0.1], given=[0.8], density=[0.5])
    found = rows(one)
    assert found["accuracy"].value == 0 and found["accuracy_given_gap"].value == 1
    assert found["event_nll_given_gap"].value == pytest.approx(-np.log(0.8))
    assert found["joint_nll"].value == pytest.approx(-np.log(0.8 * 0.5))


def test_a_sure_and_right_model_and_one_that_is_always_wrong() -> None:
    perfect = rows(predicted([1, 0, 2, 0], [1] * 4, [1.0] * 4, [0.0, 1.0, 0.0, 1.0]))
    assert perfect["accuracy"].value == perfect["accuracy_without_end"].value == 1
    assert perfect["event_nll"].value == 0 and perfect["end_probability"].loss == 0
    useless = rows(predicted([1, 0, 2, 0], [5] * 4, [0.0] * 4, [0.0] * 4))
    assert useless["accuracy_top3"].value == 0 and useless["event_ruled_out"].value == 1
    assert useless["event_nll"].value == pytest.approx(-np.log(LEAST_PROBABILITY))


def test_where_end_follows_every_launch_nothing_is_left_with_end_masked() -> None:
    found = rows(predicted([0, 0], [1, 1], [0.5, 0.5], [0.5, 0.5]))["accuracy_without_end"]
    assert found.value is None and "END" in found.note


def test_the_order_of_rows_changes_nothing() -> None:
    turned = rows(FOUR.take(np.array([3, 1, 0, 2])))
    for name, row in rows(FOUR).items():
        for field in ("value", "low", "high"):
            assert getattr(turned[name], field) == pytest.approx(getattr(row, field)), name


def test_no_predictions_are_null() -> None:
    nothing = FOUR.take(np.zeros(0, dtype=int))
    assert all(row.value is None and row.note for row in rows(nothing).values())
