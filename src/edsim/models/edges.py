"""From sorted contexts to the edges of an automaton.

A state is a context seen in training, of any length up to the order; an edge is a state and an
event that followed it. An event that never followed a state is looked up at the state's own
shorter context (the oldest event dropped), and so on down to the empty one: a dropped event can
neither change which context comes next nor add gaps. So each edge is stored once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from edsim.models.contexts import NOTHING, ContextTable, Ints
from edsim.models.gap_units import as_minutes
from edsim.tables.visits import END, Minutes

FEWEST_GAPS = 5
"""A pair of context and event with fewer gaps takes those of a shorter context."""


@dataclass(frozen=True, slots=True)
class Edges:
    """Edges sorted by state and event. State 0 is the empty context and has every event."""

    n_tokens: int
    shorter: Ints
    """[states]: the context without its oldest event; state 0 is its own."""
    length: Ints
    """[states]: events of the context."""
    keys: Ints
    """[edges]: state times n_tokens plus event."""
    counts: Ints
    """[edges]: how often the event followed; 0 only in state 0."""
    after: Ints
    """[edges]: the state after the event."""
    gap_begin: Ints
    """[edges]: where the edge's gaps stand in `minutes`, ascending; its own or borrowed ones."""
    gap_count: Ints
    """[edges]: how many; 0 for an event never seen, whose gap is 0."""
    minutes: Minutes


def compile_edges(table: ContextTable) -> Edges:
    """All states and edges of orders 0 to the table's own, or to the longest history there is."""
    states = _find_states(table)
    level = _without_context(table, states)
    levels = [level]
    for length in range(1, int(states.length[-1]) + 1):
        level = _with_context(table, states, length, level)
        levels.append(level)
    return Edges(
        n_tokens=table.n_tokens,
        shorter=states.shorter,
        length=states.length,
        keys=np.concatenate([level.keys for level in levels]),
        counts=np.concatenate([level.counts for level in levels]),
        after=np.concatenate([level.after for level in levels]),
        gap_begin=np.concatenate([level.gap_begin for level in levels]),
        gap_count=np.concatenate([level.gap_count for level in levels]),
        minutes=as_minutes(np.concatenate([level.gaps for level in levels]), table.unit),
    )


@dataclass(frozen=True, slots=True)
class _States:
    """States by length, and within a length in the order of the table."""

    shorter: Ints
    oldest: NDArray[np.int16]
    length: Ints
    of_context: list[Ints]
    """By length: the state of each context's latest events; -1 where the context is shorter."""
    n_tokens: int

    def longer(self, states: Ints, oldest: NDArray[np.int16]) -> Ints:
        """The states that have one event more at their beginning; -1 where there is none."""
        keys = self.shorter[1:] * self.n_tokens + self.oldest[1:]
        wanted = states * self.n_tokens + oldest
        found = np.searchsorted(keys, wanted)
        there = keys[np.minimum(found, len(keys) - 1)] == wanted
        return np.where(there, found + 1, -1)


def _find_states(table: ContextTable) -> _States:
    n = len(table.contexts)
    of_context = [np.zeros(n, dtype=np.int64)]
    shorter, oldest, length = [np.zeros(1, np.int64)], [np.zeros(1, np.int16)], [0]
    n_states, changes = 1, np.arange(n) == 0
    for column in table.contexts.T:
        changes[1:] |= column[1:] != column[:-1]
        reached = column != NOTHING
        first = changes & reached
        of_context.append(np.where(reached, np.cumsum(first) + n_states - 1, -1))
        shorter.append(of_context[-2][first])
        oldest.append(column[first])
        length.append(int(first.sum()))
        n_states += length[-1]
    length[0] = 1
    return _States(
        shorter=np.concatenate(shorter),
        oldest=np.concatenate(oldest),
        length=np.repeat(np.arange(len(length)), length),
        of_context=of_context,
        n_tokens=table.n_tokens,
    )


@dataclass(frozen=True, slots=True)
class _Level:
    """The edges of all states of one length; edges and gaps are numbered through all lengths."""

    keys: Ints
    counts: Ints
    after: Ints
    gap_begin: Ints
    gap_count: Ints
    gaps: NDArray[np.int32]
    edge_of_pair: Ints
    """[pairs of the table]: -1 where the context is shorter."""
    n_edges_so_far: int
    n_gaps_so_far: int


def _without_context(table: ContextTable, states: _States) -> _Level:
    """State 0: every event has an edge, seen or not."""
    events = np.arange(table.n_tokens)
    counts = np.bincount(table.events, table.counts, table.n_tokens).astype(np.int64)
    after = np.zeros_like(events)
    if table.order:
        after = np.maximum(states.longer(after, events.astype(np.int16)), 0)
    edge_of_pair = table.events.astype(np.int64)
    return _Level(
        keys=events,
        counts=counts,
        after=after,
        gap_begin=np.cumsum(counts) - counts,
        gap_count=counts,
        gaps=_sorted_gaps(table, edge_of_pair),
        edge_of_pair=edge_of_pair,
        n_edges_so_far=table.n_tokens,
        n_gaps_so_far=len(table.gaps),
    )


def _with_context(table: ContextTable, states: _States, length: int, below: _Level) -> _Level:
    """The edges of the states of one length, from those of the states one event shorter."""
    state_of_pair = np.repeat(states.of_context[length], table.n_events)
    reached = np.flatnonzero(state_of_pair >= 0)
    keys = state_of_pair[reached] * table.n_tokens + table.events[reached]
    rows = np.argsort(keys)
    reached, keys = reached[rows], keys[rows]
    starts = np.ones(len(keys), dtype=bool)
    np.not_equal(keys[1:], keys[:-1], out=starts[1:])
    first = np.flatnonzero(starts)
    edge_of_pair = np.full(len(table.events), -1)
    edge_of_pair[reached] = np.cumsum(starts) - 1
    counts = np.add.reduceat(table.counts[reached], first)
    keys = keys[first]

    shorter_edge = below.edge_of_pair[reached[first]] - (below.n_edges_so_far - len(below.keys))
    after = below.after[shorter_edge]
    if length < table.order:
        oldest = states.oldest[keys // table.n_tokens]
        after = np.where(keys % table.n_tokens == END, 0, states.longer(after, oldest))

    own = counts >= FEWEST_GAPS
    own_counts = np.where(own, counts, 0)
    begin = np.cumsum(own_counts) - own_counts + below.n_gaps_so_far
    pooled = np.where((edge_of_pair >= 0) & own[edge_of_pair], edge_of_pair, -1)
    gaps = _sorted_gaps(table, pooled)
    return _Level(
        keys=keys,
        counts=counts,
        after=after,
        gap_begin=np.where(own, begin, below.gap_begin[shorter_edge]),
        gap_count=np.where(own, counts, below.gap_count[shorter_edge]),
        gaps=gaps,
        edge_of_pair=np.where(edge_of_pair >= 0, edge_of_pair + below.n_edges_so_far, -1),
        n_edges_so_far=below.n_edges_so_far + len(keys),
        n_gaps_so_far=below.n_gaps_so_far + len(gaps),
    )


def _sorted_gaps(table: ContextTable, edge_of_pair: Ints) -> NDArray[np.int32]:
    """The gaps of each edge in ascending order, edge by edge; those of edge -1 are left out."""
    edge_of_gap = np.repeat(edge_of_pair, table.counts)
    kept = edge_of_gap >= 0
    keys = (edge_of_gap[kept] << 31) | table.gaps[kept]
    keys.sort()
    return (keys & (2**31 - 1)).astype(np.int32)
