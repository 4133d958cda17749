"""What a source declares about itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from edsim.progress import Progress
from edsim.tables.extract import Extract
from edsim.tables.published import PublishedRow

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray


class Branching(Protocol):
    """How a source with a known process continues its stays from a launch: the oracle's law."""

    def __call__(
        self,
        options: Mapping[str, Any],
        version: str,
        stay_ids: NDArray[np.bytes_],
        prefix_lengths: NDArray[np.integer],
        draws: NDArray[np.integer],
        *,
        seed: int,
    ) -> pl.DataFrame:
        """Each stay from the launch row (the last of its prefix) on, drawn afresh after it.

        `options` and `version` are those of the `Extract` the stays came in; what cannot be
        continued with them is refused. One branch for each entry of `stay_ids`, `prefix_lengths`
        and `draws` (which branch of the launch). The answer has the columns of `Extract.events`,
        `stay` being the place of the branch.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A kind of raw data: `options` are the flags of `edsim cohort build NAME`."""

    name: str
    title: str
    options: type[Any]
    read: Callable[[Any, Progress], Extract]
    restricted: bool
    """Whether the data are under a use agreement, unless the user says otherwise."""
    vocabularies: tuple[str, ...]
    """The vocabularies a cohort of this source is encoded with by default."""
    published: Callable[[pl.LazyFrame, pl.LazyFrame], list[PublishedRow]] | None = None
    """Published figures beside those of a cohort's (stays, events), where there are any."""
    arrivals: Callable[[pl.DataFrame, Mapping[str, Any]], NDArray[np.datetime64]] | None = None
    """When each of the stays (columns of stays.parquet) arrived, on one clock for all patients,
    given the options the cohort was built with; None where there is no such clock."""
    no_common_clock: str = ""
    """Why there is none, as a clause."""
    branch: Branching | None = None
    """The process behind the visits, where it is known; only then is there an oracle."""
