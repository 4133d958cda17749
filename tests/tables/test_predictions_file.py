"""Predictions as a file: nothing is lost, nulls are nulls, what does not fit is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from edsim.errors import BadTableError
from edsim.tables.predictions import COLUMNS, Predictions, PredictionsHeader
from edsim.tables.predictions_file import read_predictions, write_predictions
from edsim.tables.rollouts_rows import Expected

IDS = np.array([b"zoe", b"ann", b"7"])
HEADER = PredictionsHeader(
    producer="made up", tokens=("END", "a", "b"), content_hash="h", vocabulary_sha256="v",
    restricted=False,
)  # fmt: skip
EXPECTED = Expected(
    stay_ids=IDS, n_events=np.array([3, 4, 9]), content_hash="h", vocabulary_sha256="v"
)
NAN = float("nan")


def made(**changes: object) -> Predictions:
    one = Predictions(
        HEADER,
        np.array([[0, 1], [0, 3], [2, 9]], dtype=np.int32),
        token=np.array([1, 0, 2], dtype=np.int16),
        rank=np.array([1, 3, 2], dtype=np.int32),
        log_prob=np.array([-0.1, -np.inf, -0.7]),
        log_prob_end=np.array([-3.0, -np.inf, -0.1]),
        rank_given_gap=np.array([1, 0, 0], dtype=np.int32),
        log_prob_given_gap=np.array([-0.2, NAN, NAN]),
        log_density_gap=np.array([NAN, -np.inf, 2.5]),
        remaining_guess=np.array([NAN, 7.0, 0.0]),
    )
    return replace(one, **changes)  # type: ignore[arg-type]


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "x.predictions.parquet"
    write_predictions(made(), path, IDS)
    again = read_predictions(path, EXPECTED)
    for name in COLUMNS:
        assert np.array_equal(getattr(again, name), getattr(made(), name), equal_nan=True), name
    assert again.header == HEADER
    table = pq.read_table(path)
    assert table["rank_given_gap"].null_count == 2
    assert table["remaining_guess"].to_pylist() == [None, 7.0, 0.0]


def test_rows_in_another_order_are_the_same_table(tmp_path: Path) -> None:
    path = tmp_path / "x.predictions.parquet"
    write_predictions(made().take(np.array([2, 0, 1])), path, IDS)
    again = read_predictions(path, EXPECTED)
    assert np.array_equal(again.launches, made().launches)
    assert np.array_equal(again.rank, made().rank)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"rank": np.array([1, 4, 2], dtype=np.int32)}, "1 of 3 rows .* rank outside 1 to 3, first row 2"),
        ({"log_prob": np.array([0.5, -1, -1])}, "a probability above 1, first row 1"),
        ({"token": np.array([1, 0, 3], dtype=np.int16)}, "a token that does not exist"),
        ({"remaining_guess": np.array([1.0, -1, 2])}, "remaining minutes below 0"),
        ({"launches": np.array([[0, 1], [0, 4], [2, 9]], dtype=np.int32)}, "prefix length"),
        ({"launches": np.array([[0, 1], [0, 1], [2, 9]], dtype=np.int32)}, "launch of another row"),
        ({"header": replace(HEADER, content_hash="other")}, "another cohort"),
        ({"header": replace(HEADER, vocabulary_sha256="other")}, "another vocabulary"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(tmp_path: Path, changes: dict[str, object], said: str) -> None:
    path = tmp_path / "x.predictions.parquet"
    write_predictions(made(**changes), path, IDS)
    with pytest.raises(BadTableError, match=said) as refused:
        read_predictions(path, EXPECTED)
    assert "zoe" not in str(refused.value)


def test_other_files_are_no_predictions(tmp_path: Path) -> None:
    with pytest.raises(BadTableError, match="there is no predictions table"):
        read_predictions(tmp_path / "no.predictions.parquet")
    path = tmp_path / "x.predictions.parquet"
    path.write_text("stay_id,rank\n")
    with pytest.raises(BadTableError, match="not a Parquet file"):
        read_predictions(path)
    pq.write_table(pa.table({"stay_id": ["a"]}), path)
    with pytest.raises(BadTableError, match="no header"):
        read_predictions(path)
    write_predictions(made(), path, IDS)
    pq.write_table(pq.read_table(path).drop_columns(["rank"]), path)
    with pytest.raises(BadTableError, match="no column rank"):
        read_predictions(path)
    write_predictions(made().take(np.zeros(0, dtype=int)), path, IDS)
    with pytest.raises(BadTableError, match="no rows"):
        read_predictions(path)
