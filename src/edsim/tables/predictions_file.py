"""`*.predictions.parquet`: one row a launch, the header as JSON in the file's metadata."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from edsim.errors import BadTableError
from edsim.tables.from_json import object_from_json
from edsim.tables.parquet_columns import (
    check_columns,
    check_nulls,
    distinct,
    int32,
    is_integer,
    is_number,
    is_text,
    plain_messages,
)
from edsim.tables.predictions import SCHEMA_VERSION, Predictions, PredictionsHeader
from edsim.tables.rollouts_rows import Expected, Ids, launch_keys
from edsim.tables.whole_file import whole_file

if TYPE_CHECKING:
    import pyarrow as pa

HEADER = b"edsim.predictions"
_AGAIN = "Make it again with `edsim predict`."
_WHOLE = ("stay_id", "prefix_length", "token", "rank", "log_prob", "log_prob_end")
"""Columns that have a value in every row."""
_NUMBERS = ("log_prob", "log_prob_end", "log_prob_given_gap", "log_density_gap", "remaining_guess")
_WANTED = {
    "stay_id": ("text", is_text),
    **dict.fromkeys(("prefix_length", "token", "rank"), ("int32", is_integer)),
    "rank_given_gap": ("int32", is_integer),
    **dict.fromkeys(_NUMBERS, ("double", is_number)),
}


def write_predictions(predictions: Predictions, path: Path | str, stay_ids: Ids) -> None:
    """Write a predictions table; `stay_ids` are the cohort's, one per stay row.

    What the model does not say is null. The file is there whole or not at all.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    stays, place = np.unique(predictions.launches[:, 0], return_inverse=True)
    names = pa.array([bytes(name).decode() for name in stay_ids[stays]], pa.string())
    given = predictions.rank_given_gap
    columns = {
        "stay_id": pa.DictionaryArray.from_arrays(place.astype(np.int32), names),
        "prefix_length": pa.array(np.ascontiguousarray(predictions.launches[:, 1])),
        "token": pa.array(predictions.token.astype(np.int32)),
        "rank": pa.array(predictions.rank),
        "rank_given_gap": pa.array(given, mask=given == 0),
        **{name: _nullable(getattr(predictions, name)) for name in _NUMBERS},
    }
    header = json.dumps(asdict(predictions.header), sort_keys=True, ensure_ascii=False)
    table = pa.table(columns).replace_schema_metadata({HEADER: header.encode()})
    with whole_file(Path(path), restricted=predictions.header.restricted) as stream:
        pq.write_table(table, stream, compression="zstd", compression_level=1)


def read_predictions(path: Path | str, expected: Expected | None = None) -> Predictions:
    """A predictions table, checked; joined to the stay rows of a cohort where one is `expected`.

    Without a cohort the stay rows are places among the ids of the file.
    """
    import pyarrow.parquet as pq

    path = Path(path)
    with plain_messages(path, "predictions table"):
        table = pq.read_table(path, read_dictionary=["stay_id"])
    header = _header(table, path.name)
    check_columns(table.schema, _WANTED, path.name, _AGAIN)
    check_nulls(table.select(list(_WHOLE)), path.name)
    if not table.num_rows:
        raise BadTableError(f"{path.name} has no rows. {_AGAIN}")
    ids, stay = distinct(table["stay_id"])
    if expected is not None:
        _check_header(header, expected, path.name)
        stay = _stay_rows(ids, stay, expected, path.name)
    found = Predictions(
        header,
        np.stack([stay, int32(table, "prefix_length", path.name)], axis=1).astype(np.int32),
        int32(table, "token", path.name).astype(np.int16),
        int32(table, "rank", path.name),
        rank_given_gap=table["rank_given_gap"].fill_null(0).to_numpy().astype(np.int32),
        **{name: _number(table[name]) for name in _NUMBERS},
    )
    return _checked(found, expected, path.name)


def _checked(found: Predictions, expected: Expected | None, name: str) -> Predictions:
    """The rows sorted; prefix lengths, tokens, ranks, doubles and probabilities looked at."""
    length, n_tokens = found.launches[:, 1], len(found.header.tokens)
    longest = np.inf if expected is None else expected.n_events[found.launches[:, 0]]
    _refuse((length < 1) | (length > longest), "a prefix length that the stay does not have", name)
    _refuse((found.token < 0) | (found.token >= n_tokens), "a token that does not exist", name)
    for rank in (found.rank, np.maximum(found.rank_given_gap, 1)):
        _refuse((rank < 1) | (rank > n_tokens), f"a rank outside 1 to {n_tokens}", name)
    for log_prob in (found.log_prob, found.log_prob_end, found.log_prob_given_gap):
        _refuse(log_prob > 1e-6, "a probability above 1", name)
    _refuse(found.remaining_guess < 0, "remaining minutes below 0", name)
    order = np.lexsort((length, found.launches[:, 0]))
    keys = launch_keys(found.launches[order, 0], found.launches[order, 1])
    again = np.zeros(len(order), dtype=bool)
    again[order[1:][keys[1:] == keys[:-1]]] = True
    _refuse(again, "the launch of another row", name)
    return found.take(order)


def _refuse(wrong: NDArray[np.bool_], what: str, name: str) -> None:
    if wrong.any():
        raise BadTableError(
            f"{wrong.sum():,} of {len(wrong):,} rows of {name} have {what}, first row "
            f"{int(wrong.argmax()) + 1:,}. {_AGAIN}"
        )


def _header(table: pa.Table, name: str) -> PredictionsHeader:
    said = (table.schema.metadata or {}).get(HEADER)
    if said is None:
        raise BadTableError(f"{name} is no predictions table: it has no header. {_AGAIN}")
    try:
        content: Any = json.loads(said)
    except ValueError:
        raise BadTableError(f"the header of {name} is not JSON. {_AGAIN}") from None
    version = content.get("schema_version") if isinstance(content, dict) else None
    if version != SCHEMA_VERSION:
        raise BadTableError(
            f"{name} has a schema version that this edsim does not read (it reads "
            f"{SCHEMA_VERSION}). {_AGAIN}"
        )
    return object_from_json(PredictionsHeader, content, f"the header of {name}")


def _check_header(header: PredictionsHeader, expected: Expected, name: str) -> None:
    if expected.content_hash not in ("", header.content_hash):
        raise BadTableError(
            f"{name} was made for another cohort, or the cohort was built anew since (content "
            f"hashes differ). Name the cohort it was made for, or predict again."
        )
    if expected.vocabulary_sha256 not in ("", header.vocabulary_sha256):
        raise BadTableError(
            f"{name} was made under another vocabulary, or another version of it. {_AGAIN}"
        )


def _stay_rows(
    ids: Ids, stay: NDArray[np.int32], expected: Expected, name: str
) -> NDArray[np.int32]:
    order = np.argsort(expected.stay_ids, kind="stable")
    place = np.searchsorted(expected.stay_ids, ids, sorter=order)
    of_id = order[np.minimum(place, len(order) - 1)]
    _refuse((expected.stay_ids[of_id] != ids)[stay], "a stay that the cohort does not have", name)
    return of_id[stay].astype(np.int32)


def _nullable(values: NDArray[np.float64]) -> pa.Array:
    import pyarrow as pa

    return pa.array(values, mask=np.isnan(values))


def _number(column: pa.ChunkedArray) -> NDArray[np.float64]:
    return np.asarray(column.to_numpy(), dtype=np.float64)
