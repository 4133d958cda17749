"""What every measure of rollouts promises. A new measure is held to it once it is in METRICS.

It comes with a value worked by hand (WORKED), is at its best for the observed suffixes and far
from it for useless rollouts, leaves capped rows out where it says so, is null with a reason and
never 0 where nothing can be said, and does not care in which order rows come.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import astuple, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edsim.metrics.figures import Table, TableSums
from edsim.metrics.measure import Measure
from edsim.metrics.registry import METRICS
from edsim.metrics.score_rows import group_rows
from edsim.tables.scores import ScoreRow
from edsim.tables.visits import END, Suffixes
from metrics.groups import TOKENS, group, table
from metrics.rows import Row, suffixes

EVERY = pytest.mark.parametrize("name", list(METRICS))
CAP = 16
COPIES = 100  # steps are judged from a hundred rows on

# Tokens: 1 Triage, 2 Vitals, 3 Discharge, 4 Enter. Three launches, two draws of each.
OBSERVED: list[Row] = [
    ([2, 3, 0], [10, 50, 0]),  # an hour
    ([2, 0], [120, 0]),
    ([3, 0], [30, 0]),
]
DRAWS: list[tuple[Row, Row]] = [
    (([2, 3, 0], [10, 20.5, 0]), ([3, 0], [90, 0])),
    (
        ([2] * CAP, [20] * CAP),
        ([2, 0], [150, 0]),
    ),  # the first goes on to the cap, in under six hours
    (([3, 0], [45, 0]), ([0], [20])),
]
PREFIX_LENGTHS = (6, 1, 1)  # the first is late: 6 of 8 events lie behind


def divergence(ours: list[float], theirs: list[float]) -> float:
    """Jensen-Shannon, written out."""
    found = 0.0
    for x, y in zip(ours, theirs, strict=True):
        p, q = x / sum(ours), y / sum(theirs)
        found += p * math.log(2 * p / (p + q)) / 2 if p else 0.0
        found += q * math.log(2 * q / (p + q)) / 2 if q else 0.0
    return found


def ln(minutes: float) -> float:
    return math.log(1 + minutes)


def apart(a: float, b: float, other_kind: bool = False) -> float:
    """Of two outcomes, as the energy score has it."""
    return math.hypot(ln(a) - ln(b), 1.0 if other_kind else 0.0)


SINGLE = divergence([2, 17, 2], [3, 2, 2])  # END, Vitals, Discharge
SINGLE_PER_ROLLOUT = divergence([5, 8, 5], [8, 5, 5])  # eighteenths
FIRST_TEN = divergence([2, 11, 2], [3, 2, 2])
PAIRS = [1, 2, 15, 0], [1, 2, 0, 1]  # 2-3, 3-END, 2-2, 2-END
PAIRS_PER_ROLLOUT = divergence([0.5, 1.5, 1, 0], [0.5, 1.5, 0, 1])
TRIPLES = [1, 14], [1, 0]  # 2-3-END, 2-2-2
LAST_HALF = {0.1: 0.0, 0.5: 1.0, 0.8: 1.0}  # where a draw of the second launch goes on
LATER = {2.0: 100 / 3, 4.0: 100 / 3, 8.0: 100 / 3, 12.0: 100 / 3}

WORKED: dict[str, float | dict[float | str, float] | None] = {
    "termination": 2 / 3,
    "reached_discharge": 2 / 3,
    "longer_than_cap": 0.0,  # a test below has some
    "jsd": SINGLE,
    "jsd_per_rollout": SINGLE_PER_ROLLOUT,
    "jsd_first10": FIRST_TEN,
    "jsd_pairs": divergence(*PAIRS),
    "jsd_pairs_per_rollout": PAIRS_PER_ROLLOUT,
    "jsd_pairs_first10": divergence([1, 2, 9, 0], PAIRS[1]),
    "jsd_triples": divergence(*TRIPLES),
    "jsd_triples_per_rollout": divergence([1, 1], [1, 0]),  # rows without a triple are left out
    "jsd_triples_first10": divergence([1, 8], [1, 0]),
    "token_share_generated": {"END": 2 / 21, "Vitals": 17 / 21, "Discharge": 2 / 21, "Enter": 0.0},
    "token_share_observed": {"END": 3 / 7, "Vitals": 2 / 7, "Discharge": 2 / 7, "Triage": 0.0},
    "duration_ratio": (30.5 + 45) / (60 + 30),
    "remaining_minutes": (30.5 + 45) / 2,
    "los_mae": (29.5 + 15) / 2,
    "los_mae_with_capped": (29.5 + 200 + 15) / 3,
    "los_rank_correlation": -1.0,
    "los_rank_correlation_with_capped": 0.5,  # places 1, 3, 2 beside 2, 3, 1
    "los_w1": (ln(30.5) - ln(30) + ln(60) - ln(45)) / 2,
    "late_w1": ln(60) - ln(30.5),
    "crps": 10.0,  # 0, 30 and 0 minutes
    "crps_unbounded": 10.0,
    "brier": {1.0: 0.0, 2.0: 1 / 3, 4.0: 0.0},
    "log_score": {1.0: (math.log(2) + 2 * math.log(6 / 5)) / 3},
    "energy_score": (
        (apart(30.5, 60) + apart(90, 60) - apart(30.5, 90)) / 2
        + (apart(1440, 120) + apart(150, 120) - apart(1440, 150)) / 2
        + (apart(45, 30) + apart(20, 30, True) - apart(45, 20, True)) / 2
    )
    / 3,
    "pit": {0.7: 0.0, 0.8: 0.0, 0.9: 0.0},  # no truth lies above both of its draws
    "reliability h=1": LAST_HALF,
    "reliability h=2": {0.1: 1.0, 0.8: 1.0},
    "reliability h=4": {0.5: 1.0, 0.8: 1.0},
    "reliability h=8": {0.5: 1.0, 0.8: 1.0},
    "reliability h=12": {0.5: 1.0, 0.8: 1.0},
    "occupancy_mae": 4 / 5 * 100 / 3,
    "occupancy_error": {1.0: 0.0, **LATER},
    "occupancy_generated": {1.0: 100 / 3, **LATER},
    "occupancy_observed": {1.0: 100 / 3, 2.0: 0.0, 4.0: 0.0, 8.0: 0.0, 12.0: 0.0},
    "longest_run": (1 + CAP + 1) / 3,
    "share_runs_10": 1 / 3,
    "distinct_ratio": (1 + 1 / CAP + 1) / 3,
    "share_tail_10": 1.0,  # of the one rollout with ten events
    "share_zero_gaps": 2 / 21,
    "share_on_lattice": 20 / 21,
    "step_jsd": {1.0: 0.0, 2.0: divergence([1, 1, 1], [2, 0, 1]), 3.0: divergence([1, 1], [1, 0])},
    "step_gap": {1.0: 75 / 3, 2.0: 40.5 / 3, 3.0: 10.0},
    "termination_by_cap": {8.0: 2 / 3, 16.0: 2 / 3},
    "duration_ratio_by_cap": {8.0: 75.5 / 90, 16.0: 75.5 / 90},
    "jsd_by_cap": {8.0: divergence([2, 9, 2], [3, 2, 2]), 16.0: SINGLE},
    "edit_distance": (0 + 15 / 16 + 0) / 3,
    "ngram_distance_2": 16 / 28,
    "ngram_distance_3": 17 / 33,
    "cycle_time_distance": (50 - 20) / 2,
    "remaining_time_distance": (60 - 45) / 2,
    "work_in_progress_distance": 0.0,  # all are there within the first hour alone
}

BINNED = {"los_w1": 0.007, "late_w1": 0.007}
"""What a grid may add."""


def worked_example() -> Table:
    draws = [row for both in DRAWS for row in both]
    launches = [(3 * i + k, n) for i in range(COPIES) for k, n in enumerate(PREFIX_LENGTHS)]
    return table(
        suffixes(*draws * COPIES), suffixes(*OBSERVED * COPIES), launches=launches, draws=2, cap=CAP
    )


def some_visits(n: int = 150, seed: int = 0) -> Suffixes:
    """Observed suffixes: all end, some are long, most gaps are whole minutes."""
    chance = np.random.default_rng(seed)
    made: list[Row] = []
    for _ in range(n):
        tokens = [*chance.integers(1, len(TOKENS), size=chance.integers(0, 30)).tolist(), END]
        gaps = chance.integers(0, 40, size=len(tokens)) * chance.integers(0, 2, size=len(tokens))
        made.append((tokens, gaps.tolist()))
    return suffixes(*made)


def drawn(rows: Suffixes, draws: int) -> Suffixes:
    """The same for every draw."""
    return rows.take(np.repeat(np.arange(len(rows)), draws))


def late_and_early(n: int) -> list[tuple[int, int]]:
    """Two launches a stay, the second of them late in it."""
    return [(i // 2, 1 + 200 * (i % 2)) for i in range(n)]


def said(one: Table, *names: str, resamples: int = 8) -> list[ScoreRow]:
    measures = [METRICS[name] for name in names or METRICS]
    return [row for row in group_rows(group(one, resamples=resamples), measures) if _own(row)]


def _own(row: ScoreRow) -> bool:
    """Not the multiple of a reference, which is none here."""
    return not row.metric.startswith("xf")


def rolled(generated: Suffixes, observed: Suffixes, draws: int = 3) -> Table:
    n = len(observed)
    return table(drawn(generated, draws), observed, launches=late_and_early(n), draws=draws, cap=64)


@EVERY
def test_a_case_worked_by_hand(name: str) -> None:
    expected = WORKED[name]
    rows = said(worked_example(), name)
    if not isinstance(expected, dict):
        (row,) = rows
        assert row.value == pytest.approx(expected, abs=BINNED.get(name, 1e-6))
        return
    found = {row.group if METRICS[name].by_token else row.at: row.value for row in rows}
    assert {key: found[key] for key in expected} == pytest.approx(expected, abs=1e-6)


def test_every_measure_has_one() -> None:
    assert list(WORKED.keys() ^ METRICS.keys()) == []


CHANCE = {"pit": 0.9}
"""How far a true forecast's histogram may lie from even, in bins of fifteen of 150."""


