"""Columns of a Parquet that somebody else may have written: looked at, then numpy arrays."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from edsim.errors import BadTableError
from edsim.tables.rollouts_header import SEE
from edsim.tables.rollouts_rows import Ids

if TYPE_CHECKING:
    import pyarrow as pa

Wanted = Mapping[str, tuple[str, Callable[[Any], bool]]]
"""What each column has to hold: in words, and whether a type will do."""


@contextmanager
def plain_messages(path: Path, noun: str = "rollouts table") -> Iterator[None]:
    """What pyarrow raises for a file that is none, as one message (its own may quote the file)."""
    import pyarrow as pa

    try:
        yield
    except FileNotFoundError:
        raise BadTableError(f"there is no {noun} at '{path}'.") from None
    except (PermissionError, IsADirectoryError) as error:
        reason = os.strerror(error.errno or 0).lower()
        raise BadTableError(f"'{path}' cannot be read: {reason}.") from None
    except (pa.ArrowException, OSError, ValueError, KeyError) as error:
        raise BadTableError(
            f"{path.name} is not a Parquet file, or it is truncated or damaged "
            f"({type(error).__name__}). Copy or write it again; a CSV must be named *.csv or "
            "*.csv.gz."
        ) from None


def check_columns(schema: pa.Schema, wanted: Wanted, name: str, see: str = SEE) -> None:
    """Raise unless each column is there and of a type that will do."""
    missing = [column for column in wanted if column not in schema.names]
    if missing:
        raise BadTableError(
            f"{name} has no column {', '.join(missing)}. It needs {', '.join(wanted)}. {see}"
        )
    for column, (kind, fits) in wanted.items():
        if not fits(schema.field(column).type):
            raise BadTableError(
                f"column {column} of {name} is of type {schema.field(column).type}; expected "
                f"{kind}. Write it with that type. {see}"
            )


def is_text(kind: Any) -> bool:
    """Text, as categories too."""
    import pyarrow.types as is_

    if is_.is_dictionary(kind):
        kind = kind.value_type
    return bool(is_.is_string(kind) or is_.is_large_string(kind))


def is_integer(kind: Any) -> bool:
    """Whole numbers of any width."""
    import pyarrow.types as is_

    return bool(is_.is_integer(kind))


def is_number(kind: Any) -> bool:
    """Floating-point numbers of any width."""
    import pyarrow.types as is_

    return bool(is_.is_floating(kind))


def is_list_of_integers(kind: Any) -> bool:
    """Lists of whole numbers."""
    import pyarrow.types as is_

    return bool((is_.is_list(kind) or is_.is_large_list(kind)) and is_integer(kind.value_type))


def is_list_of_numbers(kind: Any) -> bool:
    """Lists of floating-point numbers."""
    import pyarrow.types as is_

    return bool((is_.is_list(kind) or is_.is_large_list(kind)) and is_.is_floating(kind.value_type))


def check_nulls(table: pa.Table, name: str) -> None:
    """Raise if a row lacks the value of a column."""
    import pyarrow.compute as pc

    for column in table.column_names:
        n, first = table[column].null_count, 0
        if n:
            first = pc.index(pc.is_null(table[column]), True).as_py() + 1
            raise BadTableError(
                f"{n:,} of {table.num_rows:,} rows of {name} have no {column} (null), first row "
                f"{first:,}. Every row needs every column."
            )


def distinct(column: pa.ChunkedArray) -> tuple[Ids, NDArray[np.int32]]:
    """The distinct texts as UTF-8, sorted, and the place of each row's own."""
    import pyarrow as pa

    whole = column.unify_dictionaries().combine_chunks()
    if isinstance(whole, pa.ChunkedArray):
        whole = whole.chunk(0) if whole.num_chunks else pa.array([], column.type)
    if not pa.types.is_dictionary(whole.type):
        whole = whole.dictionary_encode()
    names = np.array([text.encode() for text in whole.dictionary.to_pylist()], dtype=np.bytes_)
    place = whole.indices.to_numpy()
    used = np.bincount(place, minlength=len(names)) > 0
    ids, of_used = np.unique(names[used], return_inverse=True)
    of_name = np.full(len(names), -1, dtype=np.int32)
    of_name[used] = of_used
    return ids, of_name[place]


def int32(table: pa.Table, which: str, name: str) -> NDArray[np.int32]:
    """A column of whole numbers."""
    values: NDArray[np.integer] = table[which].to_numpy()
    if len(values) and (values.max() >= 2**31 or values.min() < -(2**31)):
        raise BadTableError(f"column {which} of {name} has numbers beyond 32 bits.")
    return values.astype(np.int32, copy=False)
