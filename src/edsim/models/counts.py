"""Count models: which events followed the same recent events in training, and after which gaps.

Order k looks at the last k events; 0 is the marginal, 1 the Markov model. Nothing is smoothed: the
longest context that was seen in training answers alone. Gaps are training gaps of the context and
the event, of a shorter context where there are fewer than five.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from edsim.models.automaton import MOST_ENTRIES, Automaton, build_automaton
from edsim.models.contexts import ContextTable, tabulate
from edsim.models.edges import compile_edges
from edsim.models.gaps import TrainingGaps
from edsim.models.semi_markov import SEMI_MARKOV, SEMI_MARKOV_ORDER, LogNormalGaps
from edsim.tables.visits import Prefixes, Visits


@dataclass(frozen=True, slots=True)
class CountModel:
    """A fitted count model, a Simulator: what is stored of it, and what runs."""

    name: str
    """As the user names it: one of COUNT_MODELS."""
    table: ContextTable
    automaton: Automaton
    clock: str = "sampled"

    @property
    def order(self) -> int:
        """The most events it looks at."""
        return self.table.order

    @property
    def device(self) -> torch.device:
        """Where its tensors live."""
        return self.automaton.event.device

    def to(self, device: torch.device | str) -> CountModel:
        """The same model on another device."""
        return replace(self, automaton=self.automaton.to(device))

    def start(self, prefixes: Prefixes) -> Tensor:
        """The longest known context at the end of each prefix, int64 [rows]."""
        return self.automaton.start(prefixes)

    def propose(self, state: Tensor, u_time: Tensor) -> Tensor:
        """Normalised log-probabilities, float64 [rows, tokens]."""
        return self.automaton.propose(state, u_time)

    def commit(self, state: Tensor, tokens: Tensor, u_time: Tensor) -> tuple[Tensor, Tensor]:
        """The next context and a training gap, the `u_time` quantile."""
        return self.automaton.commit(state, tokens, u_time)

    def keep(self, state: Tensor, rows: Tensor) -> Tensor:
        """The states of some rows."""
        return self.automaton.keep(state, rows)

    def log_prob(
        self, prefixes: Prefixes, next_tokens: Tensor, next_minutes: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Of every next event, and of the observed gap before the observed one."""
        state = self.start(prefixes)
        edge = self.automaton.edge_of(state, next_tokens)
        gap = self.automaton.gaps.log_density(edge, next_minutes)
        return self.propose(state, torch.zeros_like(gap)), gap


def fit(training: Visits, n_tokens: int, order: int) -> CountModel:
    """Count the training part of a cohort, `visits.part("train")`."""
    return compile_counts(tabulate(training, n_tokens, order))


def fit_semi_markov(training: Visits, n_tokens: int) -> CountModel:
    """Count the training part of a cohort, and fit log-normal gaps."""
    return compile_semi_markov(tabulate(training, n_tokens, SEMI_MARKOV_ORDER))


def compile_counts(table: ContextTable, *, most_entries: int = MOST_ENTRIES) -> CountModel:
    """The model with the gaps of training, from a table just made or read from a file."""
    edges = compile_edges(table)
    automaton = build_automaton(
        edges, table.order, TrainingGaps.of(edges), most_entries=most_entries
    )
    return CountModel(name_of_order(table.order), table, automaton)


def compile_semi_markov(table: ContextTable, *, most_entries: int = MOST_ENTRIES) -> CountModel:
    """The model with log-normal gaps, from a table just made or read from a file."""
    edges = compile_edges(table)
    automaton = build_automaton(
        edges, table.order, LogNormalGaps.of(edges), most_entries=most_entries
    )
    return CountModel(SEMI_MARKOV, table, automaton)


def name_of_order(order: int) -> str:
    """How the user names the count model of an order."""
    return {0: "marginal", 1: "markov"}.get(order, f"ngram:{order}")
