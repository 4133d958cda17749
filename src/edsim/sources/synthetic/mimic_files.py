"""The visits as raw files: MIMIC-IV-ED 2.2, MIMICEL 2.1.0 and the hosp table of patients.

    DIRECTORY/ed/{edstays,triage,vitalsign,medrecon,pyxis,diagnosis}.csv
    DIRECTORY/hosp/patients.csv
    DIRECTORY/mimicel.csv

Written a chunk of stays at a time. Rows stand in drawn order in every file, so a stable sort by
time and activity gives back the drawn sequence.
"""

from __future__ import annotations

from pathlib import Path

from edsim.progress import Progress
from edsim.sources.synthetic import SyntheticOptions
from edsim.sources.synthetic.draws import Department, draw_chunks
from edsim.sources.synthetic.mimic_tables import FILES, mimic_tables
from edsim.sources.synthetic.raw_files import raw_files
from edsim.sources.synthetic.reading import check_options

CHUNK = 16_384
TIME_FORMAT = "%Y-%m-%d %H:%M:%S"


def write_mimic(
    directory: Path, options: SyntheticOptions, progress: Progress, *, compress: bool = False
) -> None:
    """Write the visits of `options` under `directory`, as `.csv` or `.csv.gz`.

    The directory may be there but must not hold any of the files. Who calls gives a temporary one
    and renames it when this returns.
    """
    check_options(options)
    department = Department(seed=options.seed, drift=options.drift)
    progress.stage("writing MIMIC files", options.stays, "stays")
    with raw_files(directory, FILES, time_format=TIME_FORMAT, compress=compress) as files:
        for drawn in draw_chunks(department, options.stays, CHUNK):
            for name, frame in mimic_tables(drawn, options).items():
                files.append(name, frame)
            progress.advance(len(drawn.numbers))