@EVERY
def test_the_observed_suffixes_are_perfect(name: str) -> None:
    rows = [
        row for row in said(rolled(some_visits(), some_visits()), name) if row.value is not None
    ]
    assert rows
    measure = METRICS[name]
    for row in rows:
        if measure.loss == "none":
            assert row.loss is None
        elif measure.name == "log_score":
            assert row.value == pytest.approx(math.log(4 / 3.5))  # three of three draws, smoothed
        elif measure.name == "reliability":
            assert row.loss == pytest.approx(0.5 / 4)
        elif measure.name == "jsd_by_cap" and (row.at or 0) < 32:
            assert row.loss > 0  # a smaller cap cuts what is generated and not the truth
        else:
            assert row.loss == pytest.approx(0, abs=CHANCE.get(name, 1e-6))


def useless() -> dict[str, Table]:
    """It ends at once; it says the same until the cap, half a minute after the other."""
    truth = some_visits()
    n = len(truth)
    short, long = suffixes(*[([0], [0.0])] * n), suffixes(*[([4] * 64, [0.5] * 64)] * n)
    endless = suffixes(*[([*[4] * 40, 0], [77.7] * 41)] * n)
    return {
        "at once": rolled(short, truth),
        "never": rolled(long, truth),
        "late": rolled(endless, truth),
    }


