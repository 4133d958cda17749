"""What has to be true of a rollouts table, found all at once, and the table joined to its cohort.

A file becomes `Rows`, which promise nothing; `find_faults` says everything that is wrong with
them; `checked` raises with the first fault or gives `Rollouts`. No sentence holds an identifier.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from edsim.errors import BadTableError
from edsim.tables.rollouts import Rollouts, RolloutsHeader
from edsim.tables.rollouts_fault import Fault, of_rows
from edsim.tables.rollouts_rows import (
    Expected,
    Rows,
    in_order,
    launch_keys,
    sort_order,
    stay_rows,
)
from edsim.tables.rollouts_suffix_check import suffix_faults
from edsim.tables.visits import Suffixes

ROW_KEY = "(stay_id, prefix_length, draw)"


def checked(rows: Rows, expected: Expected | None = None) -> Rollouts:
    """The rows as rollouts, sorted; `BadTableError` with the first fault where there is one.

    Without `expected` the stay rows are places in `rows.ids`; with it, rows of the cohort.
    """
    faults = find_faults(rows, expected)
    if faults:
        more = len(faults) - 1
        kinds = "kind of fault follows" if more == 1 else "kinds of fault follow"
        also = f" ({more} more {kinds}.)" if more else ""
        raise BadTableError(f"{rows.name}: {faults[0].sentence}{also}")
    header = rows.header if expected is None else _completed(rows.header, expected)
    stay = stay_rows(rows, expected)
    launches = np.stack([stay, rows.prefix_length], axis=1).astype(np.int32)
    generated = Suffixes(rows.tokens.astype(np.int16, copy=False), rows.minutes, rows.offsets)
    return in_order(Rollouts(header, launches, rows.draw, generated))


def find_faults(rows: Rows, expected: Expected | None = None) -> list[Fault]:
    """Everything that is wrong with the rows, the most telling first."""
    if not len(rows):
        return [Fault("no_rows", "the table has no rows.")]
    faults = [] if expected is None else _cohort_faults(rows.header, expected)
    faults += _launch_faults(rows, expected)
    faults += suffix_faults(rows, _n_tokens(rows.header, expected))
    return faults


def _n_tokens(header: RolloutsHeader, expected: Expected | None) -> int:
    """How many tokens there are; as many as fit where nobody says."""
    known = expected.tokens if expected is not None and expected.tokens else header.tokens
    return len(known) or 2**15


def _completed(header: RolloutsHeader, expected: Expected) -> RolloutsHeader:
    """The header with what a foreign tool did not know of the cohort."""
    restricted = header.restricted or expected.restricted
    known = {
        name: getattr(expected, name)
        for name in ("vocabulary", "vocabulary_sha256", "tokens", "cohort_id", "content_hash")
        if not getattr(header, name)
    }
    return replace(header, restricted=restricted, **known)


def _cohort_faults(header: RolloutsHeader, expected: Expected) -> list[Fault]:
    faults = []
    if header.content_hash and expected.content_hash not in ("", header.content_hash):
        faults.append(
            Fault(
                "cohort",
                "the rollouts were made for another cohort, or the cohort was built anew since "
                "(content hashes differ). Name the cohort they were made for, or roll out again.",
            )
        )
    if not (header.vocabulary_sha256 or header.tokens):
        faults.append(
            Fault(
                "vocabulary",
                "the header says nothing about the vocabulary, so its token numbers mean nothing. "
                "Write the token names, in the order of their numbers, into `tokens`.",
            )
        )
        return faults
    same = all(
        not said or not known or said == known
        for said, known in (
            (header.vocabulary, expected.vocabulary),
            (header.vocabulary_sha256, expected.vocabulary_sha256),
            (header.tokens, expected.tokens),
        )
    )
    if not same:
        faults.append(
            Fault(
                "vocabulary",
                "the rollouts were made under another vocabulary, or another version of it (names, "
                "hashes or token names differ). Choose the cohort's vocabulary that they were made "
                "with, or roll out again.",
            )
        )
    return faults


def _launch_faults(rows: Rows, expected: Expected | None) -> list[Fault]:
    stay = stay_rows(rows, expected)
    unknown = stay < 0
    length = rows.prefix_length
    longest = np.full(len(rows), np.iinfo(np.int32).max, dtype=np.int64)
    if expected is not None:
        longest[~unknown] = expected.n_events[stay[~unknown]]
    faults = [
        *of_rows(
            rows,
            "unknown_stay",
            unknown,
            "name a stay that the cohort does not have",
            "Ids are text and must be written exactly as in the prefixes (a spreadsheet may have "
            "taken them for numbers).",
        ),
        *of_rows(
            rows,
            "prefix_length",
            (length < 1) | (length > longest),
            "have a prefix length outside 1 to the stay's number of events",
            "Take stay_id and prefix_length from the prefixes as they are.",
        ),
        *of_rows(
            rows,
            "draw",
            (rows.draw < 0) | (rows.draw >= rows.header.draws),
            f"have a draw outside 0 to {rows.header.draws - 1}",
            "Draws count from 0; `draws` in the header says how many each launch has.",
        ),
        *_duplicates(rows),
    ]
    if not faults:  # only now can launches be counted
        faults = [*_missing_draws(rows), *_launch_set_faults(rows, stay, expected)]
    return faults


def _duplicates(rows: Rows) -> list[Fault]:
    order = sort_order(rows.stay, rows.prefix_length, rows.draw)
    if order is None:
        return []
    columns = (rows.stay[order], rows.prefix_length[order], rows.draw[order])
    again = np.logical_and.reduce([c[1:] == c[:-1] for c in columns])
    found = np.zeros(len(rows), dtype=bool)
    found[order[1:][again]] = True
    return of_rows(
        rows,
        "duplicate",
        found,
        f"repeat the {ROW_KEY} of an earlier row",
        "Write every launch once per draw, and number the draws 0, 1, ... .",
    )


def _missing_draws(rows: Rows) -> list[Fault]:
    """Launches with fewer rows than draws; what rows there are is known to be distinct."""
    launches, first, n = np.unique(
        launch_keys(rows.stay, rows.prefix_length), return_index=True, return_counts=True
    )
    short = n < rows.header.draws
    if not short.any():
        return []
    at = np.zeros(len(rows), dtype=bool)
    at[first[short]] = True
    return [
        Fault(
            "missing_draws",
            f"{short.sum():,} of {len(launches):,} launches have fewer than the "
            f"{rows.header.draws} draws that the header promises or other launches have, first "
            f"the launch of {rows.first(at)}. Write every draw of every launch.",
        )
    ]


def _launch_set_faults(
    rows: Rows, stay: NDArray[np.int32], expected: Expected | None
) -> list[Fault]:
    if expected is None or expected.launches is None:
        return []
    promised = launch_keys(expected.launches[:, 0], expected.launches[:, 1])
    here = launch_keys(stay, rows.prefix_length)
    given = np.unique(here)
    faults = []
    missing = ~np.isin(promised, given)
    if missing.any():
        faults.append(
            Fault(
                "missing_launches",
                f"{missing.sum():,} of the {len(promised):,} launches of the launch set have no "
                f"rollout, first launch {int(missing.argmax()) + 1:,} of the set. Continue every "
                "prefix; one that cannot be continued makes the table incomparable.",
            )
        )
    if len(given) + missing.sum() > len(promised):
        faults += of_rows(
            rows,
            "foreign_launch",
            ~np.isin(here, promised),
            "continue a launch that is not in the launch set",
            "Name the launch set that the prefixes were written for.",
        )
    return faults
