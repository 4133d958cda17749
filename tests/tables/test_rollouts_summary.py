"""What `edsim rollouts show` prints of a table."""

from __future__ import annotations

import math

import numpy as np
import pytest
from small_rollouts import HEADER, LAUNCHES, small_rollouts

from edsim.tables.rollouts import Rollouts
from edsim.tables.rollouts_summary import summarise_rollouts
from edsim.tables.visits import Suffixes


def test_the_small_table_in_figures() -> None:
    summary = summarise_rollouts(small_rollouts())
    assert (summary.n_rows, summary.n_stays, summary.n_launches, summary.n_draws) == (8, 2, 4, 2)
    assert (summary.n_events, summary.longest) == (21, 4)
    assert (summary.terminated, summary.capped) == (6 / 8, 2 / 8)
    assert (summary.mean_length, summary.median_length) == (21 / 8, 2.5)
    minutes = [0.1, 12.25, 1 / 3 + 600.5, 16777216.016666668, 0.0, 9.5]  # ended rows alone
    assert summary.mean_minutes == pytest.approx(np.mean(minutes), rel=1e-7)
    assert summary.median_minutes == pytest.approx((9.5 + 12.25) / 2)
    assert summary.share_zero_gaps == pytest.approx(7 / 21)


def test_where_no_row_ended_minutes_are_nan() -> None:
    tokens, minutes = np.ones(4, dtype=np.int16), np.ones(4, dtype=np.float32)
    rollouts = Rollouts(
        HEADER,
        LAUNCHES[:1],
        np.zeros(1, dtype=np.int32),
        Suffixes(tokens, minutes, np.array([0, 4])),
    )
    summary = summarise_rollouts(rollouts)
    assert summary.capped == 1.0
    assert math.isnan(summary.mean_minutes)
    assert math.isnan(summary.median_minutes)
