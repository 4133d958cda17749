"""MC-MED from its files to an `Extract`: open, read, choose the visits, put in order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from edsim.progress import Progress
from edsim.sources.assemble import number_stays, order_events
from edsim.sources.files import need
from edsim.sources.mcmed import events, labels
from edsim.sources.mcmed.eligibility import choose
from edsim.sources.mcmed.options import McmedOptions
from edsim.sources.mcmed.rows import Events, Folder
from edsim.sources.mcmed.splits import read_splits
from edsim.sources.mcmed.visits import read_visits
from edsim.sources.vital_limits import Limits, read_limits
from edsim.tables.extract import Extract

if TYPE_CHECKING:
    import polars as pl

VERSION = "1.0.1"
CAP = 512
"""The published cap; other grains of events ask for the 99.9th percentile rule."""

FILES = ("visits", "orders", "labs", "rads", "numerics")
"""The files that are read."""


def extract(options: McmedOptions, progress: Progress) -> Extract:
    """The stays and harmonised events of the files in `options.data`."""
    import polars as pl

    limits = read_limits(options.limits)
    for name in FILES:  # what is missing is said at once and not after an hour
        need(options.data, name)
    folder = Folder(path=options.data, progress=progress)
    visits = read_visits(folder, limits)
    _report_missing_acuity(visits, folder)
    if options.splits:
        visits = read_splits(folder, options.splits, visits)
    files = Events(folder=folder, visits=visits, drop_unknown=options.drop_unknown)
    stream = pl.concat(
        [
            *events.of_visits(visits),
            *events.of_orders(files),
            *events.of_labs(files, options.labs),
            *events.of_rads(files),
            *events.of_numerics(files, limits),
        ]
    )
    progress.stage("putting events in order", stream.height, "events")
    visits, stream, steps = choose(visits, stream)
    stays = number_stays(visits, name="visits.csv")
    named = stream.join(visits.select("visit", "stay_id"), on="visit", maintain_order="left")
    # An Enum sorts by its list, so the activity is the tie rule; rows come in the order of files.
    ordered = order_events(named, stays, ties=("activity",), name="MC-MED")
    progress.advance(stream.height)
    return Extract(
        source="mcmed",
        version=VERSION,
        stays=stays,
        events=ordered,
        steps=steps,
        raw_files=tuple(folder.raw_files),
        options=_settings(options, limits),
        notices=tuple(folder.notices),
        triage_activity=labels.TRIAGE,
        cap=CAP if options.labs == "component" else None,
        time_of_day=False,  # patients' clocks were shifted by amounts that need not be whole days
    )


def _report_missing_acuity(visits: pl.DataFrame, folder: Folder) -> None:
    n_without = visits["acuity"].null_count()
    if n_without:
        folder.notices.append(
            f"{n_without} of {visits.height} visits have no acuity from 1 to 5 recorded."
        )


def _settings(options: McmedOptions, limits: Mapping[str, Limits]) -> dict[str, Any]:
    """What decided the content, for the cohort's manifest."""
    return {
        "splits": options.splits,
        "labs": options.labs,
        "drop_unknown": options.drop_unknown,
        "limits": {
            name: {"normal": list(limit.normal), "valid": list(limit.valid)}
            for name, limit in limits.items()
        },
    }
