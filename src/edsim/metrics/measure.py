"""What a measure is: a line of sums for every rollout, and a number from their total.

Cut where the sum is. Weighting by stay, populations and the bootstrap work on the sums, so that
each of them is written once and no measure knows of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from edsim.tables.predictions import Predicted
from edsim.tables.rollouts import Ensemble, Scored
from edsim.tables.visits import Suffixes

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class SparseSums:
    """Lines of which few columns are not zero; entries of one place are added."""

    row: NDArray[np.integer]
    column: NDArray[np.integer]
    value: NDArray[np.floating]
    shape: tuple[int, int]
    labels: NDArray[np.int64] | None = None
    """What each column counts, in rising order, where another table has other columns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCounts:
    """How often each run of `n` events occurs in each row, of generated, then of observed events.

    So many that they are added up by stay as they are counted, and never written out. Columns are
    the runs that either side has, first of the one and then of the other.
    """

    generated: Suffixes
    observed: Suffixes
    n: int
    n_tokens: int
    per_row: bool = False
    """Whether each row counts as one, however many runs it has."""


Sums = NDArray[np.floating] | SparseSums | RunCounts
"""[rows, columns]. What a row does not count in adds zeros; no entry is nan."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoringFacts:
    """What measures may look at beside the rows; everything fitted is of the training split."""

    tokens: tuple[str, ...]
    discharges: tuple[int, ...]
    lattice: float
    """Minutes between the moments of the record's time lattice."""
    log_remaining_sd: float = 1.0
    """Standard deviation of ln(1 + min(remaining minutes, 24 h)) over the training launches."""

    @property
    def n_tokens(self) -> int:
        return len(self.tokens)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """One entry of METRICS. `sums` of a draw, or of all draws where `reads` says so."""

    name: str
    title: str
    """What a table heads it with."""
    sums: (
        Callable[[Scored, ScoringFacts], Sums]
        | Callable[[Ensemble, ScoringFacts], Sums]
        | Callable[[Predicted, ScoringFacts], Sums]
    )
    value: Callable[[Floats], Floats]
    """Totals [..., columns] to the number [...], or to [..., len(at)] where there are several; nan
    where it is not defined. Vectorised: the bootstrap calls it once for all replicates."""
    group: str = ""
    """What tells it from others of its name, such as the horizon of a reliability curve."""
    at: tuple[float, ...] = ()
    """Steps or horizons, where the measure is a series."""
    by_token: bool = False
    """Whether it is a series of one number a token."""
    support: Callable[[int], Iterable[NDArray[np.integer]]] | None = None
    """Number of columns to the columns, of each number, that count the rows it rests on; where
    those are of few stays, the number is of few people."""
    cells: Callable[[int], Iterable[tuple[NDArray[np.integer], NDArray[np.integer]]]] | None = None
    """Number of columns to the columns, of each number that is a share of observed visits or is
    held against one, that count the rows with what it counts, and all rows: neither those with it
    nor those without it may be few people."""
    adds_up: bool = False
    """Whether the numbers of a series add up to a whole, so that all but one tell that one."""
    target: Callable[[Floats], Floats] | None = None
    """Totals to the value that is right, such as the observed share; None where lower is better."""
    loss: Literal["value", "distance", "log_ratio", "below_one", "none"] = "value"
    """How far off a value is: itself, its distance from the target, |ln value|, what it lacks to 1;
    or nothing, where it describes the truth."""
    interval: Literal["percentile", "divergence", "distance"] = "percentile"
    """`divergence`: noise biases it up, so the bootstrap's bias is taken off. `distance`: the same
    of its square, as it grows in proportion to what differs and a divergence with the square."""
    reads: Literal["first draw", "all draws"] = "first draw"
    ended_only: bool = False
    """Whether rows that the cap stopped are left out, so that two producers can only be compared on
    launches where both end."""
    paired: bool = False
    """Compared launch by launch: the oracle shares unseen state, so there is no reachable floor."""
    on_outcome: bool = False
    """Taken on launches chosen by something known only afterwards: no reachable floor either."""
    unit: str = ""
    slow: bool = False
    """Left out unless asked for."""
    undefined: str = ""
    """Why it is null where it is, in words."""

    @property
    def is_series(self) -> bool:
        """Whether it is several numbers: one a step, horizon or token."""
        return bool(self.at) or self.by_token

    @property
    def better(self) -> Literal["low", "high", "target", ""]:
        """Which direction is good."""
        if self.loss == "none":
            return ""
        if self.loss == "below_one":
            return "high"
        return "low" if self.loss == "value" else "target"

    def labels(self, facts: ScoringFacts) -> list[dict[str, Any]]:
        """What tells the numbers of a series from each other, as fields of a row."""
        if self.at:
            return [{"at": float(at)} for at in self.at]
        return [{"group": token} for token in facts.tokens] if self.by_token else [{}]

    def values(self, totals: Floats) -> Floats:
        """Totals [..., columns] to [..., numbers], one number where it is no series."""
        found = self.value(totals)
        return found if self.is_series else found[..., None]

    def targets(self, totals: Floats, values: Floats) -> Floats:
        """The values that are right, [..., numbers]; nan where there is no such value."""
        if self.target is not None:
            found = self.target(totals)
            return found if self.is_series else found[..., None]
        right = {"log_ratio": 1.0, "below_one": 1.0, "value": 0.0, "distance": 0.0}
        return np.full_like(values, right.get(self.loss, np.nan))

    def losses_of(self, totals: Floats) -> Floats:
        """How far off the numbers of totals are."""
        values = self.values(totals)
        return self.losses(values, self.targets(totals, values))

    def losses(self, values: Floats, targets: Floats) -> Floats:
        """How far off, [..., numbers]: 0 is best; nan where it describes the truth."""
        if self.loss == "log_ratio":
            with np.errstate(divide="ignore", invalid="ignore"):
                return np.abs(np.log(values))
        if self.loss == "value":
            return values
        if self.loss == "below_one":
            return np.asarray(1.0 - values)
        return np.abs(values - targets) if self.loss == "distance" else np.full_like(values, np.nan)


def share(part: Floats, whole: Floats) -> Floats:
    """part / whole, nan where the whole is nothing."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(whole > 0, part / whole, np.nan)
