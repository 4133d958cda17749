"""Launches by groups: who the patient is, where in the visit the launch lies, how it turned out.

Some groups are known when a simulator is started. Others are selected on the outcome: there no
simulator can reach the floor, and producers are compared with each other only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from edsim.lab.cohort import Cohort
from edsim.metrics.timing import LATE
from edsim.tables.facts import VocabularyFacts
from edsim.tables.visits import END, Launches

if TYPE_CHECKING:
    import polars as pl

Labels = NDArray[np.str_]
"""The group of each launch; NOBODY where it is in none."""
NOBODY = "-"
NOT_RECORDED = "not recorded"


@dataclass(frozen=True, slots=True)
class LaunchFacts:
    """What is known of launches, one entry each, and of the test stays they are taken from."""

    stays: pl.DataFrame
    """The stay of each launch, columns of stays.parquet."""
    prefix_length: NDArray[np.int64]
    triage_length: NDArray[np.int64]
    """The prefix length that ends at the triage row; 0 where there is none."""
    end_only: NDArray[np.bool_]
    """Where nothing but END followed the last event seen, in the whole training split."""
    quartiles: NDArray[np.float64]
    """Of the number of events of test stays."""
    long_prefix: float
    """The prefix length from which on a launch is in the top quarter of all test launches."""

    @property
    def n_events(self) -> NDArray[np.int64]:
        """Of the whole visit, END not counted: known only afterwards."""
        return self.stays["n_events"].to_numpy().astype(np.int64)

    @property
    def completion(self) -> NDArray[np.float64]:
        """How much of the visit's events lie behind: known only afterwards."""
        return np.asarray(self.prefix_length / self.n_events)

    def column(self, name: str) -> Labels:
        """A column of the stays as text."""
        import polars as pl

        return self.stays[name].cast(pl.String).fill_null(NOT_RECORDED).to_numpy().astype(np.str_)


def launch_facts(cohort: Cohort, launches: Launches, vocabulary: str) -> LaunchFacts:
    """The facts of some launches of a cohort."""
    stays, visits = cohort.stays(), cohort.visits(vocabulary)
    n_events = stays["n_events"].to_numpy()[(stays["split"] == "test").to_numpy()]
    lengths = np.arange(1, n_events.max(initial=1) + 1)
    reached = np.cumsum(np.bincount(n_events, minlength=len(lengths) + 1)[::-1])[::-1][1:]
    share = np.cumsum(reached) / max(reached.sum(), 1)
    known = visits.known
    triage = np.zeros(stays.height, np.int64) if known is None else known.triage_length
    last_seen = visits.tokens[visits.offsets[launches[:, 0]] + launches[:, 1] - 1]
    return LaunchFacts(
        end_only=_end_only(cohort, vocabulary)[last_seen],
        stays=stays[launches[:, 0]],
        prefix_length=launches[:, 1].astype(np.int64),
        triage_length=triage[launches[:, 0]].astype(np.int64),
        quartiles=np.quantile(n_events, (0.25, 0.5, 0.75)) if len(n_events) else np.zeros(3),
        long_prefix=float(lengths[np.searchsorted(share, 0.75)]),
    )


def _end_only(cohort: Cohort, vocabulary: str) -> NDArray[np.bool_]:
    """[tokens]: what the process mask lets nothing but END follow."""
    follows = VocabularyFacts.open(cohort.encoded(vocabulary)).transitions > 0
    return np.asarray(~follows[:, END + 1 :].any(axis=1))


@dataclass(frozen=True, slots=True)
class Population:
    """A way of parting launches into groups."""

    labels: Callable[[LaunchFacts], Labels]
    on_outcome: bool = False
    says: str = ""


def _triage(facts: LaunchFacts) -> Labels:
    """The paper's: launches right at triage by acuity, and every other launch."""
    acuity = np.char.add("acuity ", facts.column("acuity"))
    acuity[acuity == f"acuity {NOT_RECORDED}"] = NOBODY
    return np.where(facts.prefix_length == facts.triage_length, acuity, "elsewhere")


def _acuity(facts: LaunchFacts) -> Labels:
    seen = (facts.triage_length > 0) & (facts.prefix_length >= facts.triage_length)
    return np.where(seen, facts.column("acuity"), "before triage")


def _length_quartile(facts: LaunchFacts) -> Labels:
    quartile = np.searchsorted(facts.quartiles, facts.n_events, side="left")
    return np.array(["1 (shortest)", "2", "3", "4 (longest)"])[quartile]


def _completion(facts: LaunchFacts) -> Labels:
    quarter = np.minimum((facts.completion * 4).astype(np.int64), 3)
    return np.array(["under 25 %", "25 to 50 %", "50 to 75 %", "75 % and more"])[quarter]


POPULATIONS: Mapping[str, Population] = {
    "triage": Population(_triage, says="at the triage row by acuity, or elsewhere"),
    "acuity": Population(_acuity, says="acuity, once the triage row is in the prefix"),
    "transport": Population(lambda facts: facts.column("transport"), says="how the patient came"),
    "complaint": Population(
        lambda facts: facts.column("chief_complaint_group"), says="group of the chief complaint"
    ),
    "sex": Population(lambda facts: facts.column("sex"), says="recorded sex"),
    "race": Population(lambda facts: facts.column("race_group"), says="recorded race"),
    "next allowed": Population(
        lambda facts: np.where(facts.end_only, "END only", "others too"),
        says="whether the process mask leaves END alone after the last event seen",
    ),
    "long prefix": Population(
        lambda facts: np.where(facts.prefix_length >= facts.long_prefix, "", NOBODY),
        says="prefix length in the top quarter of launches",
    ),
    "length quartile": Population(
        _length_quartile, on_outcome=True, says="number of events of the whole visit"
    ),
    "completion": Population(
        _completion, on_outcome=True, says="share of the visit's events in the prefix"
    ),
    "late": Population(
        lambda facts: np.where(facts.completion >= LATE, "", NOBODY),
        on_outcome=True,
        says="launches with three quarters of the visit's events behind them",
    ),
}
