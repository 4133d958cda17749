"""The four calls of a count model: states are numbers, and every call is a look-up.

Where all look-ups fit in memory as [states, tokens] they are tables; a model with more states, such
as order 7, searches the few edges of a state instead. Both answer the same.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from edsim.models.contexts import NOTHING
from edsim.models.edges import Edges
from edsim.models.gaps import GapsOfEdges
from edsim.models.moving import moved
from edsim.tables.visits import Prefixes

MOST_ENTRIES = 2**25
"""Up to this many entries, states times tokens, look-ups are tables (12 bytes an entry)."""


@dataclass(frozen=True, slots=True)
class Tables:
    """What is looked up at once for any state and token."""

    log_probs: Tensor
    """float64 [states, tokens]."""
    edge: Tensor
    """int32 [states, tokens]: the edge to take, a shorter context's where the state has none."""

    def to(self, device: torch.device | str) -> Tables:
        """The same tables on another device."""
        return moved(self, device)


@dataclass(frozen=True, slots=True)
class Automaton:
    """A compiled count model. A state of the loop is int64 [rows]: the longest known context."""

    n_tokens: int
    order: int
    most_edges: int
    """Of one state."""
    shorter: Tensor
    """int64 [states]: the context without its oldest event."""
    length: Tensor
    """int64 [states]: events of the context."""
    first: Tensor
    """int64 [states + 1]: where the edges of each state begin."""
    event: Tensor
    """int64 [edges], ascending within a state."""
    log_probs: Tensor
    """float64 [edges]."""
    after: Tensor
    """int64 [edges]: the state after the event."""
    gaps: GapsOfEdges
    tables: Tables | None

    def to(self, device: torch.device | str) -> Automaton:
        """The same model on another device."""
        return moved(self, device)

    def start(self, prefixes: Prefixes) -> Tensor:
        """Walk the last `order` events of each prefix."""
        ends, lengths = prefixes.offsets[1:], prefixes.lengths()
        state = torch.zeros(len(prefixes), dtype=torch.int64, device=self.event.device)
        for back in range(self.order, 0, -1):
            reached = lengths >= back
            events = np.where(reached, prefixes.tokens[np.where(reached, ends - back, 0)], NOTHING)
            tokens = torch.from_numpy(events.astype(np.int64)).to(state.device)
            state = torch.where(tokens == NOTHING, state, self.after[self.edge_of(state, tokens)])
        return state

    def propose(self, state: Tensor, u_time: Tensor) -> Tensor:
        """The share of each event after the longest known context, as log-probabilities."""
        if self.tables is not None:
            return self.tables.log_probs[state]
        begin = self.first[state]
        n_edges = self.first[state + 1] - begin
        row = torch.repeat_interleave(n_edges)
        before = torch.cumsum(n_edges, 0) - n_edges
        edge = torch.arange(len(row), device=row.device) + (begin - before)[row]
        proposed = torch.full(
            (len(state), self.n_tokens), -torch.inf, dtype=torch.float64, device=state.device
        )
        proposed.view(-1)[row * self.n_tokens + self.event[edge]] = self.log_probs[edge]
        return proposed

    def commit(self, state: Tensor, tokens: Tensor, u_time: Tensor) -> tuple[Tensor, Tensor]:
        """The next context, and the gap before the event."""
        edge = self.edge_of(state, tokens)
        return self.after[edge], self.gaps.draw(edge, u_time)

    def keep(self, state: Tensor, rows: Tensor) -> Tensor:
        """The states of some rows."""
        return state[rows]

    def edge_of(self, state: Tensor, tokens: Tensor) -> Tensor:
        """The edge of each state and token, of the longest context that has one."""
        if self.tables is not None:
            return self.tables.edge.view(-1)[state * self.n_tokens + tokens].long()
        edge = self._search(state, tokens)
        absent = (self.event[edge] != tokens).nonzero()[:, 0]
        if len(absent):  # never in state 0, which has every event
            edge[absent] = self.edge_of(self.shorter[state[absent]], tokens[absent])
        return edge

    def _search(self, state: Tensor, tokens: Tensor) -> Tensor:
        """The first edge of each state whose event is not below the token; the last if all are."""
        low, last = self.first[state], self.first[state + 1] - 1
        high = last
        for _ in range((self.most_edges - 1).bit_length()):
            middle = (low + high) >> 1
            below = self.event[middle] < tokens
            low, high = torch.where(below, middle + 1, low), torch.where(below, high, middle)
        return torch.minimum(low, last)


def build_automaton(
    edges: Edges, order: int, gaps: GapsOfEdges, *, most_entries: int = MOST_ENTRIES
) -> Automaton:
    """The tensors of the compiled edges, on the CPU."""
    n_states, n_tokens = len(edges.shorter), edges.n_tokens
    first = np.searchsorted(edges.keys, np.arange(n_states + 1) * n_tokens)
    n_edges = np.diff(first)
    totals = np.add.reduceat(edges.counts, first[:-1])
    with np.errstate(divide="ignore"):
        log_probs = np.log(edges.counts / np.repeat(totals, n_edges))
    return Automaton(
        n_tokens=n_tokens,
        order=order,
        most_edges=int(n_edges.max()),
        shorter=torch.from_numpy(edges.shorter),
        length=torch.from_numpy(edges.length),
        first=torch.from_numpy(first),
        event=torch.from_numpy(edges.keys % n_tokens),
        log_probs=torch.from_numpy(log_probs),
        after=torch.from_numpy(edges.after),
        gaps=gaps,
        tables=_lay_out(edges, log_probs) if n_states * n_tokens <= most_entries else None,
    )


def _lay_out(edges: Edges, log_probs: NDArray[np.float64]) -> Tables:
    """The tables of all states and tokens, the shorter contexts first."""
    n_states, n_tokens = len(edges.shorter), edges.n_tokens
    edge = np.empty((n_states, n_tokens), dtype=np.int32)
    begin = 0
    for end in np.searchsorted(edges.length, np.arange(edges.length[-1] + 1), side="right"):
        edge[begin:end] = edge[edges.shorter[begin:end]]
        low, high = np.searchsorted(edges.keys, [begin * n_tokens, end * n_tokens])
        edge.reshape(-1)[edges.keys[low:high]] = np.arange(low, high)
        begin = int(end)
    dense = np.full(n_states * n_tokens, -np.inf)
    dense[edges.keys] = log_probs
    return Tables(torch.from_numpy(dense.reshape(n_states, n_tokens)), torch.from_numpy(edge))
