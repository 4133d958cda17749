"""The oracle's events: visits continued from a launch row by the very process they came from.

A branch keeps all that was drawn before the launch row was written and draws the rest afresh, so
that prefix and branch have exactly the law of prefix and observed suffix (docs/synthetic.md). What
is decided for a stay as a whole, such as an acuity of 5 where the process says 4-5, was drawn with
the stay and stays; medicines that are dispensed after the launch get their names afresh.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from edsim import seeds
from edsim.errors import BadCohortError
from edsim.sources.synthetic import SyntheticOptions
from edsim.sources.synthetic.calendar import Numbers
from edsim.sources.synthetic.draws import Department, Drawn, branch_keys, branch_with_keys
from edsim.sources.synthetic.medicines import name_keys
from edsim.sources.synthetic.reading import (
    ACTIVITY_OF_TOKEN,
    DISPENSE_CODE,
    VERSION,
    as_events,
    label_codes,
    labels,
    stay_numbers,
)

if TYPE_CHECKING:
    import polars as pl


def department_of(options: Mapping[str, Any], version: str) -> Department:
    """The department a cohort's visits were drawn from; one that cannot be branched is refused."""
    if version != VERSION:
        raise BadCohortError(
            f"the cohort's visits were drawn by '{version}' of the synthetic emergency department, "
            f"and this version of edsim draws '{VERSION}'. Build the cohort again to continue them."
        )
    try:
        known = SyntheticOptions(**options)
    except TypeError:
        raise BadCohortError(
            "the cohort was built with options that this version of edsim cannot branch "
            f"({', '.join(options)}): its visits may not be those of the process. Build the cohort "
            "again without them."
        ) from None
    return Department(seed=known.seed, drift=known.drift)


def branch_events(
    department: Department,
    stay_ids: NDArray[np.bytes_],
    prefix_lengths: NDArray[np.integer],
    draws: NDArray[np.integer],
    *,
    seed: int,
) -> pl.DataFrame:
    """Branches as events, the launch row first; see `sources.source.Branching`."""
    numbers = stay_numbers(stay_ids.astype(np.int64))
    lengths = prefix_lengths.astype(np.int64)
    keys = branch_keys(numbers, lengths, seed=seed, draw=draws.astype(np.int64))
    names = name_keys(seed, keys.view(np.int64))
    return events_with_keys(department, numbers, lengths, keys, names)


def events_with_keys(
    department: Department,
    numbers: Numbers,
    prefix_lengths: Numbers,
    stream_keys: seeds.U64Array,
    fresh_names: seeds.U64Array,
) -> pl.DataFrame:
    """Branches that go on with these keys; with the stays' own keys they are the originals."""
    import polars as pl

    drawn = branch_with_keys(department, numbers, prefix_lengths, stream_keys)
    place = np.repeat(np.arange(len(numbers)), np.diff(drawn.offsets))
    launch_rows = drawn.offsets[:-1] + prefix_lengths - 1
    own_names = name_keys(department.seed, numbers)
    fresh = _begun_after(drawn, place, launch_rows)
    names = np.where(fresh, fresh_names[place], own_names[place])
    stays = pl.DataFrame(label_codes(drawn, department.seed))
    # whole stays are labelled: a medicine's second class row is known by the row before it
    details, flags = labels(drawn, stays, department.seed, place, names)
    kept = np.flatnonzero(np.arange(len(drawn.rows)) >= launch_rows[place])
    return as_events(drawn.rows[kept], place[kept], details[kept], flags[kept])


def _begun_after(drawn: Drawn, place: Numbers, launch_rows: Numbers) -> NDArray[np.bool_]:
    """Which rows belong to no act of dispensing that had begun at the launch.

    Identical rows of one act are of one medicine, also where the launch row stands among them.
    """
    after = np.arange(len(drawn.rows)) > launch_rows[place]
    last = drawn.rows[launch_rows]
    dispensing = ACTIVITY_OF_TOKEN[last["token"]] == DISPENSE_CODE
    same_act = dispensing[place] & (drawn.rows["item"] == last["item"][place])
    return np.asarray(after & ~same_act)
