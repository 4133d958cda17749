"""What a table of rollouts says of a measure: its numbers, now and under each resample.

All tables of a group are of the same launches. The rows are added up by stay once; the estimate,
its interval, the noise of the measure itself, the reference and the floor follow from those sums.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edsim.metrics.measure import Floats, Measure, ScoringFacts, share
from edsim.metrics.resampling import StaySums, Weights, resample_weights, stay_sums, stays_of
from edsim.tables.predictions import Predicted
from edsim.tables.rollouts import Ensemble, Scored


@dataclass(frozen=True, slots=True)
class Table:
    """Rollouts beside the truth: the first draw and, where there are more, all of them."""

    first: Scored
    every: Ensemble | None = None

    def take(self, rows: NDArray[np.bool_]) -> Table:
        """Some of the launches."""
        at = np.flatnonzero(rows)
        first = replace(
            self.first,
            generated=self.first.generated.take(at),
            observed=self.first.observed.take(at),
            launches=self.first.launches[at],
        )
        if self.every is None:
            return Table(first)
        draws = self.every.draws
        drawn = (at[:, None] * draws + np.arange(draws)).ravel()
        every = replace(
            self.every,
            generated=self.every.generated.take(drawn),
            observed=first.observed,
            launches=first.launches,
        )
        return Table(first, every)


@dataclass(frozen=True, slots=True)
class PredictedTable:
    """Predictions beside the truth, of which there are no draws."""

    first: Predicted
    every: None = None

    def take(self, rows: NDArray[np.bool_]) -> PredictedTable:
        """Some of the launches."""
        return PredictedTable(self.first.take(np.flatnonzero(rows)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Launches that are scored together; all tables are of exactly these."""

    table: Table | PredictedTable
    facts: ScoringFacts
    weights: Weights
    """[stays, resamples], as many stays as the launches have."""
    subject_of_stay: NDArray[np.int64]
    """One entry a stay, in the order of `stays_of`."""
    reference: Table | PredictedTable | None = None
    no_reference: str = "no rollouts of the order-3 model are at hand"
    """Why there is none, where there is none."""
    oracle: Table | PredictedTable | None = None
    population: str = "all"
    group: str = ""
    on_outcome: bool = False
    """Whether the launches were chosen by something known only afterwards."""
    restricted: bool = False
    hidden: bool = False
    """Whether nothing of it may be shown: it is of few people, or gives such a group away."""

    @property
    def n_stays(self) -> int:
        """Different stays among the launches."""
        return int(self.weights.shape[0])

    def rollouts(self) -> Scored:
        """The first draw of every launch beside the truth; of predictions there is none."""
        assert isinstance(self.table, Table)
        return self.table.first

    @property
    def counts(self) -> dict[str, int]:
        """Launches, stays and subjects, as a score row names them."""
        return {
            "n_launches": len(self.table.first.launches),
            "n_stays": self.n_stays,
            "n_subjects": len(np.unique(self.subject_of_stay)),
        }


def part_of(
    group: Group,
    rows: NDArray[np.bool_],
    *,
    population: str = "all",
    label: str = "",
    on_outcome: bool = False,
    hidden: bool = False,
) -> Group:
    """Some launches of a group, with resamples of their own stays."""
    stays, place = stays_of(group.table.first.launches)
    present = np.zeros(len(stays), dtype=np.bool_)
    present[place[rows]] = True
    return replace(
        group,
        table=group.table.take(rows),
        reference=None if group.reference is None else group.reference.take(rows),
        oracle=None if group.oracle is None else group.oracle.take(rows),
        weights=resample_weights(int(present.sum()), group.weights.shape[1]),
        subject_of_stay=group.subject_of_stay[present],
        population=population,
        group=label,
        on_outcome=on_outcome or group.on_outcome,
        hidden=hidden,
    )


@dataclass(frozen=True, slots=True)
class Figures:
    """What one table says of one measure: [numbers], and [resamples, numbers] where asked for."""

    sums: StaySums
    values: Floats
    targets: Floats
    losses: Floats
    values_again: Floats
    losses_again: Floats

    @property
    def bias(self) -> Floats:
        """What resampling adds to the value: the measure's own noise, where it is a divergence."""
        return _mean(self.values_again) - self.values

    @property
    def own_noise(self) -> Floats:
        """What resampling adds to the loss, at least 0."""
        return np.maximum(_mean(self.losses_again) - self.losses, 0.0)


class TableSums:
    """The sums of one table by stay, each made once however many measures are of it."""

    def __init__(self, table: Table | PredictedTable, group: Group) -> None:
        self._table, self._group = table, group
        self._place = stays_of(table.first.launches)[1]
        self._made: dict[Any, StaySums] = {}

    def figures(self, measure: Measure, *, again: bool) -> Figures | None:
        """None where the measure needs more draws than there are."""
        rows = self._table.first if measure.reads == "first draw" else self._table.every
        if rows is None:
            return None
        if measure.sums not in self._made:
            sums = measure.sums(rows, self._group.facts)  # type: ignore[arg-type]
            self._made[measure.sums] = stay_sums(sums, self._place, self._group.n_stays)
        return figures_of(measure, self._made[measure.sums], self._group.weights if again else None)


def figures_of(measure: Measure, sums: StaySums, weights: Weights | None) -> Figures:
    """The numbers that follow from the totals, as they are and under each resample."""

    def values_and_losses(totals: Floats) -> Floats:
        values = measure.values(totals)
        return np.stack([values, measure.losses(values, measure.targets(totals, values))], axis=1)

    totals = sums.totals()[None]
    values = measure.values(totals)
    targets = measure.targets(totals, values)
    nothing = np.empty((0, 2, values.shape[-1]))
    again = nothing if weights is None else sums.map(values_and_losses, weights)
    losses = measure.losses(values, targets)
    return Figures(sums, values[0], targets[0], losses[0], again[:, 0], again[:, 1])


def _mean(again: Floats) -> Floats:
    """Mean over resamples, those left out in which it is not defined."""
    defined = np.isfinite(again)
    total = np.where(defined, again, 0.0).sum(axis=0)
    return share(total, defined.sum(axis=0))
