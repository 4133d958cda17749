"""Two ways of rolling out are compared event by event, and ours agree."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from edsim.bench.agreement import agreement
from edsim.bench.neural_work import main
from edsim.lab.build import build_cohort
from edsim.sources import SOURCES
from edsim.tables.visits import Suffixes


def suffixes(*rows: list[int], minutes: float = 1.0) -> Suffixes:
    lengths = [len(row) for row in rows]
    return Suffixes(
        np.concatenate([np.array(row, dtype=np.int16) for row in rows]),
        np.full(sum(lengths), minutes, dtype=np.float32),
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
    )


def test_events_that_one_side_alone_has_count_as_different() -> None:
    found = agreement(suffixes([1, 2, 0], [3, 0]), suffixes([1, 3, 4, 0], [3, 0]))
    assert (found.n_events, found.n_other) == (6, 3)
    assert (found.n_rows, found.n_other_rows) == (2, 1)
    assert found.share == 0.5


def test_gaps_are_compared_where_the_events_are_the_same() -> None:
    first, second = suffixes([1, 2, 0]), suffixes([1, 3, 0], minutes=1.01)
    assert agreement(first, second).n_other_gaps == 2
    assert agreement(first, suffixes([1, 2, 0], minutes=1.0001)).n_other_gaps == 0


@pytest.mark.parametrize("network", ["causal_transformer", "gru"])
def test_seats_few_seats_and_the_plain_loop_draw_the_same_events(
    network: str, tmp_path: Path
) -> None:
    source = SOURCES["synthetic"]
    build_cohort(source, source.options(stays=100), tmp_path / "C")
    given = ["agree", "--encoded", str(tmp_path / "C" / "encoded" / "ed32"), "--width", "32"]
    result = tmp_path / "found.json"
    main([*given, "--network", network, "--launches", "150", "--result", str(result)])
    found = json.loads(result.read_text())
    assert len(found["beside"]) == 3
    for beside in found["beside"].values():
        assert beside["n_events"] >= found["n_events"] > 1000
        assert beside["n_other"] <= 1e-4 * beside["n_events"]
        assert beside["n_other_gaps"] <= 1e-4 * beside["n_events"]
