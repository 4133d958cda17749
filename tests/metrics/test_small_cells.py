"""Of restricted data no number tells of few people: in scores, comparisons, or by what is left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from edsim.metrics.figures import Table
from edsim.metrics.paired import Field, compared
from edsim.metrics.registry import METRICS, measures_named
from edsim.metrics.seed_spread import compared_seeds
from edsim.metrics.small_cells import SMALL
from edsim.tables.comparisons import ComparisonRow, SeedRow
from edsim.tables.scores import ScoreRow
from edsim.tables.visits import Suffixes
from metrics.groups import FACTS, group, rows_of, table
from metrics.rows import lasting, only_tokens, suffixes

N = 200


def with_few(few: Suffixes, many: Suffixes, n_few: int) -> Suffixes:
    """N launches of as many people, of whom some are the few."""
    rows = Suffixes.join([few, many])
    return rows.take(np.array([0] * n_few + [1] * (N - n_few)))


LONG, SHORT = only_tokens([1] * 20 + [0]), only_tokens([1, 0])
STAYING, LEAVING = lasting(800), lasting(30)
DISCHARGED, NEVER = only_tokens([3, 0]), only_tokens([2, 0])
REPEATING = only_tokens([1] * 12 + [0])
NO_ZERO, ZERO = suffixes(([1, 0], [5.0, 5.0])), suffixes(([1, 0], [5.0, 0.0]))

CELLS: dict[str, tuple[str, float | None, Suffixes, Suffixes]] = {
    "longer than the cap": ("longer_than_cap", None, LONG, SHORT),
    "within the cap": ("longer_than_cap", None, SHORT, LONG),
    "too long for a smaller cap": ("termination_by_cap", 16.0, LONG, SHORT),
    "short enough for a smaller cap": ("termination_by_cap", 16.0, SHORT, LONG),
    "there after 12 hours": ("occupancy_observed", 12.0, STAYING, LEAVING),
    "foretold to be there": ("occupancy_generated", 12.0, STAYING, LEAVING),
    "gone after 12 hours": ("occupancy_observed", 12.0, LEAVING, STAYING),
    "discharged": ("reached_discharge", None, DISCHARGED, NEVER),
    "not discharged": ("reached_discharge", None, NEVER, DISCHARGED),
    "repeating": ("share_runs_10", None, REPEATING, SHORT),
    "with a gap of zero": ("share_zero_gaps", None, ZERO, NO_ZERO),
}


def held(name: str, at: float | None, observed: Suffixes) -> tuple[ScoreRow, ...]:
    """The row of restricted data, and of open data."""
    one = group(table(SHORT.take(np.zeros(N, int)), observed, cap=16))
    return tuple(
        next(row for row in rows_of(replace(one, restricted=flag), name) if row.at == at)
        for flag in (True, False)
    )


@pytest.mark.parametrize("cell", list(CELLS))
@pytest.mark.parametrize("n_few", [1, 9, 10])
def test_few_people_with_or_without_something_are_not_told_of(cell: str, n_few: int) -> None:
    name, at, few, many = CELLS[cell]
    kept, open_to_all = held(name, at, with_few(few, many, n_few))
    assert open_to_all.value is not None
    if n_few < 10:
        said = (kept.value, kept.target, kept.loss, kept.n_subjects, kept.note)
        assert said == (None, "", None, 0, SMALL)
    else:
        assert kept == open_to_all


def few_ending(n_ending: int) -> Table:
    """Rollouts of which few ended, so that few people are behind all that is said of durations."""
    return table(with_few(lasting(40), only_tokens([1] * 4), n_ending), lasting(*[60.0] * N), cap=4)


def test_durations_of_few_that_ended_are_not_told() -> None:
    for n_ending in (9, 10):
        one = group(few_ending(n_ending), restricted=True)
        for name in ("duration_ratio", "remaining_minutes", "los_mae", "los_w1"):
            (row,) = rows_of(one, name)
            assert (row.value is None) == (n_ending < 10) == (row.note == SMALL), name


def field(generated: Sequence[Suffixes], observed: Suffixes, *, restricted: bool) -> Field:
    return Field(
        names=("A", "B"),
        tables=tuple(table(one, observed, cap=16) for one in generated),
        subject_of_stay=np.arange(N),
        facts=FACTS,
        restricted=restricted,
    )


def comparison(
    name: str, observed: Suffixes, *, restricted: bool, seeds: bool
) -> Sequence[ComparisonRow | SeedRow]:
    sides = [SHORT.take(np.zeros(N, int))] * (6 if seeds else 2)
    of, measures = field(sides, observed, restricted=restricted), measures_named([name])
    if seeds:
        return compared_seeds(of, 3, measures, n_resamples=5)
    return compared(of, measures, n_resamples=5, n_exchanges=5)


@pytest.mark.parametrize("cell", list(CELLS))
@pytest.mark.parametrize("seeds", [False, True])
def test_comparisons_hide_what_scores_hide(cell: str, seeds: bool) -> None:
    name, at, few, many = CELLS[cell]
    for n_few in (9, 10):
        kept, open_to_all = (
            next(row for row in found if row.at == at)
            for found in (
                comparison(name, with_few(few, many, n_few), restricted=flag, seeds=seeds)
                for flag in (True, False)
            )
        )
        if n_few == 10:
            assert kept == open_to_all
            continue
        numbers = (kept.a, kept.b, kept.target, kept.difference, kept.low, kept.high, kept.p_value)
        assert numbers == (None,) * 7 and kept.note == SMALL and kept.sentence == ""


def test_no_number_of_a_comparison_is_shown_that_a_score_hides() -> None:
    """Every measure, on launches of which few are long, late, discharged and repeat themselves."""
    chance = np.random.default_rng(0)
    rows = [
        ([*chance.integers(1, 5, size=chance.integers(0, 8)).tolist(), 0]) for _ in range(N - 4)
    ] + [[1] * 20 + [0]] * 4
    observed = suffixes(*((one, chance.exponential(40, len(one)).tolist()) for one in rows))
    generated = observed.take(chance.permutation(N))
    one = table(generated, observed, cap=16)
    wanted = [measure for measure in METRICS.values() if measure.reads == "first draw"]
    names = list({measure.name for measure in wanted})
    scored = rows_of(group(one, restricted=True), *names)
    hidden = {(row.metric, row.group, row.at) for row in scored if row.note == SMALL}
    of = field([generated, generated], observed, restricted=True)
    found = compared(of, wanted, n_resamples=5, n_exchanges=5)
    assert hidden
    assert hidden == {(r.metric, r.group, r.at) for r in found if r.note == SMALL}
