"""The simulation gap: two producers that predict alike and simulate unlike, picked by rule."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from edsim.report.entries import Entry

ALIKE = 0.03
"""Accuracies this close count as equal."""
FAR = 2.0
"""Least factor between two distances from the record that is worth a headline."""


@dataclass(frozen=True, slots=True)
class Gap:
    """The pair furthest apart among those that predict alike."""

    near: Entry
    far: Entry
    metric: str
    """`jsd` or `duration_ratio`: by which they are apart."""
    times: float
    """How many times as far from the record: in divergence, or in how much too short or long."""

    @property
    def weight(self) -> float:
        """By which gaps are compared: a divergence goes with the square of differences."""
        return math.sqrt(self.times) if self.metric == "jsd" else self.times

    @property
    def sentence(self) -> str:
        """As a report opens with."""
        near, far = self.near, self.far
        return (
            f"{near.label} and {far.label} guess the next event almost equally often "
            f"({100 * _value(near, 'accuracy'):.0f} % and {100 * _value(far, 'accuracy'):.0f} %), "
            f"yet the visits that {far.label} generates {self._apart()}."
        )

    def _apart(self) -> str:
        if self.metric == "jsd":
            return f"are {_times(self.times)} further from the record"
        far, near = (length(_value(one, self.metric)) for one in (self.far, self.near))
        return f"are {far}, and those of {self.near.label} {near.removesuffix(' than true ones')}"


def simulation_gap(entries: Sequence[Entry]) -> Gap | None:
    """The pair, where there are two with predictions, and one at least twice as far off."""
    known = [one for one in entries if not one.privileged and one.find("accuracy") is not None]
    alike = [
        pair
        for pair in combinations(known, 2)
        if abs(_value(pair[0], "accuracy") - _value(pair[1], "accuracy")) <= ALIKE
    ]
    found = [
        gap
        for pair in alike
        for metric in ("jsd", "duration_ratio")
        if (gap := _gap(*pair, metric))
    ]
    far = [gap for gap in found if gap.times >= FAR]
    return max(far, key=lambda gap: gap.weight, default=None)


def _gap(one: Entry, other: Entry, metric: str) -> Gap | None:
    distances = [_distance(entry, metric) for entry in (one, other)]
    if not all(distances):
        return None
    p, q = distances
    near, far = (one, other) if p < q else (other, one)
    return Gap(near, far, metric, max(p, q) / min(p, q))


def _distance(entry: Entry, metric: str) -> float:
    """From the record, on a scale where factors mean something; 0 where it is not known."""
    value = _value(entry, metric)
    if metric == "jsd" or not value:
        return value
    return math.exp(abs(math.log(value)))


def _value(entry: Entry, metric: str) -> float:
    row = entry.find(metric)
    return 0.0 if row is None or row.value is None else row.value


def length(ratio: float) -> str:
    """How long visits are beside true ones.

    >>> length(0.19), length(1.002)
    ('81 % shorter than true ones', 'as long as true ones')
    >>> length(26.7)
    '27 times as long as true ones'
    """
    if ratio >= FAR:
        return f"{_times(ratio)} as long as true ones"
    if abs(ratio - 1) < 0.005:
        return "as long as true ones"
    return f"{100 * abs(ratio - 1):.0f} % {'shorter' if ratio < 1 else 'longer'} than true ones"


def _times(ratio: float) -> str:
    return f"{ratio:.0f} times" if ratio >= 10 else f"{ratio:.1f} times"
