"""The synthetic emergency department: visits drawn from a known process, no patient behind them.

`process` is the process, `draws` the way to original and branched stays, `attributes` and
`calendar` everything that changes no event, `reading` the cohort's view, `oracle` the true
continuations of its visits, `layouts` the raw files the visits can be written as.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from edsim.progress import Progress
from edsim.sources.source import Source
from edsim.sources.synthetic.layouts import LAYOUTS
from edsim.tables.extract import Extract
from edsim.tables.published import PublishedRow

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

__all__ = ["LAYOUTS", "SOURCE", "SyntheticOptions"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SyntheticOptions:
    """The synthetic emergency department.

    Parameters
    ----------
    stays
        How many visits to draw, from 50 to millions. Visit k is the same however many are drawn.
    seed
        The data seed: another seed is another emergency department of the same kind.
    per_day
        Visits that arrive on one day; decides the distance in days between visits, no event.
    drift
        How far rates move from the first calendar period to the last: 0 is not at all, 1 is
        clearly visible in the temporal table. See docs/synthetic.md for what moves.
    """

    stays: int = 20_000
    seed: int = 1
    per_day: int = 150
    drift: float = 0.0


def read(options: SyntheticOptions, progress: Progress) -> Extract:
    """Draw the visits as a cohort reads them."""
    from edsim.sources.synthetic.reading import read_visits

    return read_visits(options, progress)


def branch(
    options: Mapping[str, Any],
    version: str,
    stay_ids: NDArray[np.bytes_],
    prefix_lengths: NDArray[np.integer],
    draws: NDArray[np.integer],
    *,
    seed: int,
) -> pl.DataFrame:
    """Continue visits from their launch rows by the process they were drawn from."""
    from edsim.sources.synthetic.oracle import branch_events, department_of

    department = department_of(options, version)
    return branch_events(department, stay_ids, prefix_lengths, draws, seed=seed)


def arrivals(stays: pl.DataFrame, options: Mapping[str, Any]) -> NDArray[np.datetime64]:
    """The days of the department itself, before each subject's dates were shifted."""
    import numpy as np

    from edsim.sources.synthetic.calendar import true_days
    from edsim.sources.synthetic.reading import stay_numbers

    shifted = stays["arrival"].to_numpy()
    days = true_days(stay_numbers(stays["stay_id"].to_numpy().astype(np.int64)), options["per_day"])
    return np.asarray(days + (shifted - shifted.astype("datetime64[D]")))


def published(stays: pl.LazyFrame, events: pl.LazyFrame) -> list[PublishedRow]:
    """The published figures of MIMICEL beside those of a synthetic cohort."""
    from edsim.sources.published_mimicel import SYNTHETIC_MISSES, published_figures

    return published_figures(stays, events, known_misses=SYNTHETIC_MISSES)


SOURCE = Source(
    name="synthetic",
    title="a synthetic emergency department with known rates; no patient data needed",
    options=SyntheticOptions,
    read=read,
    restricted=False,
    vocabularies=("ed32", "ed7"),
    published=published,
    arrivals=arrivals,
    branch=branch,
)
