"""The training transitions of a count model, sorted by context: all that has to be stored of it.

A transition is an event that is not its stay's first, END included, with the events before it and
the gap. Its context is the last `order` events; nearer the start of the stay, all there are. Read
backwards from the latest event, contexts sort as words do, and every shorter context is one run
of rows: all counts and gaps of lower orders follow from this one table.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from edsim.errors import BadTableError
from edsim.models.gap_units import Gaps, find_unit, in_units
from edsim.tables.visits import Visits

Ints = NDArray[np.int64]

NOTHING = 0
"""What stands in a context before the start of a stay: END, which is in no context."""


@dataclass(frozen=True, slots=True)
class ContextTable:
    """Contexts in order, under each the events that followed, under each of these the gaps."""

    n_tokens: int
    contexts: NDArray[np.int16]
    """[contexts, order], the latest event first, NOTHING beyond the start of the stay."""
    n_events: Ints
    """[contexts]: how many different events followed."""
    events: NDArray[np.int16]
    """[pairs of context and event], ascending within a context."""
    counts: Ints
    """[pairs]: how often."""
    gaps: Gaps
    """[transitions], ascending within a pair."""
    unit: int
    """Units of a gap in a minute, or gap_units.BITS."""

    @property
    def order(self) -> int:
        """The most events of a context."""
        return int(self.contexts.shape[1])

    def context_of_pair(self) -> Ints:
        """The context of each pair."""
        return np.repeat(np.arange(len(self.n_events)), self.n_events)


def tabulate(visits: Visits, n_tokens: int, order: int) -> ContextTable:
    """Sort the transitions of some stays; all of `visits`, so hand in the training part."""
    _check_tokens(visits, n_tokens)
    targets = np.ones(len(visits.tokens), dtype=bool)
    targets[visits.offsets[:-1]] = False
    columns = backwards(visits, targets, order)
    events = visits.tokens[targets]
    minutes = visits.minutes[targets]
    unit = find_unit(minutes)
    gaps = in_units(minutes, unit)
    context_keys = _joined(columns, len(events), n_tokens)
    keys = _join(_join(context_keys, events, n_tokens), gaps, int(gaps.max(initial=0)) + 1)
    rows = np.argsort(keys)
    context_keys, events = context_keys[rows], events[rows]
    new_context = _changes(context_keys)
    new_pair = new_context | _changes(events)
    first_of_context, first_of_pair = np.flatnonzero(new_context), np.flatnonzero(new_pair)
    return ContextTable(
        n_tokens=n_tokens,
        contexts=_stacked([column[rows[first_of_context]] for column in columns], first_of_context),
        n_events=np.diff(
            np.searchsorted(first_of_pair, first_of_context), append=len(first_of_pair)
        ),
        events=events[first_of_pair],
        counts=np.diff(first_of_pair, append=len(rows)),
        gaps=gaps[rows],
        unit=unit,
    )


def backwards(visits: Visits, targets: NDArray[np.bool_], order: int) -> list[NDArray[np.int16]]:
    """The events 1, 2, ... `order` places before each target, NOTHING before the start."""
    columns = []
    reached = np.ones(int(targets.sum()), dtype=bool)
    for back in range(1, order + 1):
        # the place before a stay's first event holds the END of the stay before it
        before = np.concatenate([np.zeros(back, np.int16), visits.tokens[:-back]])[targets]
        reached &= before != NOTHING
        columns.append(np.where(reached, before, np.int16(NOTHING)))
    return columns


def _joined(columns: list[NDArray[np.int16]], n_rows: int, n_tokens: int) -> Ints:
    """One number for each row of the columns, ascending as the rows do."""
    keys = np.zeros(n_rows, dtype=np.int64)
    for column in columns:
        keys = _join(keys, column, n_tokens)
    return keys


def _join(keys: Ints, column: NDArray[np.integer], n_values: int) -> Ints:
    """Keys of pairs, in the order of the pairs; keys that would overflow become ranks first."""
    if (int(keys.max(initial=0)) + 1) * n_values >= 2**63:
        keys = np.unique(keys, return_inverse=True)[1].astype(np.int64)
    return keys * n_values + column


def _changes(sorted_values: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Where a value differs from the one before it; the first always does."""
    changes = np.ones(len(sorted_values), dtype=bool)
    np.not_equal(sorted_values[1:], sorted_values[:-1], out=changes[1:])
    return changes


def _stacked(columns: list[NDArray[np.int16]], rows: Ints) -> NDArray[np.int16]:
    return np.stack(columns, axis=1) if columns else np.zeros((len(rows), 0), np.int16)


def _check_tokens(visits: Visits, n_tokens: int) -> None:
    outside = (visits.tokens < 0) | (visits.tokens >= n_tokens)
    if outside.any():
        raise BadTableError(
            f"{int(outside.sum())} of {len(outside)} events have a token outside 0 to "
            f"{n_tokens - 1}, first at event {int(outside.argmax())}. Do the visits and the "
            "vocabulary belong together?"
        )
    if len(visits.tokens) - len(visits) < 1:
        raise BadTableError("there is no event to count: the training part is empty.")
