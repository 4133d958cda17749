"""A MEDS dataset on disk: its files, their schema, and a message where they are not as they must.

Shards are opened one at a time and lazily; the rules that MEDS sets across files (one subject in
one file) are checked by `reading`, which sees them all.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from edsim.errors import BadInputError
from edsim.progress import Progress
from edsim.sources.files import look_at
from edsim.sources.meds import layout
from edsim.tables.extract import RawFile

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, slots=True)
class Dataset:
    """The files of a dataset; shards in the order of their names."""

    directory: Path
    shards: tuple[Path, ...]
    columns: tuple[str, ...]
    """Of the first shard; every other one is held to those that are used."""

    def name(self, path: Path) -> str:
        """A file as messages call it."""
        return path.relative_to(self.directory).as_posix()

    def raw_files(self, progress: Progress) -> tuple[RawFile, ...]:
        """Every file that decides the content, with its hash."""
        metadata = [
            self.directory / name
            for name in (layout.SPLITS_FILE, layout.STAYS_FILE, layout.FACTS_FILE)
        ]
        found = [path for path in metadata if path.exists()]
        looked = ((p, look_at(p, role="MEDS", progress=progress)) for p in (*self.shards, *found))
        return tuple(
            RawFile(role="MEDS", name=self.name(path), n_bytes=raw.n_bytes, sha256=raw.sha256)
            for path, raw in looked
        )

    def scan(self, shard: Path, columns: Sequence[str]) -> pl.LazyFrame:
        """The wanted columns of one shard, its schema checked."""
        lazy, schema = _opened(shard, self.name(shard))
        _check_schema(schema, columns, self.name(shard))
        return lazy.select(columns)

    def collect(self, lazy: pl.LazyFrame, shard: Path) -> pl.DataFrame:
        """Run a query over `scan`."""
        import polars as pl

        try:
            return lazy.collect()
        except (OSError, pl.exceptions.PolarsError) as error:
            raise _not_parquet(self.name(shard), error) from None

    def table(self, name: str, columns: Sequence[str]) -> pl.DataFrame | None:
        """A metadata table; None where it is not there."""
        path = self.directory / name
        if not path.exists():
            return None
        lazy, schema = _opened(path, name)
        missing = [column for column in columns if column not in schema]
        if missing:
            raise BadInputError(f"{name} has no column {', '.join(missing)}.")
        return self.collect(lazy.select(columns), path)

    def facts(self) -> dict[str, Any]:
        """What metadata/edsim.json says; empty where it is not there."""
        path = self.directory / layout.FACTS_FILE
        if not path.exists():
            return {}
        try:
            facts = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            facts = None
        if not isinstance(facts, dict):
            raise BadInputError(f"{layout.FACTS_FILE} is damaged: it is no JSON object.")
        return facts


def open_dataset(directory: Path) -> Dataset:
    """The dataset in a folder, or what is wrong with the folder."""
    if not directory.is_dir():
        raise BadInputError(f"there is no folder at '{directory}'.")
    if not (directory / layout.DATA).is_dir():
        raise BadInputError(
            f"'{directory}' is not a MEDS dataset: it has no folder {layout.DATA}. Name the folder "
            "that holds data/ and metadata/."
        )
    shards = tuple(sorted((directory / layout.DATA).rglob("*.parquet")))
    if not shards:
        raise BadInputError(f"there is no Parquet file in '{directory / layout.DATA}'.")
    _, schema = _opened(shards[0], shards[0].relative_to(directory).as_posix())
    return Dataset(directory, shards, tuple(schema.names()))


def _opened(path: Path, name: str) -> tuple[pl.LazyFrame, pl.Schema]:
    import polars as pl

    try:
        lazy = pl.scan_parquet(path, glob=False)
        return lazy, lazy.collect_schema()
    except (OSError, pl.exceptions.PolarsError) as error:
        raise _not_parquet(name, error) from None


def _check_schema(schema: pl.Schema, columns: Sequence[str], name: str) -> None:
    """MEDS 0.4 for the columns it defines, no nesting for the others."""
    import polars as pl

    for column in columns:
        if column not in schema:
            raise BadInputError(f"{name} has no column '{column}'. It has {', '.join(schema)}.")
        if schema[column].is_nested():
            raise BadInputError(f"the column '{column}' of {name} holds lists or structures.")
    right = {
        "subject_id": schema["subject_id"] == pl.Int64,
        "time": schema["time"] == pl.Datetime("us"),
        "code": schema["code"] in (pl.String, pl.Categorical, pl.Enum),
    }
    for column, is_right in right.items():
        if not is_right:
            raise BadInputError(
                f"the column '{column}' of {name} holds {schema[column]}, which is not what MEDS "
                "0.4 has there (subject_id int64, time timestamp[us] without a zone, code string). "
                "Write the dataset again for MEDS 0.4."
            )


def _not_parquet(name: str, error: Exception) -> BadInputError:
    return BadInputError(
        f"{name} cannot be read as Parquet ({type(error).__name__}): it is damaged, cut short or "
        "something else. Write it again."
    )
