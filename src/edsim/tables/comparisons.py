"""Comparisons: two producers, or two recipes over their training seeds, measure by measure.

In memory and as `comparisons.json`. Differences are of losses (how far off a value is), A's minus
B's: below 0 A is better.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from edsim.tables.json_table import read_json_table, write_json_table

SCHEMA_VERSION = 1
FILE = "comparisons.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonRow:
    """One measure of two producers on their shared launches."""

    metric: str
    group: str = ""
    at: float | None = None
    a: float | None = None
    b: float | None = None
    """The values of the two, as a score sheet has them."""
    target: float | None = None
    """The value that is right; null where lower or higher is better."""
    difference: float | None = None
    """Loss of A minus loss of B; below 0, A is better."""
    low: float | None = None
    high: float | None = None
    """95 % interval of the difference, over resampled stays."""
    p_value: float | None = None
    """Share of exchanges of A's and B's rollouts, stay by stay, with a difference this large."""
    p_holm: float | None = None
    """The same, held against all headline measures of the comparison (Holm); null elsewhere."""
    detectable: float | None = None
    """The smallest difference that this number of stays finds four times in five."""
    better: str = ""
    """`a` or `b` where the difference is beyond chance and its interval on one side of 0, else
    empty."""
    sentence: str = ""
    where_both_end: bool = False
    """Whether launches that the cap stopped on either side are left out."""
    n_launches: int = 0
    n_stays: int = 0
    note: str = ""
    """Why a number is null."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedRow:
    """One measure of two recipes, each trained several times."""

    metric: str
    group: str = ""
    at: float | None = None
    a: float | None = None
    b: float | None = None
    """Mean value over the seeds."""
    target: float | None = None
    """The value that is right; null where lower or higher is better."""
    difference: float | None = None
    """Mean loss of A minus mean loss of B."""
    low: float | None = None
    high: float | None = None
    """95 % interval over training seeds (Welch's t)."""
    p_value: float | None = None
    between_a: float | None = None
    between_b: float | None = None
    """Standard deviation of the loss between training seeds."""
    within_a: float | None = None
    within_b: float | None = None
    """Standard deviation of one seed's loss over resampled stays."""
    seeds_needed: int | None = None
    """Training seeds a side that would find a difference this large four times in five."""
    better: str = ""
    """`a` or `b` where the difference is beyond what seeds make, empty where it is not."""
    sentence: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A against B. `rows` where both are one producer, `seeds` where both are several seeds."""

    a: str
    b: str
    n_launches: int
    n_stays: int
    rows: tuple[ComparisonRow, ...] = ()
    seeds: tuple[SeedRow, ...] = ()
    producers_a: tuple[str, ...] = ()
    producers_b: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparisons:
    """All comparisons of one call: the same cohort, launch set, cap and draws throughout."""

    cohort: Mapping[str, Any]
    launches: str
    cap: int
    draws: int
    resamples: int
    permutations: int
    comparisons: tuple[Comparison, ...] = ()
    code_version: str = ""
    schema_version: int = SCHEMA_VERSION


def write_comparisons(comparisons: Comparisons, path: Path) -> None:
    """Write the JSON file, whole or not at all; for the owner alone where the data are."""
    write_json_table(comparisons, path, restricted=bool(comparisons.cohort.get("restricted", True)))


def read_comparisons(path: Path) -> Comparisons:
    """Read and check what `write_comparisons` wrote."""
    return read_json_table(
        Comparisons,
        path,
        what="comparisons file",
        version=SCHEMA_VERSION,
        again="`edsim compare A B --cohort C --json FILE` writes one.",
    )
