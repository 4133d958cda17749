"""A rollouts table between file and memory: ids on one side, stay rows on the other."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from edsim.errors import BadTableError
from edsim.tables.facts import VocabularyFacts
from edsim.tables.rollouts import Rollouts, RolloutsHeader
from edsim.tables.visits import Launches, Minutes, Offsets, Suffixes, Visits

Ids = NDArray[np.bytes_]


@dataclass(frozen=True, slots=True)
class Rows:
    """A rollouts table as it stands in a file, with ids in place of stay rows."""

    header: RolloutsHeader
    ids: Ids
    """The distinct stay ids as UTF-8, sorted; `stay` has the place of each row's own."""
    stay: NDArray[np.int32]
    prefix_length: NDArray[np.int32]
    draw: NDArray[np.int32]
    tokens: NDArray[np.integer]
    offsets: Offsets
    minutes: Minutes
    minutes_offsets: Offsets
    ended: NDArray[np.bool_]
    """Whether `stop` says `end`; the others say `cap`."""
    name: str = "the rollouts table"
    data_rows: NDArray[np.int64] | None = None
    """Where each row begins in a file that has a row for each event, counted from 0."""

    def first(self, found: NDArray[np.bool_]) -> str:
        """Where the first of some rows is in the file, in words."""
        if self.data_rows is None:
            return f"row {int(found.argmax()) + 1:,}"
        return f"the rollout that begins in data row {int(self.data_rows[found].min()) + 1:,}"

    @property
    def noun(self) -> str:
        """What the rows are to the reader of the file."""
        return "rows" if self.data_rows is None else "rollouts"

    def __len__(self) -> int:
        return len(self.stay)


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What a rollouts table has to fit. What is None or empty is not looked at."""

    stay_ids: Ids
    n_events: NDArray[np.int64]
    vocabulary: str = ""
    vocabulary_sha256: str = ""
    tokens: tuple[str, ...] = ()
    cohort_id: str = ""
    content_hash: str = ""
    launches: Launches | None = None
    restricted: bool = False
    """Whether the cohort is: its rollouts are, whatever their header says."""

    @classmethod
    def of(
        cls,
        visits: Visits,
        facts: VocabularyFacts,
        *,
        cohort_id: str,
        content_hash: str,
        launches: Launches | None = None,
        restricted: bool = False,
    ) -> Expected:
        """What the rollouts of a cohort under one vocabulary have to fit."""
        if visits.stay_ids is None:
            raise BadTableError("these visits were made without ids, so no table can be joined.")
        return cls(
            stay_ids=visits.stay_ids,
            n_events=visits.n_events(),
            vocabulary=facts.name,
            vocabulary_sha256=facts.sha256,
            tokens=facts.tokens,
            cohort_id=cohort_id,
            content_hash=content_hash,
            launches=launches,
            restricted=restricted,
        )


def in_order(rollouts: Rollouts) -> Rollouts:
    """The same rows sorted by stay row, prefix length and draw."""
    order = sort_order(rollouts.launches[:, 0], rollouts.launches[:, 1], rollouts.draw)
    if order is None:
        return rollouts
    generated = rollouts.generated
    lengths = generated.lengths()[order]
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    where = np.arange(offsets[-1]) + np.repeat(generated.offsets[order] - offsets[:-1], lengths)
    return replace(
        rollouts,
        launches=rollouts.launches[order],
        draw=rollouts.draw[order],
        generated=Suffixes(generated.tokens[where], generated.minutes[where], offsets),
    )


def stay_rows(rows: Rows, expected: Expected | None) -> NDArray[np.int32]:
    """Each row's stay in the cohort, -1 where it has none; in `ids` where there is no cohort."""
    if expected is None:
        return rows.stay
    order = np.argsort(expected.stay_ids, kind="stable")
    place = np.searchsorted(expected.stay_ids, rows.ids, sorter=order)
    of_id = order[np.minimum(place, len(order) - 1)].astype(np.int32)
    of_id[expected.stay_ids[of_id] != rows.ids] = -1
    return of_id[rows.stay]


def launch_keys(stay: NDArray[np.integer], prefix_length: NDArray[np.integer]) -> NDArray[np.int64]:
    return stay.astype(np.int64) << 32 | prefix_length.astype(np.int64)


def sort_order(
    stay: NDArray[np.int32], prefix_length: NDArray[np.int32], draw: NDArray[np.int32]
) -> NDArray[np.int64] | None:
    """What sorts the rows; None where each already comes after the one before it."""
    launch = launch_keys(stay, prefix_length)
    later = (launch[1:] > launch[:-1]) | ((launch[1:] == launch[:-1]) & (draw[1:] > draw[:-1]))
    if later.all():
        return None
    return np.lexsort((draw, launch))
