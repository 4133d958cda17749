"""MC-MED's own split files: one column of visits and no header, `split_<kind>_<part>.csv`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from edsim.errors import BadInputError
from edsim.sources.files import need, open_table
from edsim.sources.mcmed.rows import Folder

if TYPE_CHECKING:
    import polars as pl

Kind = Literal["random", "chrono"]
PARTS = ("train", "val", "test")


def read_splits(folder: Folder, kind: Kind, visits: pl.DataFrame) -> pl.DataFrame:
    """`visits` with their part in `split`, null in none of the files.

    A visit in two parts and a patient in two parts are refused: such a split proves nothing.
    """
    import polars as pl

    paths = {part: need(folder.path, f"split_{kind}_{part}") for part in PARTS}
    frames = [_read_part(folder, path, part) for part, path in paths.items()]
    given = pl.concat(frames)
    names = f"split_{kind}_*.csv"
    n_double = given.height - given["stay_id"].n_unique()
    if n_double:
        raise BadInputError(
            f"{n_double} visits are in more than one of the files {names}. Every visit belongs to "
            "one part: compare the files with their published checksums."
        )
    visits = visits.join(given, on="stay_id", how="left", maintain_order="left")
    _refuse_torn_patients(visits, names)
    folder.notices.extend(_notices(visits, given, names))
    return visits


def _read_part(folder: Folder, path: Path, part: str) -> pl.DataFrame:
    """The visits of one file. The first line is a visit too, unless it is the word CSN."""
    import polars as pl

    table = open_table(
        path, role=f"split {part}", required=(), progress=folder.progress, allow_empty=True
    )
    if len(table.columns) != 1:
        raise BadInputError(
            f"{table.raw.name} has {len(table.columns)} columns; a split file is one column of "
            "visits (CSN) without a header."
        )
    folder.raw_files.append(table.raw)
    lines = [*table.columns, *table.collect(table.scan()).to_series().drop_nulls()]
    ids = {line.strip() for line in lines} - {"", "CSN"}
    return pl.DataFrame(
        {"stay_id": sorted(ids), "split": part}, schema_overrides={"stay_id": pl.String}
    )


def _refuse_torn_patients(visits: pl.DataFrame, names: str) -> None:
    import polars as pl

    parts = visits.group_by("subject_id").agg(pl.col("split").drop_nulls().n_unique())
    n_torn = int((parts["split"] > 1).sum())
    if n_torn:
        raise BadInputError(
            f"{n_torn} of {parts.height} patients have visits in more than one of the files "
            f"{names}. A patient belongs to one part: compare the files with their published "
            "checksums, or leave --splits away."
        )


def _notices(visits: pl.DataFrame, given: pl.DataFrame, names: str) -> list[str]:
    n_unknown = given.join(visits, on="stay_id", how="anti").height
    n_without = visits["split"].null_count()
    sentences = {
        f"{n_unknown} visits of the files {names} are not in visits.csv.": n_unknown,
        f"{n_without} of {visits.height} visits are in none of the files {names}.": n_without,
    }
    return [sentence for sentence, n in sentences.items() if n]