@EVERY
def test_useless_rollouts_are_far_from_it(name: str) -> None:
    """At least one of three ways of being useless is seen, at several times the perfect loss."""
    if METRICS[name].loss == "none":
        pytest.skip("describes the truth")
    perfect = _worst(said(rolled(some_visits(), some_visits()), name))
    found = max(_worst(said(one, name)) for one in useless().values())
    if "correlation" in name:  # of a constant there is none
        assert found == -math.inf
    else:
        assert found > max(4 * perfect, 0.05)


def _worst(rows: list[ScoreRow]) -> float:
    return max((row.loss for row in rows if row.loss is not None), default=-math.inf)


@EVERY
def test_where_no_rollout_ends_it_is_null_with_a_reason_or_counts_them(name: str) -> None:
    for row in said(useless()["never"], name):
        if METRICS[name].ended_only:
            assert row.value is None
        assert (row.value is None) == bool(row.note) or METRICS[name].paired


@pytest.mark.parametrize("name", [name for name, one in METRICS.items() if one.ended_only])
def test_rollouts_that_the_cap_stopped_are_left_out_on_both_sides(name: str) -> None:
    truth, other = some_visits(), some_visits(seed=1)
    whole = rolled(other, truth)
    capped = np.arange(len(truth)) % 3 == 0
    longer: list[Row] = [([1] * 64, [9.0] * 64)]
    rows = suffixes(*(longer[0] if stopped else _row(other, i) for i, stopped in enumerate(capped)))
    kept = whole.take(~capped)
    assert _values(said(rolled(rows, truth), name)) == pytest.approx(_values(said(kept, name)))


