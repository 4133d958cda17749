"""How much of the test split a count model has seen before: contexts, and coverage by order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from edsim.models.counts import CountModel
from edsim.tables.visits import Launches, Visits

BATCH = 2**17


@dataclass(frozen=True, slots=True)
class OrderCoverage:
    """One line of the paper's table of train-context coverage."""

    order: int
    n_contexts: int
    """Different runs of `order` events that something followed in training."""
    n_contexts_marked: int
    """The same with a mark for the start of the stay, so that shorter histories count as well."""
    n_transitions: int
    """Test transitions: every event after a stay's first, END included."""
    n_seen: int
    """Those whose last `order` events, or nearer the start whole history, were seen in training."""

    @property
    def share(self) -> float:
        """Exact coverage; nan without test transitions."""
        return self.n_seen / self.n_transitions if self.n_transitions else float("nan")


def coverage(model: CountModel, test: Visits, orders: Sequence[int]) -> list[OrderCoverage]:
    """Coverage of every order up to the model's own, from one walk along the test stays."""
    launches = _all_launches(test)
    longest = _longest_known(model, test, launches)
    lengths = model.automaton.length.cpu().numpy()
    return [
        OrderCoverage(
            order=order,
            n_contexts=int((lengths == order).sum()),
            n_contexts_marked=_count_marked(model.table.contexts[:, :order]),
            n_transitions=len(launches),
            n_seen=int((longest >= np.minimum(order, launches[:, 1])).sum()),
        )
        for order in orders
    ]


def _all_launches(visits: Visits) -> Launches:
    """Every place after which an event, or END, comes."""
    n_events = visits.n_events()
    rows = np.repeat(np.arange(len(visits)), n_events)
    lengths = np.arange(len(rows)) - np.repeat(np.cumsum(n_events) - n_events, n_events) + 1
    return np.stack([rows, lengths], axis=1).astype(np.int32)


def _longest_known(model: CountModel, visits: Visits, launches: Launches) -> NDArray[np.int64]:
    """How many of the latest events are a context known from training, up to the order."""
    found = [
        model.automaton.length[model.start(visits.prefixes(launches[begin : begin + BATCH]))]
        for begin in range(0, len(launches), BATCH)
    ]
    return np.concatenate([part.cpu().numpy() for part in found] or [np.zeros(0, np.int64)])


def _count_marked(contexts: NDArray[np.int16]) -> int:
    """Different rows of a sorted table."""
    return 1 + int((contexts[1:] != contexts[:-1]).any(axis=1).sum())
