"""Two producers on the same launches: how far apart their losses are, and whether by chance.

Both are resampled with the same stays, so that what the launches share falls out of the difference.
Null: for each stay a coin decides whose rollouts are whose, all of the stay's together. Measures
that leave capped rows out are taken on the launches where all compared producers end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from edsim.metrics.comparison_words import sentence
from edsim.metrics.figures import Figures, Table, figures_of
from edsim.metrics.measure import Floats, Measure, ScoringFacts
from edsim.metrics.registry import HEADLINE
from edsim.metrics.resampling import (
    StaySums,
    exchange_coins,
    resample_weights,
    same_columns,
    stay_sums,
    stays_of,
)
from edsim.metrics.score_rows import ONE_DRAW, QUANTILES, ZERO_RATIO, ZERO_SPREAD
from edsim.metrics.small_cells import SMALL, hidden_of_any
from edsim.privacy import small
from edsim.tables.comparisons import ComparisonRow

EXCHANGES = 2_000
LEVEL = 0.05
FOUR_IN_FIVE = 1.959964 + 0.841621
"""Standard errors of a difference that is found four times in five at the level of .05."""
NEVER_BOTH = "there is no launch on which both ended"
OF_THE_TRUTH = "describes the truth: nothing to compare"


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """Tables of the same launches, and those of their launches where all of them end."""

    names: tuple[str, str]
    """Of the two sides."""
    tables: tuple[Table, ...]
    """A and B; or all training seeds of the one side, then all of the other."""
    subject_of_stay: NDArray[np.int64]
    """One entry a stay, in the order of `stays_of`."""
    facts: ScoringFacts
    restricted: bool = False

    @property
    def n_launches(self) -> int:
        """Launches of each table."""
        return len(self.tables[0].first.launches)

    def where_all_end(self) -> Field:
        """The launches that the cap stops in none of the tables."""
        ended = np.logical_and.reduce([table.first.terminated for table in self.tables])
        if ended.all():
            return self
        stays, place = stays_of(self.tables[0].first.launches)
        present = np.zeros(len(stays), dtype=np.bool_)
        present[place[ended]] = True
        return replace(
            self,
            tables=tuple(table.take(ended) for table in self.tables),
            subject_of_stay=self.subject_of_stay[present],
        )

    def too_small(self) -> bool:
        """Whether it is of too few people to be shown."""
        return self.restricted and small(len(np.unique(self.subject_of_stay)))

    def hidden(self, measure: Measure, sums: Sequence[StaySums]) -> list[bool]:
        """Which numbers of a measure may not be shown, given its sums in every table."""
        n_numbers = len(measure.labels(self.facts))
        if not self.restricted:
            return [False] * n_numbers
        return hidden_of_any(measure, sums, self.subject_of_stay, n_numbers)

    def sums(self, measure: Measure) -> list[StaySums] | None:
        """Per-stay sums of every table, with the same columns; None where draws are lacking."""
        reads = [t.first if measure.reads == "first draw" else t.every for t in self.tables]
        if any(rows is None for rows in reads):
            return None
        stays, place = stays_of(self.tables[0].first.launches)
        made = [
            stay_sums(measure.sums(rows, self.facts), place, len(stays))  # type: ignore[arg-type]
            for rows in reads
        ]
        for one in made[1:]:
            made[0] = same_columns(made[0], one)[0]
        return [made[0], *(same_columns(made[0], one)[1] for one in made[1:])]


def compared(
    field: Field,
    measures: Sequence[Measure],
    *,
    n_resamples: int,
    n_exchanges: int = EXCHANGES,
) -> list[ComparisonRow]:
    """The rows of two tables, A and B; p-values of the headline are held against all of them."""
    ended = field.where_all_end()
    rows: list[ComparisonRow] = []
    for measure in measures:
        of = ended if measure.ended_only else field
        rows += _rows(of, measure, n_resamples, n_exchanges, all_launches=of is field)
    headline = [
        i for i, row in enumerate(rows) if row.metric in HEADLINE and row.p_value is not None
    ]
    for i, p_holm in zip(headline, holm([_p(rows[i]) for i in headline]), strict=True):
        rows[i] = replace(rows[i], p_holm=p_holm)
    by_name = {measure.name: measure for measure in measures}
    return [_in_words(row, by_name[row.metric], field.names) for row in rows]


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's p-values: the chance of one false finding among all is kept at the level.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    adjusted, largest = [0.0] * len(p_values), 0.0
    for rank, i in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        largest = max(largest, min(1.0, p_values[i] * (len(p_values) - rank)))
        adjusted[i] = largest
    return adjusted


def _rows(
    field: Field, measure: Measure, n_resamples: int, n_exchanges: int, *, all_launches: bool
) -> list[ComparisonRow]:
    stays, _ = stays_of(field.tables[0].first.launches)
    empty = ComparisonRow(
        metric=measure.name,
        group=measure.group,
        n_launches=field.n_launches,
        n_stays=len(stays),
        where_both_end=not all_launches,
    )
    nothing = replace(empty, n_launches=0, n_stays=0, note=SMALL)
    if field.too_small():
        return [nothing]
    if not field.n_launches:
        return [replace(empty, note=NEVER_BOTH)]
    sums = field.sums(measure)
    if sums is None:
        return [replace(empty, note=ONE_DRAW)]
    weights = resample_weights(len(stays), n_resamples)
    a, b = (figures_of(measure, one, weights) for one in sums)
    coins = exchange_coins(len(stays), n_exchanges)
    null = sums[0].exchanged(sums[1], lambda one, other: _apart(measure, one, other), coins)
    hidden = field.hidden(measure, sums)
    return [
        replace(nothing, **label)
        if hidden[k]
        else _row(replace(empty, **label), measure, a, b, null, k)
        for k, label in enumerate(measure.labels(field.facts))
    ]


def _apart(measure: Measure, one: Floats, other: Floats) -> Floats:
    """Difference of the losses of two totals, [..., numbers]."""
    with np.errstate(invalid="ignore"):  # of two ratios of 0, whose losses are infinite
        return np.asarray(measure.losses_of(one) - measure.losses_of(other))


def why_none(measure: Measure, sides: Sequence[Figures], k: int) -> str:
    """Why there is no difference of losses."""
    if measure.loss == "none":
        return OF_THE_TRUTH
    defined = all(np.isfinite(side.values[k]) for side in sides)
    return ZERO_RATIO if defined and measure.loss == "log_ratio" else measure.undefined


def _row(
    empty: ComparisonRow, measure: Measure, a: Figures, b: Figures, null: Floats, k: int
) -> ComparisonRow:
    said = replace(
        empty,
        a=_number(a.values[k]),
        b=_number(b.values[k]),
        target=_number(a.targets[k]) if measure.better == "target" else None,
    )
    if not (np.isfinite(a.losses[k]) and np.isfinite(b.losses[k])):
        return replace(said, note=why_none(measure, (a, b), k))
    difference = a.losses[k] - b.losses[k]
    one_stay = a.sums.n_stays < 2
    low, high, sd = (None, None, None) if one_stay else _interval(measure, a, b, k)
    p_value = _chance(float(difference), null[:, k])
    return replace(
        said,
        difference=float(difference),
        low=low,
        high=high,
        p_value=p_value,
        detectable=None if sd is None else FOUR_IN_FIVE * sd,
        note="" if sd is not None and p_value is not None else ZERO_SPREAD,
    )


def _interval(
    measure: Measure, a: Figures, b: Figures, k: int
) -> tuple[float | None, float | None, float | None]:
    """Interval of the difference and its standard error; what noise adds to either divergence is
    taken off twice, as in a score row: of distances on each side by itself, in squares."""
    both = np.isfinite(a.losses_again[:, k]) & np.isfinite(b.losses_again[:, k])
    if both.sum() < max(len(both) / 2, 2):
        return None, None, None
    again = a.losses_again[both, k] - b.losses_again[both, k]
    sd = float(again.std(ddof=1))
    if measure.interval == "divergence":
        again = again - 2 * (again.mean() - (a.losses[k] - b.losses[k]))
    elif measure.interval == "distance":
        again = _without_noise(a, both, k) - _without_noise(b, both, k)
    low, high = np.quantile(again, QUANTILES)
    return float(low), float(high), sd


def _without_noise(side: Figures, resamples: NDArray[np.bool_], k: int) -> Floats:
    """The distance under each resample, less twice what noise adds to its square: at least 0."""
    squares = side.losses_again[resamples, k] ** 2
    bias = squares.mean() - side.losses[k] ** 2
    return np.asarray(np.sqrt(np.maximum(squares - 2 * bias, 0.0)))


def _chance(difference: float, null: Floats) -> float | None:
    """Share of exchanges, none at all being one, that set the two at least so far apart."""
    null = np.abs(null[np.isfinite(null)])
    if not len(null):
        return None
    least = abs(difference) * (1 - 1e-9) - 1e-15
    return float((1 + np.count_nonzero(null >= least)) / (1 + len(null)))


def _in_words(row: ComparisonRow, measure: Measure, names: tuple[str, str]) -> ComparisonRow:
    p = row.p_holm if row.p_holm is not None else row.p_value
    if row.difference is None or p is None:
        return row
    apart = p < LEVEL
    sure = row.low is not None and row.high is not None and not row.low <= 0 <= row.high
    better = "" if not (apart and sure) else "a" if row.difference < 0 else "b"
    row = replace(row, better=better)
    return replace(row, sentence=sentence(row, measure, names, apart=apart))


def _p(row: ComparisonRow) -> float:
    assert row.p_value is not None
    return row.p_value


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
