"""Two samples of real suffixes: as far apart as chance makes them, and no further."""

from __future__ import annotations

import numpy as np
import pytest

from edsim.metrics.composition import jsd
from edsim.metrics.real_vs_real import TRIALS, YARDSTICKS, yardstick_rows
from edsim.metrics.registry import METRICS, OF_YARDSTICKS
from edsim.tables.scores import ScoreRow
from edsim.tables.visits import Launches, Suffixes
from metrics.groups import FACTS
from metrics.rows import only_tokens


def population(n: int, seed: int = 0) -> tuple[Suffixes, Launches]:
    chance = np.random.default_rng(seed)
    events = only_tokens(*([*chance.integers(1, 5, size=3).tolist(), 0] for _ in range(n)))
    return events, np.stack([np.arange(n), np.ones(n)], axis=1).astype(np.int32)


def some(of: tuple[Suffixes, Launches], n: int) -> tuple[Suffixes, Launches]:
    return of[0].take(np.arange(n)), of[1][:n]


def rows(of: tuple[Suffixes, Launches], n: int, name: str = "jsd") -> dict[str, ScoreRow]:
    found = yardstick_rows(METRICS[name], list(YARDSTICKS), of, some(of, n), FACTS)
    return {row.metric.removeprefix(f"{name}_"): row for row in found}


def test_larger_samples_are_closer() -> None:
    of = population(4_000)
    few, many = rows(of, 100), rows(of, 2_000)
    for kind in YARDSTICKS:
        assert few[kind].value > 3 * many[kind].value > 0  # type: ignore[operator]
    assert few["real_vs_real"].value > few["population_vs_sample"].value  # type: ignore[operator]


def test_two_samples_lie_as_far_apart_as_theory_has_it() -> None:
    """JSD of two samples of n events in k kinds is about (k - 1) / (4 n) on average."""
    chance = np.random.default_rng(1)
    single = only_tokens(*([int(t)] for t in chance.integers(0, 5, size=20_000)))
    launches = np.stack([np.arange(20_000), np.ones(20_000)], axis=1).astype(np.int32)
    found = rows((single, launches), 2_000)["real_vs_real"]
    assert found.value == pytest.approx(4 / (4 * 2_000), rel=0.5)
    assert found.low is not None and found.high is not None
    assert found.low <= found.value <= found.high


@pytest.mark.parametrize("name", ["jsd", "jsd_per_rollout", "jsd_pairs", "jsd_triples_first10"])
def test_equal_suffixes_have_no_distance(name: str) -> None:
    events = only_tokens(*[[1, 2, 3, 0]] * 50)
    launches = np.stack([np.arange(50), np.ones(50)], axis=1).astype(np.int32)
    for row in rows((events, launches), 20, name).values():
        assert row.value == pytest.approx(0, abs=1e-12)


def test_halves_are_of_whole_stays() -> None:
    """Each stay has an event of its own, so that halves share none of them."""
    events = only_tokens(*[[1, 1]] * 30, *[[2, 2]] * 30)
    launches = np.array([(i // 30, i % 30 + 1) for i in range(60)], dtype=np.int32)
    found = rows((events, launches), 60)["halves_by_stay"]
    assert found.value == pytest.approx(jsd(np.array([1, 0]), np.array([0, 1])))
    assert found.n_stays == 2


def test_nothing_to_compare_is_null_with_a_reason() -> None:
    events = only_tokens(*[[0]] * 10)
    launches = np.stack([np.arange(10), np.ones(10)], axis=1).astype(np.int32)
    for row in rows((events, launches), 5, "jsd_pairs").values():
        assert row.value is None and row.note


def test_names_are_of_a_divergence_and_a_kind() -> None:
    assert len(OF_YARDSTICKS) == 9 * len(YARDSTICKS) and TRIALS == 5
    assert OF_YARDSTICKS["jsd_triples_per_rollout_halves_by_stay"] == (
        "jsd_triples_per_rollout",
        "halves_by_stay",
    )
