"""What each rule of a vocabulary caught, and what was filed under "other": rows, stays, subjects.

The counts are exact; suppressing small ones is the work of whoever shows them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from edsim.encoding.kinds import Kinds
from edsim.encoding.vocabulary import Vocabulary

if TYPE_CHECKING:
    import polars as pl

_LARGEST_TABLE = 1 << 28
"""Up to so many ticks, a table of who was seen where is faster than sorting."""


@dataclass(frozen=True, slots=True)
class Caught:
    """Two tables.

    `rules`, in the order in which they are tried: rule (from 1), token (its name), written (false
    for a catch-all), n_rows, n_stays, n_subjects (null where subjects are not known).
    `other`, most rows first: activity, detail, flag, token, written, n_rows, n_stays, n_subjects of
    every kind of event that no written rule fits (written is false), or that a written rule files
    under a token with the word "other" in its name.
    """

    rules: pl.DataFrame
    other: pl.DataFrame

    @property
    def n_rows(self) -> int:
        """Events of all rules."""
        return int(self.rules["n_rows"].sum())

    @property
    def share_other(self) -> float:
        """Share of events that no written rule fits; nan without events."""
        rows = self.n_rows
        unwritten = self.other.filter(~self.other["written"])
        return float(unwritten["n_rows"].sum()) / rows if rows else float("nan")


def write_caught(directory: Path, caught: Caught) -> None:
    """Keep both tables beside the encoded visits, as `caught-rules` and `caught-other` Parquet."""
    caught.rules.write_parquet(directory / "caught-rules.parquet", statistics=False)
    caught.other.write_parquet(directory / "caught-other.parquet", statistics=False)


def read_caught(directory: Path) -> Caught:
    """The tables that `write_caught` kept."""
    import polars as pl

    files = [directory / f"caught-{name}.parquet" for name in ("rules", "other")]
    tables = [pl.read_parquet(file, glob=False) for file in files]
    return Caught(*tables)


def count_caught(
    vocabulary: Vocabulary,
    kinds: Kinds,
    assigned: pl.DataFrame,
    stay: NDArray[np.uint32],
    n_stays: int,
    subjects: NDArray[np.integer] | None,
) -> Caught:
    """Count rows, stays and subjects by rule, and by kind for those filed under "other"."""
    import polars as pl

    rule_of_kind = assigned["rule"].to_numpy()
    names = np.array(vocabulary.tokens, dtype=object)
    n_rules = vocabulary.n_rules
    rules = pl.DataFrame(
        {
            "rule": np.arange(1, n_rules + 1),
            "token": list(names[vocabulary.rule_tokens]),
            "written": ~vocabulary.rule_is_fallback,
        }
    )
    counts = _counts(rule_of_kind[kinds.of_row], n_rules, stay, n_stays, subjects)
    token_of_kind = assigned["token"].to_numpy()
    written = ~vocabulary.rule_is_fallback[rule_of_kind]
    rest = ~written | _named_other(vocabulary)[token_of_kind]
    row = np.flatnonzero(rest[kinds.of_row])
    number = np.cumsum(rest, dtype=np.int32) - 1
    other = assigned.filter(rest).select(
        "activity",
        "detail",
        "flag",
        pl.Series("token", list(names[token_of_kind[rest]]), pl.String),
        pl.Series("written", written[rest]),
    )
    other_counts = _counts(number[kinds.of_row[row]], int(rest.sum()), stay[row], n_stays, subjects)
    return Caught(
        rules.hstack(counts),
        other.hstack(other_counts).sort(
            "n_rows", "activity", "detail", "flag", descending=[True, False, False, False]
        ),
    )


def _named_other(vocabulary: Vocabulary) -> NDArray[np.bool_]:
    """Which tokens are, by their name, a class of what is left over."""
    return np.array(["other" in re.findall(r"\w+", name.lower()) for name in vocabulary.tokens])


def _counts(
    group: NDArray[np.int32],
    n_groups: int,
    stay: NDArray[np.uint32],
    n_stays: int,
    subjects: NDArray[np.integer] | None,
) -> pl.DataFrame:
    """Rows, distinct stays and distinct subjects of each group."""
    import polars as pl

    n_stays_found = _distinct(group, n_groups, stay, n_stays)
    n_subjects = None
    if subjects is not None:
        size = int(subjects.max(initial=-1)) + 1
        n_subjects = _distinct(group, n_groups, subjects[stay], size)
    return pl.DataFrame(
        {
            "n_rows": pl.Series(np.bincount(group, minlength=n_groups), dtype=pl.Int64),
            "n_stays": pl.Series(n_stays_found, dtype=pl.Int64),
            "n_subjects": pl.Series(
                [None] * n_groups if n_subjects is None else n_subjects, dtype=pl.Int64
            ),
        }
    )


def _distinct(
    group: NDArray[np.int32], n_groups: int, member: NDArray[np.integer], n_members: int
) -> NDArray[np.int64]:
    """How many different members each group has."""
    if n_groups * n_members > max(_LARGEST_TABLE, 16 * len(group)):
        pairs = np.unique(group * np.int64(n_members) + member)
        return np.bincount(pairs // n_members, minlength=n_groups)
    seen = np.zeros((n_groups, n_members), dtype=np.bool_)
    seen[group, member] = True
    return np.array([np.count_nonzero(row) for row in seen], dtype=np.int64)
