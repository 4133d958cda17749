"""Three made-up stays, the launches of two of them, and a small rollouts table to break."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from edsim.tables.rollouts import Rollouts, RolloutsHeader
from edsim.tables.rollouts_header import header_to_json
from edsim.tables.rollouts_rows import Expected
from edsim.tables.visits import Suffixes

TOKENS = ("END", "Enter", "Triage", "Vitals", "Discharge")
STAY_IDS = np.array([b"secret-a", b"secret-b", "secret-ä".encode()])
N_EVENTS = np.array([3, 1, 5])
LAUNCHES = np.array([[0, 1], [0, 2], [2, 1], [2, 4]], dtype=np.int32)

HEADER = RolloutsHeader(
    producer="made up",
    rule="temperature=0.7",
    rule_settings={"temperature": 0.7},
    training_seed=3,
    cap=4,
    draws=2,
    vocabulary="small",
    vocabulary_sha256="v" * 64,
    tokens=TOKENS,
    cohort_id="made-up-1",
    content_hash="c" * 64,
    launches="matched-4",
    restricted=False,
)

EXPECTED = Expected(
    stay_ids=STAY_IDS,
    n_events=N_EVENTS,
    vocabulary="small",
    vocabulary_sha256="v" * 64,
    tokens=TOKENS,
    cohort_id="made-up-1",
    content_hash="c" * 64,
    launches=LAUNCHES,
)

EVENTS = (
    ([3, 0], [0.1, 0.0]),
    ([0], [12.25]),
    ([3, 3, 4, 0], [1 / 3, 0.0, 600.5, 1e-7]),
    ([2, 2, 2, 2], [1.0, 1.0, 1.0, 1.0]),
    ([4, 0], [16777216.0, 0.016666668]),
    ([1, 2, 3, 4], [0.0, 0.0, 0.0, 3e-39]),
    ([0], [0.0]),
    ([4, 4, 0], [2.5, 7.0, 0.0]),
)


def small_rollouts(header: RolloutsHeader = HEADER) -> Rollouts:
    """Four launches with two draws each; rows 4 and 6 reach the cap of four events."""
    lengths = [len(tokens) for tokens, _ in EVENTS]
    return Rollouts(
        header,
        np.repeat(LAUNCHES, 2, axis=0),
        np.tile(np.array([0, 1], dtype=np.int32), 4),
        Suffixes(
            np.concatenate([tokens for tokens, _ in EVENTS]).astype(np.int16),
            np.concatenate([minutes for _, minutes in EVENTS]).astype(np.float32),
            np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        ),
    )


def same(a: Rollouts, b: Rollouts) -> bool:
    """Whether two tables are equal to the bit, header and types included."""
    pairs = [
        (a.launches, b.launches),
        (a.draw, b.draw),
        (a.generated.tokens, b.generated.tokens),
        (a.generated.minutes, b.generated.minutes),
        (a.generated.offsets, b.generated.offsets),
    ]
    return a.header == b.header and all(
        x.dtype == y.dtype and np.array_equal(x, y) for x, y in pairs
    )


def foreign_columns() -> dict[str, list[Any]]:
    """The columns of the same table as another tool would hold them."""
    rollouts = small_rollouts()
    stays = [STAY_IDS[row].decode() for row in rollouts.launches[:, 0]]
    return {
        "stay_id": stays,
        "prefix_length": rollouts.launches[:, 1].tolist(),
        "draw": rollouts.draw.tolist(),
        "tokens": [list(tokens) for tokens, _ in EVENTS],
        "minutes": [list(minutes) for _, minutes in EVENTS],
        "stop": ["end" if tokens[-1] == 0 else "cap" for tokens, _ in EVENTS],
    }


TYPES = {
    "stay_id": pa.string(),
    "prefix_length": pa.int32(),
    "draw": pa.int32(),
    "tokens": pa.list_(pa.int16()),
    "minutes": pa.list_(pa.float32()),
    "stop": pa.string(),
}


def write_foreign(
    path: Path,
    columns: Mapping[str, list[Any]] | None = None,
    *,
    types: Mapping[str, pa.DataType] | None = None,
    header: Mapping[str, Any] | str | None = None,
    **changed: Any,
) -> Path:
    """Write a Parquet as another tool would; `changed` are fields of the header."""
    columns = foreign_columns() if columns is None else columns
    types = {**TYPES, **(types or {})}
    table = pa.table({name: pa.array(values, types[name]) for name, values in columns.items()})
    if header is None:
        header = {**json.loads(header_to_json(HEADER)), **changed}
    text = header if isinstance(header, str) else json.dumps(header)
    metadata = {"edsim.rollouts": text} if text else {}
    pq.write_table(table.replace_schema_metadata(metadata), path)
    return path
