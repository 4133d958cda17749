"""Any event log: CSV, Parquet or XES, with a column for the case, the activity and the time.

A case is a stay. Which column is which is said by flags or guessed from the standard names
(`columns`), times become UTC (`clock`), and nothing is known about what an activity means: the
vocabulary is made from the activities that occur.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from edsim.progress import Progress
from edsim.sources.eventlog.options import EventLogOptions
from edsim.sources.source import Source
from edsim.tables.extract import Extract

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray


def read(options: EventLogOptions, progress: Progress) -> Extract:
    """The stays and events of the log, in the form every source hands on."""
    from edsim.sources.eventlog import reading

    return reading.read(options, progress)


def arrivals(stays: pl.DataFrame, options: Mapping[str, Any]) -> NDArray[np.datetime64]:
    """The first events of the cases, whose times are taken for what they say."""
    return stays["arrival"].to_numpy()


SOURCE = Source(
    name="eventlog",
    title="any event log: CSV, Parquet or XES",
    options=EventLogOptions,
    read=read,
    restricted=True,
    vocabularies=("activities",),
    arrivals=arrivals,
)
