"""Rollouts files of any form, by their ending, checked against a cohort."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from edsim.cohort.manifest import MANIFEST_FILE
from edsim.encoding.vocabulary import Vocabulary
from edsim.errors import BadInputError, BadTableError
from edsim.lab.beside_truth import expected_of
from edsim.lab.cohort import Cohort
from edsim.lab.few_people import sayable
from edsim.lab.launch_sets import found_launch_set
from edsim.lab.trajectories import read_trajectories, write_trajectories
from edsim.tables.rollouts import Rollouts, RolloutsHeader
from edsim.tables.rollouts_check import checked
from edsim.tables.rollouts_csv import header_beside, read_csv_rows, write_csv
from edsim.tables.rollouts_file import read_rows, write_rollouts
from edsim.tables.rollouts_meds import HEADER_FILE
from edsim.tables.rollouts_rows import Rows

CSV = (".csv", ".csv.gz")
PARQUET = (".parquet",)


def read_rows_of(
    path: Path, cohort: Cohort, vocabulary: str | None = None, cap: int | None = None
) -> Rows:
    """The rows as they stand in the file, readable but not yet checked against the cohort.

    `vocabulary` and `cap` are those of a file that says nothing of itself.
    """
    if path.name.endswith(CSV):
        return read_csv_rows(path, foreign_header(path, cohort, vocabulary, cap))
    if path.name.endswith(PARQUET):
        return read_rows(path)
    if path.is_dir():
        foreign = foreign_header(path, cohort, vocabulary, cap)
        assert foreign is not None
        return read_trajectories(path, cohort, foreign)
    raise BadInputError(
        f"'{path.name}' is no rollouts file by its name: expected .rollouts.parquet, .csv, "
        ".csv.gz, or a folder of MEDS trajectories."
    )


def read_any(
    path: Path, cohort: Cohort, vocabulary: str | None = None, cap: int | None = None
) -> Rollouts:
    """The rollouts of a file that fits the cohort; anything else is refused.

    Where the file does not say which launch set it holds, its launches do.
    """
    try:
        rows = read_rows_of(path, cohort, vocabulary, cap)
        name = vocabulary_of(rows, cohort, vocabulary)
        table = checked(rows, expected_of(cohort, name))
    except BadTableError as error:
        raise BadTableError(sayable(str(error), cohort)) from error
    if table.header.launches:
        return table
    found = found_launch_set(table.launches[table.draw == 0], cohort)
    return replace(table, header=replace(table.header, launches=found or ""))


def write_any(rollouts: Rollouts, path: Path, cohort: Cohort) -> None:
    """Write rollouts in the form that the ending names."""
    stay_ids = cohort.visits(rollouts.header.vocabulary).stay_ids
    assert stay_ids is not None
    if path.name.endswith(CSV):
        write_csv(rollouts, path, stay_ids)
    elif path.name.endswith(PARQUET):
        write_rollouts(rollouts, path, stay_ids)
    elif not path.suffix:
        write_trajectories(rollouts, path, cohort)
    else:
        raise BadInputError(
            f"'{path.name}' should end in .rollouts.parquet, .csv or .csv.gz, or have no ending "
            "for a folder of MEDS trajectories."
        )


def vocabulary_of(rows: Rows, cohort: Cohort, vocabulary: str | None) -> str:
    """The vocabulary to read rows in: as asked, as the file says, or the cohort's first."""
    said = rows.header.vocabulary
    if vocabulary is None and said in cohort.manifest.vocabularies:
        return said
    return cohort.vocabulary_name(vocabulary)


def foreign_header(
    path: Path, cohort: Cohort, vocabulary: str | None, cap: int | None = None
) -> RolloutsHeader | None:
    """What is taken for granted of a text file that says nothing of itself; None if it does."""
    if header_beside(path) is not None:
        return None
    chosen: Vocabulary = cohort.vocabulary(vocabulary)
    manifest = cohort.manifest
    return RolloutsHeader(
        producer=path.name,
        rule="unknown",
        clock="unknown",
        cap=manifest.cap if cap is None else cap,
        vocabulary=chosen.name,
        vocabulary_sha256=chosen.sha256,
        tokens=chosen.tokens,
        cohort_id=manifest.cohort_id,
        content_hash=manifest.content_hash,
        restricted=manifest.restricted,
    )


def is_file(name: str) -> bool:
    """Whether a name is that of a rollouts file, or a folder of them, and not of a producer."""
    if name.endswith((*CSV, *PARQUET)):
        return True
    folder = Path(name)
    if not name or not folder.is_dir() or (folder / MANIFEST_FILE).exists():
        return False
    tables = (any(folder.glob(pattern)) for pattern in ("*.parquet", "*/*.parquet"))
    return (folder / HEADER_FILE).is_file() or any(tables)
