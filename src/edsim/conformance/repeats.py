"""Rollouts that must be the same, or must differ: seed, draws, batches, cap. numpy only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from edsim.conformance.launching import take
from edsim.conformance.verdicts import Findings
from edsim.errors import EdsimError
from edsim.tables.visits import Prefixes, Suffixes

SEED = 7
DRAWS = 3
SHORT = 5
"""A small cap: almost every row reaches it."""
ROUNDED = 1e-3
"""Relative difference of gaps that rounding may bring where sums are taken in another order."""
ROUNDED_ROWS = 0.02
"""Share of rows that may fall otherwise when rounding differs between batches."""


class NoRollout(EdsimError):
    """The producer or the loop did not return rows that can be looked at."""

    def __init__(self, sentence: str, *, shape: bool = False) -> None:
        super().__init__(sentence)
        self.shape = shape


class Run(Protocol):
    """One rollout of a producer; raises `NoRollout`."""

    def __call__(
        self, prefixes: Prefixes, *, cap: int, seed: int = SEED, draws: int = 1
    ) -> Suffixes: ...


@dataclass(frozen=True, slots=True)
class Repeats:
    """A rollout that is done again in other ways."""

    findings: Findings
    run: Run
    prefixes: Prefixes
    cap: int
    base: Suffixes
    """One draw of every prefix with the seed SEED."""
    certain: bool = False
    """Nothing is left to chance, so nothing needs to differ."""
    shared_generator: bool = False
    """The producer may draw one row after the other from one generator (a Process)."""
    in_slots: Callable[[int], Suffixes] | None = None
    """The same rollout by the fast loop, with so many rows at a time."""

    def check(self) -> None:
        """Seed, draws, batches, and the small cap."""
        self.check_seed(self.run)
        self._check_draws(alone=self._check_batches())
        self._check_short()

    def check_seed(self, run: Run) -> None:
        """`run` may be of another instance of the same producer."""
        n = len(self.base)
        repeated = run(self.prefixes, cap=self.cap)
        again = int(unlike(repeated, self.base, rounding=False).sum())
        other = int(unlike(run(self.prefixes, cap=self.cap, seed=SEED + 1), self.base).sum())
        if again:
            self.findings.add(
                "seed", "fail", f"with the same seed {again} of {n} rows come out otherwise"
            )
        elif not other and not self.certain:
            self.findings.add("seed", "fail", f"with another seed none of {n} rows changes")
        else:
            self.findings.add(
                "seed", "pass", f"the same seed gives the same {n} rows, another changes {other}"
            )

    def _check_draws(self, *, alone: bool) -> None:
        """Of rows that come out `alone` as in any batch, the first draw must, too."""
        n, findings = len(self.base), self.findings
        rows = self.run(self.prefixes, cap=self.cap, draws=DRAWS)
        if len(rows) != n * DRAWS:
            said = f"{len(rows)} rows for {n} launches of {DRAWS} draws each"
            findings.add("launches", "fail", said)
            findings.skip("draws", said)
            return
        first, second, third = (rows.take(np.arange(n) * DRAWS + i) for i in range(DRAWS))
        moved = int(unlike(first, self.base).sum())
        alike = n - int((unlike(first, second) | unlike(second, third)).sum())
        if alike == n and not self.certain:
            findings.add("draws", "fail", f"all {DRAWS} draws of all {n} launches are the same")
        elif moved > ROUNDED_ROWS * n:
            said = f"{moved} of {n} first draws change with the number of draws"
            if not unlike(rows.take(np.arange(n)), self.base).any():
                said = "rows come draw by draw: launch by launch is expected, all draws of it"
            allowed = self.shared_generator and not alone
            findings.add("draws", "warning" if allowed else "fail", said)
        else:
            findings.add(
                "draws",
                "pass",
                f"{n - alike} of {n} launches have different draws, the first as alone",
            )

    def _check_batches(self) -> bool:
        """Whether rows come out the same alone, in halves and in another order."""
        n = len(self.base)
        arrangements = {
            "halves": (np.arange(0, n, 2), np.arange(1, n, 2)),
            "reversed order": (np.arange(n)[::-1],),
            "rows alone": tuple(np.array([row]) for row in np.linspace(0, n - 1, 5).astype(int)),
        }
        shares = {
            what: float(np.concatenate([self._moved(rows) for rows in batches if rows.size]).mean())
            for what, batches in arrangements.items()
        }
        if self.in_slots is not None:
            slots = max(n // 10, 1)
            shares[f"{slots} slots"] = float(unlike(self.in_slots(slots), self.base).mean())
        where = max(shares, key=lambda what: shares[what])
        if shares[where] > ROUNDED_ROWS:
            said = f"{shares[where]:.0%} of the rows come out otherwise in {where}"
            if self.shared_generator:
                self.findings.add(
                    "batches",
                    "warning",
                    f"{said}: the table can be made again only as a whole. Give every launch a "
                    "chance of its own with `prefixes.keys(seed, draw)`",
                )
            else:
                self.findings.add("batches", "fail", said)
        elif shares[where] > 0:
            said = f"{shares[where]:.1%} of the rows come out otherwise in {where}"
            self.findings.add("batches", "warning", f"{said}, as rounding may do")
        else:
            self.findings.add("batches", "pass", f"{n} rows are the same in {', '.join(shares)}")
        return shares[where] <= ROUNDED_ROWS

    def _moved(self, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        return unlike(self.run(take(self.prefixes, rows), cap=self.cap), self.base.take(rows))

    def _check_short(self) -> None:
        """A small cap is kept, too."""
        if self.cap <= SHORT:
            return
        rows = self.run(self.prefixes, cap=SHORT)
        over = int((rows.lengths() > SHORT).sum())
        moved = int((rows.lengths() != np.minimum(self.base.lengths(), SHORT)).sum())
        if over or (moved and not self.shared_generator):
            self.findings.add(
                "cap",
                "fail",
                f"{max(over, moved)} of {len(self.base)} rows have not the length that a cap of "
                f"{SHORT} events gives",
            )


def unlike(first: Suffixes, second: Suffixes, *, rounding: bool = True) -> NDArray[np.bool_]:
    """The rows in which two tables differ; without `rounding`, by any bit of any gap."""
    if len(first) != len(second):
        return np.ones(max(len(first), len(second)), dtype=bool)
    differ = first.lengths() != second.lengths()
    for row in np.flatnonzero(~differ):
        here = slice(first.offsets[row], first.offsets[row + 1])
        there = slice(second.offsets[row], second.offsets[row + 1])
        minutes, others = first.minutes[here], second.minutes[there]
        differ[row] = not (
            np.array_equal(first.tokens[here], second.tokens[there])
            and (
                minutes.tobytes() == others.tobytes()
                or (rounding and np.allclose(minutes, others, rtol=ROUNDED, atol=ROUNDED))
            )
        )
    return np.asarray(differ)