def _row(events: Suffixes, i: int) -> Row:
    some = slice(events.offsets[i], events.offsets[i + 1])
    return events.tokens[some].tolist(), events.minutes[some].tolist()


def _values(rows: list[ScoreRow]) -> list[float | None]:
    return [row.value for row in rows]


@EVERY
def test_of_no_rollouts_nothing_is_said_but_why(name: str) -> None:
    nothing = suffixes()
    empty = table(nothing, nothing, launches=[], draws=2)
    rows = said(empty, name)
    assert rows
    for row in rows:
        assert row.value is None and row.low is None and row.floor is None and row.loss is None
        assert row.note == METRICS[name].undefined
        assert row.n_launches == row.n_stays == 0


@EVERY
def test_the_order_of_rows_changes_nothing(name: str) -> None:
    one = rolled(some_visits(seed=1), some_visits())
    order = np.random.default_rng(2).permutation(len(one.first.launches))
    assert one.every is not None
    drawn_order = (order[:, None] * 3 + np.arange(3)).ravel()
    first = replace(
        one.first,
        generated=one.first.generated.take(order),
        observed=one.first.observed.take(order),
        launches=one.first.launches[order],
    )
    every = replace(
        one.every,
        generated=one.every.generated.take(drawn_order),
        observed=first.observed,
        launches=first.launches,
    )
    for this, that in zip(said(one, name), said(Table(first, every), name), strict=True):
        for a, b in zip(astuple(this), astuple(that), strict=True):
            assert a == (pytest.approx(b, rel=1e-9, abs=1e-12) if isinstance(a, float) else b)


@pytest.mark.parametrize("name", [n for n, one in METRICS.items() if one.reads == "first draw"])
def test_more_draws_do_not_change_what_reads_the_first(name: str) -> None:
    truth, chance = some_visits(40), np.random.default_rng(3)
    first, others = some_visits(40, seed=1), some_visits(120, seed=4)
    order = chance.permutation(120).reshape(40, 3)
    rows: list[Row] = []
    for i in range(40):
        rows += [_row(first, i), *(_row(others, j) for j in order[i])]
    many = table(suffixes(*rows), truth, launches=late_and_early(40), draws=4, cap=64)
    one = table(first, truth, launches=late_and_early(40), cap=64)
    assert _values(said(many, name)) == _values(said(one, name))


@pytest.mark.parametrize("name", [n for n, one in METRICS.items() if one.reads == "all draws"])
def test_one_draw_is_no_forecast(name: str) -> None:
    for row in said(rolled(some_visits(20), some_visits(20), draws=1), name):
        assert row.value is None and "two draws" in row.note


