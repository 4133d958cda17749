"""The content hash: what a cohort says, whatever file or machine it was read on.

SHA-256 over the columns of stays and events in their documented order, each in one plain byte
form: numbers little-endian with a mask of what is missing, texts as codes into their own sorted
list. Parquet versions, raw file formats and the order in which texts were first met do not enter.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import polars as pl


def content_hash(stays: pl.DataFrame, events: pl.DataFrame) -> str:
    """The hash of `stays` (columns of stays.parquet) and `events` (columns of the contract)."""
    digest = hashlib.sha256()
    for name, frame in (("stays", stays), ("events", events)):
        for column in frame.get_columns():
            digest.update(f"{name}.{column.name}:{column.len()}\n".encode())
            _add(digest, column)
    return digest.hexdigest()


def coded(column: pl.Series) -> tuple[NDArray[np.int32], list[str]]:
    """A text column as codes into the sorted list of its values; -1 where it is missing."""
    import polars as pl

    if column.dtype == pl.String:
        column = column.cast(pl.Categorical)
    physical = column.to_physical().fill_null(0).to_numpy()
    n_physical = int(physical.max(initial=0)) + 1
    first = np.full(n_physical, -1, dtype=np.int64)
    missing = column.is_null().to_numpy()
    present = np.flatnonzero(~missing)
    first[physical[present]] = present
    used = np.flatnonzero(first >= 0)
    texts = column.gather(first[used]).cast(pl.String).to_list()
    order = sorted(range(len(texts)), key=lambda i: texts[i].encode())
    code_of = np.full(n_physical, -1, dtype=np.int32)
    code_of[used[order]] = np.arange(len(order))
    codes = code_of[physical]
    codes[missing] = -1
    return codes, [texts[i] for i in order]


def _add(digest: hashlib._Hash, column: pl.Series) -> None:
    import polars as pl

    if column.dtype in (pl.String, pl.Categorical) or isinstance(column.dtype, pl.Enum):
        codes, texts = coded(column)
        for text in texts:
            digest.update(len(text.encode()).to_bytes(8, "little") + text.encode())
        digest.update(np.ascontiguousarray(codes, dtype="<i4").data)
        return
    values = column.to_physical()
    digest.update(np.packbits(values.is_null().to_numpy()).data)
    numbers = values.fill_null(0).to_numpy()
    kind = {"f": "<f8", "i": "<i8", "u": "<i8"}[numbers.dtype.kind]
    for begin in range(0, len(numbers), 1 << 22):
        digest.update(np.ascontiguousarray(numbers[begin : begin + (1 << 22)], dtype=kind).data)
