"""The classifier's test as score rows, and what it has to notice."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from edsim.metrics.two_sample import TWO_SAMPLE, c2st
from edsim.metrics.two_sample_rows import headroom, logit_gain, two_sample_rows
from edsim.tables.scores import ScoreRow
from edsim.tables.visits import Suffixes
from metrics.groups import group, table
from metrics.rows import prefixes, scored, suffixes


def visits(n: int, seed: int) -> Suffixes:
    """Visits in which 2 follows 1 and takes whole minutes, and 3 takes none."""
    chance = np.random.default_rng(seed)
    rows = []
    for _ in range(n):
        k = int(chance.integers(1, 5))
        tokens = [*([1, 2] * k), 3, 0]
        minutes = [*(float(m) for m in chance.integers(1, 40, 2 * k)), 0.0, 0.0]
        rows.append((tokens, minutes))
    return suffixes(*rows)


def changed(events: Suffixes, **arrays: np.ndarray) -> Suffixes:
    return replace(events, **arrays)


def off_lattice(events: Suffixes) -> Suffixes:
    noise = np.random.default_rng(0).uniform(-0.4, 0.4, len(events.minutes)).astype(np.float32)
    return changed(events, minutes=np.where(events.minutes > 0, events.minutes + noise, 0))


def gaps_shuffled(events: Suffixes) -> Suffixes:
    chance = np.random.default_rng(0)
    minutes = events.minutes.copy()
    for begin, end in zip(events.offsets[:-1], events.offsets[1:], strict=True):
        minutes[begin:end] = chance.permutation(minutes[begin:end])
    return changed(events, minutes=minutes)


def pairs_swapped(events: Suffixes) -> Suffixes:
    tokens = events.tokens.copy()
    tokens[events.tokens == 1], tokens[events.tokens == 2] = 2, 1
    return changed(events, tokens=tokens)


@pytest.mark.parametrize("spoil", [off_lattice, gaps_shuffled, pairs_swapped])
def test_a_wrong_clock_and_a_wrong_order_are_noticed(spoil: object) -> None:
    observed, generated = visits(300, 1), visits(300, 2)
    seen = prefixes([1] * 300)
    sound = c2st(scored(generated, observed), seen)
    spoilt = c2st(scored(spoil(generated), observed), seen)  # type: ignore[operator]
    assert sound.auc == pytest.approx(0.5, abs=0.08)
    assert spoilt.auc > 0.55 and spoilt.low > 0.5 and spoilt.p_value < 0.01


def rows_by_name(rows: list[ScoreRow]) -> dict[str, list[ScoreRow]]:
    return {name: [row for row in rows if row.metric == name] for name in TWO_SAMPLE}


def test_every_row_is_there_and_the_telling_feature_stands_first() -> None:
    one = group(table(off_lattice(visits(200, 2)), visits(200, 1)))
    found = rows_by_name(two_sample_rows(one, prefixes([1] * 200)))
    assert all(found.values())
    (area,) = found["c2st"]
    assert area.value is not None and area.value > 0.9
    assert (area.target, area.floor_kind, area.n_launches) == ("0.5", "labels swapped", 200)
    assert area.loss == pytest.approx(area.value - 0.5)
    assert found["c2st_feature"][0].group == "share of gaps on the lattice"
    losses = [row.loss for row in found["c2st_feature"]]
    assert losses == sorted(losses, reverse=True)  # type: ignore[type-var]
    assert [row.group for row in found["c2st_p_value"]] == ["continuation", "with prefix"]


def test_reference_and_oracle_give_position() -> None:
    observed = visits(150, 1)
    one = group(
        table(gaps_shuffled(visits(150, 2)), observed),
        reference=table(pairs_swapped(visits(150, 3)), observed),
        oracle=table(observed, observed),
    )
    (area,) = rows_by_name(two_sample_rows(one, prefixes([1] * 150)))["c2st"]
    assert (area.floor, area.floor_kind) == (0.0, "oracle")
    assert area.reference is not None and area.reference > 0.9
    assert area.position == pytest.approx(area.loss / (area.reference - 0.5))  # type: ignore[operator]


def test_increments_worked_by_hand() -> None:
    areas = np.array([0.9, 0.95])
    assert headroom(areas) == pytest.approx(0.5)
    assert logit_gain(areas) == pytest.approx(math.log(19) - math.log(9))


def test_areas_of_one_leave_nothing_to_add_and_say_so() -> None:
    observed, other = suffixes(*[([1, 0], [1.0, 0.0])] * 60), suffixes(*[([2, 0], [1.0, 0.0])] * 60)
    found = rows_by_name(two_sample_rows(group(table(other, observed)), prefixes([1] * 60)))
    assert found["c2st"][0].value == 1.0
    for name in ("c2st_headroom", "c2st_logit"):
        assert found[name][0].value is None and "nothing is left" in found[name][0].note


def test_few_stays_and_few_people_have_no_area() -> None:
    rows = visits(2, 1)
    for row in two_sample_rows(group(table(rows, rows)), prefixes([1] * 2)):
        assert row.value is None and "stays" in row.note
    nine = visits(9, 1)
    hidden = two_sample_rows(group(table(nine, nine), restricted=True), prefixes([1] * 9))
    assert all(row.value is None and "subjects" in row.note and not row.n_stays for row in hidden)


def test_the_order_of_launches_changes_nothing() -> None:
    observed, generated = visits(90, 1), off_lattice(visits(90, 2))
    order = np.random.default_rng(3).permutation(90)
    launches = [(i, 1) for i in range(90)]
    here = two_sample_rows(group(table(generated, observed, launches=launches)), prefixes([1] * 90))
    mixed = table(
        generated.take(order), observed.take(order), launches=[launches[i] for i in order]
    )
    there = two_sample_rows(group(mixed), prefixes([1] * 90, order.tolist()))
    assert here == there
