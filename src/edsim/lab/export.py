"""Out of a cohort again: prefixes as text for any tool, and a MEDS dataset."""

from __future__ import annotations

import gzip
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

import numpy as np

from edsim.lab.cohort import Cohort
from edsim.lab.directory import whole_directory
from edsim.progress import Progress, silent
from edsim.tables.visits import Launches
from edsim.tables.whole_file import whole_file

if TYPE_CHECKING:
    import polars as pl

_LAUNCHES_A_PIECE = 20_000


def write_prefixes(
    cohort: Cohort,
    launch_set: str,
    path: Path | str | None,
    *,
    vocabulary: str | None = None,
    progress: Progress = silent,
) -> int:
    """Write the prefixes of a launch set, one row an event; the number of prefixes.

    Columns: stay_id, prefix_length, position, activity (token name), minutes (gap before the
    event). Without a path they go to standard output. A file is there whole or not at all, and
    for its owner alone where the cohort is restricted.
    """
    launches = cohort.launches(launch_set)
    cohort.vocabulary_name(vocabulary)  # refused before the first byte is written
    progress.stage("writing prefixes", len(launches), "prefixes")
    with _whole_text(Path(path) if path else None, restricted=cohort.manifest.restricted) as stream:
        stream.write(b"stay_id,prefix_length,position,activity,minutes\n")
        for rows in _prefix_rows(cohort, launches, vocabulary, progress):
            stream.write(rows.write_csv(include_header=False).encode())
    return len(launches)


def _prefix_rows(
    cohort: Cohort, launches: Launches, vocabulary: str | None, progress: Progress
) -> Iterator[pl.DataFrame]:
    import polars as pl

    visits = cohort.visits(vocabulary)
    ids = cohort.stays()["stay_id"]
    names = pl.Series(cohort.vocabulary(vocabulary).tokens)
    for first in range(0, len(launches), _LAUNCHES_A_PIECE):
        piece = np.asarray(launches[first : first + _LAUNCHES_A_PIECE])
        prefixes = visits.prefixes(piece)
        lengths = prefixes.lengths()
        within = np.arange(prefixes.offsets[-1]) - np.repeat(prefixes.offsets[:-1], lengths)
        yield pl.DataFrame(
            {
                "stay_id": ids.gather(np.repeat(piece[:, 0], lengths)),
                "prefix_length": np.repeat(piece[:, 1], lengths),
                "position": within + 1,
                "activity": names.gather(prefixes.tokens),
                "minutes": prefixes.minutes,
            }
        )
        progress.advance(len(piece))


@contextmanager
def _whole_text(path: Path | None, *, restricted: bool) -> Iterator[IO[bytes]]:
    """A file to write that appears under its name when all is in it; gzip by its ending."""
    if path is None:
        yield sys.stdout.buffer
        return
    with ExitStack() as closing:
        stream: IO[bytes] = closing.enter_context(whole_file(path, restricted=restricted))
        if path.suffix == ".gz":
            packed = gzip.GzipFile(filename="", fileobj=stream, mode="wb", mtime=0)
            stream = cast(IO[bytes], closing.enter_context(packed))
        yield stream


def export_meds(cohort: Cohort, target: Path | str, progress: Progress = silent) -> None:
    """Write the cohort as a MEDS 0.4 dataset."""
    from edsim.sources.meds.export import write_meds

    with whole_directory(target) as directory:
        manifest = cohort.manifest
        write_meds(
            cohort.stays(),
            cohort.scan_events(),
            directory,
            restricted=manifest.restricted,
            name=manifest.cohort_id,
            facts={
                "triage_activity": manifest.triage_activity,
                "discharges": _discharge_activities(cohort),
                "cap": manifest.cap,
                "time_of_day": manifest.time_of_day,
            },
            progress=progress,
        )


def _discharge_activities(cohort: Cohort) -> list[str]:
    """Activities that are discharges whatever their detail, by name or by the vocabulary."""
    import polars as pl

    vocabulary = cohort.vocabulary()
    kinds = cohort.scan_events().select("activity", "detail", "flag").unique().collect()
    always = (
        vocabulary.assign(kinds)
        .group_by("activity")
        .agg(pl.col("token").is_in(list(vocabulary.discharges)).all().alias("is_discharge"))
        .filter("is_discharge")["activity"]
    )
    return sorted({*cohort.manifest.discharges, *always})
