"""One set of rollouts at a large cap says what a smaller one would have made of them."""

from __future__ import annotations

import numpy as np
import pytest

from edsim.metrics.cap_sensitivity import CAPS
from edsim.metrics.composition import jsd, mix
from edsim.metrics.figures import Table
from edsim.tables.visits import Suffixes
from metrics.groups import TOKENS, group, row_of, rows_of, table
from metrics.rows import only_tokens, suffixes


def long_rows(n: int, seed: int, cap: int) -> Suffixes:
    """Rows of up to `cap` events, most of which end."""
    chance = np.random.default_rng(seed)
    made = []
    for _ in range(n):
        length = int(min(1 + chance.geometric(0.06), cap))
        tokens = chance.integers(1, len(TOKENS), size=length)
        if length < cap or chance.random() < 0.5:
            tokens[-1] = 0
        made.append((tokens.tolist(), chance.integers(0, 90, size=length).tolist()))
    return suffixes(*made)


@pytest.fixture(scope="module")
def made_at_64() -> Table:
    return table(long_rows(300, 0, 64), long_rows(300, 1, 10**6), cap=64)


def cut_at(one: Table, cap: int) -> Table:
    """The table that the same rollouts would have been with a smaller cap."""
    return table(one.first.generated.cut(cap), one.first.observed, cap=cap)


@pytest.mark.parametrize("name", ["termination", "duration_ratio", "jsd"])
def test_numbers_at_a_cap_are_those_of_rollouts_made_with_it(made_at_64: Table, name: str) -> None:
    found = {row.at: row.value for row in rows_of(group(made_at_64), f"{name}_by_cap")}
    for cap in (8, 16, 32, 64):
        expected = row_of(group(cut_at(made_at_64, cap)), name).value
        assert found[cap] == pytest.approx(expected), cap


def test_beyond_the_cap_nothing_is_known(made_at_64: Table) -> None:
    for name in ("termination_by_cap", "duration_ratio_by_cap", "jsd_by_cap"):
        rows = rows_of(group(made_at_64), name)
        assert [row.at for row in rows] == list(CAPS)
        assert all(row.value is None and "beyond the cap" in row.note for row in rows[4:])


def test_worked_by_hand() -> None:
    nine = [1] * 8 + [0]
    one = group(
        table(only_tokens([1, 0], nine, [1] * 16), only_tokens([1, 0], [1, 0], nine), cap=16)
    )
    ended = {row.at: row for row in rows_of(one, "termination_by_cap")}
    assert ended[8].value == pytest.approx(1 / 3) and float(ended[8].target) == pytest.approx(2 / 3)
    assert ended[16].value == pytest.approx(2 / 3) and float(ended[16].target) == 1
    assert rows_of(one, "duration_ratio_by_cap")[1].value == pytest.approx((2 + 9) / (2 + 2))
    cut = only_tokens([1, 0], nine, [1] * 16).cut(8)
    sides = [mix(side, n_tokens=len(TOKENS)) for side in (cut, only_tokens([1, 0], [1, 0], nine))]
    assert rows_of(one, "jsd_by_cap")[0].value == pytest.approx(jsd(*sides))


def test_the_observed_suffixes_have_nothing_to_answer_for_at_a_large_cap() -> None:
    observed = long_rows(50, 3, 30)
    for name in ("termination_by_cap", "jsd_by_cap", "duration_ratio_by_cap"):
        last = rows_of(group(table(observed, observed, cap=1024)), name)[-1]
        if name != "termination_by_cap":
            assert last.loss == pytest.approx(0)


def test_rollouts_that_never_end_and_none_at_all() -> None:
    never = group(table(only_tokens([1] * 8), only_tokens([1, 0]), cap=8))
    assert rows_of(never, "termination_by_cap")[0].value == 0
    assert rows_of(never, "duration_ratio_by_cap")[0].value is None
    nothing = group(table(only_tokens(), only_tokens()))
    for name in ("termination_by_cap", "duration_ratio_by_cap", "jsd_by_cap"):
        assert all(row.value is None for row in rows_of(nothing, name))


def test_the_order_of_rows_changes_nothing(made_at_64: Table) -> None:
    turn = np.random.default_rng(0).permutation(300)
    first = made_at_64.first
    turned = table(first.generated.take(turn), first.observed.take(turn), cap=64)
    for name in ("termination_by_cap", "duration_ratio_by_cap", "jsd_by_cap"):
        ours, theirs = rows_of(group(made_at_64), name), rows_of(group(turned), name)
        assert [row.value for row in theirs[:4]] == pytest.approx([row.value for row in ours[:4]])
