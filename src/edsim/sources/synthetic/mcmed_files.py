"""The visits of the second process as raw files in the layout of MC-MED 1.0.1.

    DIRECTORY/{visits,orders,labs,rads,meds,pmh,numerics,waveform_summary}.csv
    DIRECTORY/split_{random,chrono}_{train,val,test}.csv

Written a chunk of stays at a time, rows in drawn order in every file, so that the `mcmed` source
gives back the drawn sequences.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from edsim.errors import OutputError
from edsim.progress import Progress
from edsim.sources.synthetic import SyntheticOptions, calendar
from edsim.sources.synthetic.mcmed_draws import draw_chunks
from edsim.sources.synthetic.mcmed_reading import visit_ids
from edsim.sources.synthetic.mcmed_tables import FILES, mcmed_tables
from edsim.sources.synthetic.mcmed_visits import VisitNumbers, split_parts
from edsim.sources.synthetic.raw_files import raw_files
from edsim.sources.synthetic.reading import check_options

TIME_FORMAT = "%Y-%m-%dT%H:%M:%SZ"


def write_mcmed(
    directory: Path, options: SyntheticOptions, progress: Progress, *, compress: bool = False
) -> None:
    """Write the visits of `options` under `directory`, as `.csv` or `.csv.gz`.

    The directory may be there but must not hold any of the files. Who calls gives a temporary one
    and renames it when this returns.
    """
    check_options(options)
    if options.drift:
        progress.notice("--drift moves nothing in this layout: its process has no periods.")
    subjects = calendar.first_stays(options.seed, np.arange(options.stays))
    visit_numbers = VisitNumbers.count(subjects)
    progress.stage("writing MC-MED files", options.stays, "stays")
    with raw_files(directory, FILES, time_format=TIME_FORMAT, compress=compress) as files:
        for drawn in draw_chunks(options.seed, options.stays):
            for name, frame in mcmed_tables(drawn, options, visit_numbers).items():
                files.append(name, frame)
            progress.advance(len(drawn.numbers))
    splits = {
        f"split_{kind}_{part}": split_parts(kind, options.seed, subjects) == place
        for kind in ("random", "chrono")
        for place, part in enumerate(("train", "val", "test"))
    }
    _write_splits(directory, splits)


def _write_splits(directory: Path, splits: Mapping[str, NDArray[np.bool_]]) -> None:
    """One column of visits and no header, as the release has them."""
    for name, chosen in splits.items():
        ids = visit_ids(np.flatnonzero(chosen)).alias("CSN").to_frame()
        try:
            ids.write_csv(directory / f"{name}.csv", include_header=False)
        except OSError as error:
            raise OutputError(
                f"the files cannot be written to '{directory}': {error.strerror or error}."
            ) from None