BOUNDS: dict[str, tuple[float, float]] = {
    **{name: (0.0, math.log(2)) for name in METRICS if "jsd" in name},
    **dict.fromkeys(("termination", "reached_discharge", "termination_by_cap"), (0.0, 1.0)),
    **dict.fromkeys(("token_share_generated", "token_share_observed"), (0.0, 1.0)),
    **dict.fromkeys(("share_runs_10", "share_tail_10", "distinct_ratio"), (0.0, 1.0)),
    **dict.fromkeys(("share_zero_gaps", "share_on_lattice", "edit_distance"), (0.0, 1.0)),
    **dict.fromkeys(("ngram_distance_2", "ngram_distance_3"), (0.0, 1.0)),
    **{name: (0.0, 1.0) for name in METRICS if name.startswith("reliability")},
    **dict.fromkeys(("los_rank_correlation", "los_rank_correlation_with_capped"), (-1.0, 1.0)),
    **dict.fromkeys(("occupancy_mae", "occupancy_generated", "occupancy_observed"), (0.0, 100.0)),
    "occupancy_error": (-100.0, 100.0),
    "brier": (-1.0, 1.0),  # the fair form of few draws may fall below 0
    "pit": (0.0, 10.0),
}
SMALL_CAP = 5
gaps = st.floats(0, 4000, width=32)
ended = st.lists(st.tuples(st.integers(1, 4), gaps), max_size=SMALL_CAP - 1).flatmap(
    lambda events: gaps.map(lambda last: [*events, (END, last)])
)
stopped = st.lists(st.tuples(st.integers(1, 4), gaps), min_size=SMALL_CAP, max_size=SMALL_CAP)
visits = st.lists(st.tuples(st.integers(1, 4), gaps), max_size=12).map(
    lambda events: [*events, (END, 0.0)]
)
Events = list[tuple[int, float]]


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(visits, st.one_of(ended, stopped), st.one_of(ended, stopped)), max_size=6)
)
def test_any_rollouts_get_a_finite_number_within_bounds_or_a_reason(
    rows: list[tuple[Events, Events, Events]],
) -> None:
    truth = suffixes(*(_split(row[0]) for row in rows))
    generated = suffixes(*(_split(one) for row in rows for one in row[1:]))
    launches = [(i // 2, 1 + i % 2) for i in range(len(rows))]
    one = table(generated, truth, launches=launches, draws=2, cap=SMALL_CAP)
    for row in said(one, resamples=3):
        numbers = (row.value, row.corrected, row.low, row.high, row.floor, row.loss, row.position)
        assert all(number is None or math.isfinite(number) for number in numbers), row
        assert row.value is not None or row.note, row
        least, most = BOUNDS.get(
            f"{row.metric} {row.group}".strip(), BOUNDS.get(row.metric, (-math.inf, math.inf))
        )
        assert row.value is None or least - 1e-9 <= row.value <= most + 1e-9, row


def _split(events: Events) -> Row:
    return [token for token, _ in events], [minutes for _, minutes in events]


MIRRORED = tuple(
    name
    for name, one in METRICS.items()
    if one.interval != "percentile" and "occupancy" not in name and "by_cap" not in name
)


@pytest.mark.parametrize("name", MIRRORED)
def test_a_distance_is_as_large_from_either_side(name: str) -> None:
    """Launches are all early or all late for both sides, and all rows end."""
    ours, theirs = some_visits(seed=1), some_visits()
    launches = [(i, 400) for i in range(len(theirs))]
    there, back = (
        table(a, b, launches=launches, cap=64) for a, b in ((ours, theirs), (theirs, ours))
    )
    assert _values(said(there, name)) == pytest.approx(_values(said(back, name)))


def test_measures_are_told_apart_by_name_and_group() -> None:
    assert max(Counter((one.name, one.group) for one in METRICS.values()).values()) == 1
    assert all(isinstance(one, Measure) for one in METRICS.values())
    titles = {
        one.name: {other.title for other in METRICS.values() if other.name == one.name}
        for one in METRICS.values()
    }
    assert all(len(said) == 1 for said in titles.values())  # tables head a name with one title
    assert len({title for said in titles.values() for title in said}) == len(titles)


def floors(name: str, **more: object) -> list[ScoreRow]:
    """The rows of a fair simulator, beside the reference and an oracle."""
    one, best = (rolled(some_visits(seed=seed), some_visits()) for seed in (1, 2))
    made = group(one, resamples=8, reference=best, **more)
    return [row for row in group_rows(made, [METRICS[name]]) if row.value is not None and _own(row)]


@EVERY
def test_a_floor_is_there_where_it_can_be_reached_and_says_where_it_comes_from(name: str) -> None:
    measure = METRICS[name]
    oracle = rolled(some_visits(seed=2), some_visits())
    for kind, more in (("oracle", {"oracle": oracle}), ("bootstrap bias", {})):
        rows = floors(name, **more)
        assert rows
        for row in rows:
            if measure.paired or measure.on_outcome or measure.loss == "none":
                assert row.floor is None and row.position is None and row.floor_kind == ""
                assert bool(row.note) == (measure.loss != "none")
            else:
                assert row.floor is not None and row.floor >= 0 and row.floor_kind == kind


@EVERY
def test_launches_selected_on_the_outcome_have_no_floor(name: str) -> None:
    for row in floors(name, oracle=rolled(some_visits(), some_visits()), on_outcome=True):
        assert row.floor is None and row.position is None
        assert METRICS[name].loss == "none" or "outcome" in row.note


def test_what_is_paired_with_its_own_truth_and_what_looks_at_the_outcome_is_marked() -> None:
    paired = {name for name, one in METRICS.items() if one.paired}
    assert paired == {
        *("los_mae", "los_mae_with_capped", "edit_distance", "crps", "crps_unbounded", "brier"),
        *("los_rank_correlation", "los_rank_correlation_with_capped", "log_score", "energy_score"),
    }
    assert [name for name, one in METRICS.items() if one.on_outcome] == ["late_w1"]


@pytest.mark.parametrize(("kind", "power"), [("divergence", 1), ("distance", 2)])
def test_what_noise_adds_is_taken_off_once_from_the_value_and_twice_from_the_interval(
    kind: str, power: int
) -> None:
    """Worked by hand on the resamples; a distance is treated in its square."""
    name = {"divergence": "jsd", "distance": "los_w1"}[kind]
    assert METRICS[name].interval == kind
    made = group(rolled(some_visits(seed=1), some_visits()), resamples=200)
    (row, *_) = group_rows(made, [METRICS[name]])
    figures = TableSums(made.table, made).figures(METRICS[name], again=True)
    assert figures is not None and row.value is not None
    again = figures.values_again[:, 0] ** power
    bias = again.mean() - row.value**power
    low, high = np.quantile(figures.values_again[:, 0], (0.025, 0.975)) ** power - 2 * bias
    assert bias > 0
    expected = [max(x, 0.0) ** (1 / power) for x in (row.value**power - bias, low, high)]
    assert [row.corrected, row.low, row.high] == pytest.approx(expected, abs=1e-9)


@EVERY
def test_position_is_0_at_the_oracle_and_1_at_the_order_3_model(name: str) -> None:
    """Against the losses of the three tables when each is scored by itself."""
    truth = some_visits()
    ours, beside, best = (rolled(some_visits(seed=seed), truth) for seed in (1, 2, 3))
    made = replace(group(ours, resamples=4), reference=beside, oracle=best)
    rows = [row for row in group_rows(made, [METRICS[name]]) if _own(row)]
    alone = [said(one, name, resamples=4) for one in (beside, best)]
    for row, reference, oracle in zip(rows, *alone, strict=True):
        if row.value is None:
            assert row.reference is None and row.position is None
            continue
        assert row.reference == reference.value
        if row.floor is None:
            assert row.position is None
            continue
        assert row.floor == oracle.loss
        assert row.loss is not None and reference.loss is not None
        if reference.loss <= row.floor:
            assert row.position is None  # the model itself is at the floor
        else:
            expected = (row.loss - row.floor) / (reference.loss - row.floor)
            assert row.position == pytest.approx(expected)


def test_observed_suffixes_that_no_rollout_could_be_as_long_as_are_counted() -> None:
    observed = suffixes(([1] * 5 + [0], [1] * 6), ([1] * 4 + [0], [1] * 5), ([0], [0]))
    generated = suffixes(*[([0], [0])] * 3)
    (row,) = said(table(generated, observed, cap=5), "longer_than_cap")
    assert row.value == pytest.approx(1 / 3) and row.loss is None and row.target == ""
