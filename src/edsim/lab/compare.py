"""Comparisons of rollouts of a cohort: every pair of producers, or of recipes over their seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

from edsim import __version__
from edsim.errors import BadInputError
from edsim.lab.cohort import Cohort, subjects_of
from edsim.lab.launch_sets import launch_set_of
from edsim.lab.scores import cohort_facts, table_of
from edsim.lab.scoring_facts import scoring_facts
from edsim.metrics.measure import Measure
from edsim.metrics.paired import EXCHANGES, Field, compared
from edsim.metrics.registry import HEADLINE, measures_named
from edsim.metrics.resampling import RESAMPLES, stays_of
from edsim.metrics.seed_spread import FEWEST_SEEDS, compared_seeds
from edsim.progress import Progress, silent
from edsim.tables.comparisons import Comparison, ComparisonRow, Comparisons, SeedRow
from edsim.tables.rollouts import Rollouts

Side = Sequence[Rollouts]
"""One producer's table, or those of a recipe's training seeds."""


def compare(
    sides: Sequence[Rollouts | Side],
    cohort: Cohort,
    *,
    names: Sequence[str] | None = None,
    metrics: Sequence[str] | None = None,
    resamples: int = RESAMPLES,
    exchanges: int = EXCHANGES,
    progress: Progress = silent,
) -> Comparisons:
    """Every pair of sides: differences of losses with interval, p-value and what could be seen.

    A side is one table, or at least three of one recipe's training seeds; then all sides are. Sides
    are called as their tables are where `names` are not given; the headline measures where none are
    named.
    """
    groups = [(side,) if isinstance(side, Rollouts) else tuple(side) for side in sides]
    check_sides([len(group) for group in groups])
    if resamples < 2 or exchanges < 1:
        raise BadInputError("a comparison needs at least 2 resamples and 1 permutation.")
    tables = [table for group in groups for table in group]
    launches = _check_alike(tables, cohort)
    measures = list(HEADLINE.values()) if metrics is None else measures_named(metrics)
    pairs = list(combinations(range(len(groups)), 2))
    progress.stage("comparing", len(pairs), "pairs")
    names = _names(groups) if names is None else names
    found = []
    for i, j in pairs:
        one = _pair(groups[i], groups[j], (names[i], names[j]), cohort)
        made = _compared(one, len(groups[i]), measures, resamples, exchanges)
        a, b = _members(groups[i]), _members(groups[j])
        found.append(replace(made, producers_a=a, producers_b=b))
        progress.advance(1)
    first = tables[0].header
    return Comparisons(
        cohort=cohort_facts(cohort, first.vocabulary),
        launches=launches,
        cap=first.cap,
        draws=first.draws,
        resamples=resamples,
        permutations=exchanges,
        comparisons=tuple(found),
        code_version=__version__,
    )


def _compared(
    field: Field, n_a: int, measures: Sequence[Measure], resamples: int, exchanges: int
) -> Comparison:
    launches = field.tables[0].first.launches
    hidden = field.too_small()
    rows: list[ComparisonRow] = []
    seeds: list[SeedRow] = []
    if len(field.tables) == 2:
        rows = compared(field, measures, n_resamples=resamples, n_exchanges=exchanges)
    else:
        seeds = compared_seeds(field, n_a, measures, n_resamples=resamples)
    return Comparison(
        a=field.names[0],
        b=field.names[1],
        n_launches=0 if hidden else len(launches),
        n_stays=0 if hidden else len(stays_of(launches)[0]),
        rows=tuple(rows),
        seeds=tuple(seeds),
    )


def check_sides(sizes: Sequence[int]) -> None:
    """Refuse sides that cannot be compared; `sizes` says how many tables each has."""
    if len(sizes) < 2:
        raise BadInputError("name at least two producers, or groups of training seeds, to compare.")
    if max(sizes) > 1 and min(sizes) < FEWEST_SEEDS:
        raise BadInputError(
            f"a comparison over training seeds needs at least {FEWEST_SEEDS} seeds on every side; "
            f"here the sides have {', '.join(map(str, sizes))}. Without seeds, compare one "
            "producer with one producer."
        )


def _check_alike(tables: Sequence[Rollouts], cohort: Cohort) -> str:
    """The launch set that all tables hold; what cannot be compared is refused."""
    first = tables[0]
    launches = launch_set_of(first, cohort)
    for other in tables[1:]:
        for what, one, two in (
            ("vocabulary", first.header.vocabulary, other.header.vocabulary),
            ("launch set", launches, launch_set_of(other, cohort)),
            ("cap", first.header.cap, other.header.cap),
            ("number of draws", first.header.draws, other.header.draws),
        ):
            if one != two:
                raise BadInputError(
                    f"'{first.header.producer}' and '{other.header.producer}' differ in their "
                    f"{what} ({one} and {two}), so that what differs in their scores need not be "
                    "theirs. Roll both out alike; --launches and --draws are for producers given "
                    "by name."
                )
    return launches


def _pair(a: Side, b: Side, names: tuple[str, str], cohort: Cohort) -> Field:
    tables = tuple(table_of(table, cohort) for table in (*a, *b))
    stays, _ = stays_of(tables[0].first.launches)
    return Field(
        names=names,
        tables=tables,
        subject_of_stay=subjects_of(cohort)[stays],
        facts=scoring_facts(cohort, a[0].header.vocabulary),
        restricted=cohort.manifest.restricted,
    )


def _names(groups: Sequence[Side]) -> list[str]:
    """A name for each side; a number is added where two have the same."""
    names = [_name(group) for group in groups]
    counted = [names[: i + 1].count(name) for i, name in enumerate(names)]
    return [f"{name} ({n})" if n > 1 else name for name, n in zip(names, counted, strict=True)]


def _members(group: Side) -> tuple[str, ...]:
    """The training seeds of a side, where it is several."""
    return tuple(table.header.producer for table in group) if len(group) > 1 else ()


def _name(group: Side) -> str:
    said = [
        table.header.producer
        if table.header.rule in ("vanilla", "unknown")
        else f"{table.header.producer} {table.header.rule}"
        for table in group
    ]
    if len(group) == 1:
        return said[0]
    recipes = {name.partition("@")[0] for name in said}
    return f"{recipes.pop()} x {len(group)}" if len(recipes) == 1 else ", ".join(said)
