"""Rollouts as Parquet: what is written is read, and what is broken is said."""

from __future__ import annotations

import os
import stat
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from small_rollouts import (
    EXPECTED,
    HEADER,
    LAUNCHES,
    STAY_IDS,
    foreign_columns,
    same,
    small_rollouts,
    write_foreign,
)

from edsim.errors import BadTableError, EdsimError, OutputError
from edsim.tables.rollouts import Rollouts
from edsim.tables.rollouts_check import find_faults
from edsim.tables.rollouts_file import read_header, read_rollouts, read_rows, write_rollouts


def test_what_is_written_is_read_to_the_bit(tmp_path: Path) -> None:
    path = tmp_path / "a.rollouts.parquet"
    write_rollouts(small_rollouts(), path, STAY_IDS)
    assert same(read_rollouts(path, EXPECTED), small_rollouts())
    assert read_header(path) == HEADER


def test_the_same_rollouts_give_the_same_bytes(tmp_path: Path) -> None:
    write_rollouts(small_rollouts(), tmp_path / "a.parquet", STAY_IDS)
    write_rollouts(small_rollouts(), tmp_path / "b.parquet", STAY_IDS)
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()


def test_the_columns_have_plain_types_for_other_tools(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    write_rollouts(small_rollouts(), path, STAY_IDS)
    schema = pq.read_schema(path)
    assert schema.names == ["stay_id", "prefix_length", "draw", "tokens", "minutes", "stop"]
    assert [schema.field(name).type for name in ("stay_id", "stop")] == [pa.string()] * 2
    assert schema.field("tokens").type.value_type == pa.int16()
    assert schema.field("minutes").type.value_type == pa.float32()


def test_rows_are_written_in_the_order_of_stay_prefix_and_draw(tmp_path: Path) -> None:
    rollouts = small_rollouts()
    backwards = Rollouts(
        HEADER,
        rollouts.launches[::-1].copy(),
        rollouts.draw[::-1].copy(),
        type(rollouts.generated)(
            np.concatenate([rollouts.generated.row(i) for i in range(7, -1, -1)]),
            np.concatenate(
                [
                    rollouts.generated.minutes[a:b]
                    for a, b in zip(
                        rollouts.generated.offsets[:-1][::-1],
                        rollouts.generated.offsets[1:][::-1],
                        strict=True,
                    )
                ]
            ),
            np.concatenate([[0], np.cumsum(rollouts.generated.lengths()[::-1])]),
        ),
    )
    write_rollouts(backwards, tmp_path / "a.parquet", STAY_IDS)
    write_rollouts(rollouts, tmp_path / "b.parquet", STAY_IDS)
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()


def test_many_groups_of_rows_are_one_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("edsim.tables.rollouts_file._ROWS_A_GROUP", 3)
    path = tmp_path / "a.parquet"
    write_rollouts(small_rollouts(), path, STAY_IDS)
    assert pq.ParquetFile(path).num_row_groups == 3
    assert same(read_rollouts(path, EXPECTED), small_rollouts())


def test_a_table_without_rows_is_refused_on_reading_and_not_on_writing(tmp_path: Path) -> None:
    rollouts = small_rollouts()
    empty = Rollouts(
        HEADER,
        LAUNCHES[:0],
        rollouts.draw[:0],
        type(rollouts.generated)(
            rollouts.generated.tokens[:0],
            rollouts.generated.minutes[:0],
            np.zeros(1, dtype=np.int64),
        ),
    )
    write_rollouts(empty, tmp_path / "a.parquet", STAY_IDS)
    with pytest.raises(BadTableError, match="has no rows"):
        read_rollouts(tmp_path / "a.parquet", EXPECTED)


@pytest.mark.parametrize(("restricted", "others"), [(True, False), (False, True)])
def test_a_restricted_file_is_its_owners_alone(
    tmp_path: Path, restricted: bool, others: bool
) -> None:
    before = os.umask(0o022)
    try:
        path = tmp_path / "a.parquet"
        write_rollouts(small_rollouts(replace(HEADER, restricted=restricted)), path, STAY_IDS)
    finally:
        os.umask(before)
    assert bool(path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO)) == others


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    path.write_text("old")
    with pytest.raises(IndexError):
        write_rollouts(small_rollouts(), path, STAY_IDS[:1])
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_place_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot be written"):
        write_rollouts(small_rollouts(), tmp_path / "file" / "a.parquet", STAY_IDS)


def test_a_foreign_file_may_have_wider_numbers_and_any_order(tmp_path: Path) -> None:
    columns = {name: values[::-1] for name, values in foreign_columns().items()}
    wide = {
        "stay_id": pa.large_string(),
        "prefix_length": pa.int64(),
        "draw": pa.int64(),
        "tokens": pa.large_list(pa.int32()),
        "minutes": pa.list_(pa.float64()),
    }
    path = write_foreign(tmp_path / "a.parquet", columns, types=wide)
    assert same(read_rollouts(path, EXPECTED), small_rollouts())


def test_what_a_foreign_header_leaves_out_is_filled_in_from_the_cohort(tmp_path: Path) -> None:
    header = {"schema_version": 1, "producer": "R", "cap": 4, "draws": 2}
    header["tokens"] = list(HEADER.tokens)
    path = write_foreign(tmp_path / "a.parquet", header=header)
    read = read_rollouts(path, EXPECTED).header
    assert (read.producer, read.vocabulary, read.content_hash) == ("R", "small", "c" * 64)
    assert read.restricted, "nobody said that it may be seen by others"


def test_a_header_cannot_open_what_the_cohort_restricts(tmp_path: Path) -> None:
    path = write_foreign(tmp_path / "a.parquet", restricted=False)
    assert not read_rollouts(path, EXPECTED).header.restricted
    assert read_rollouts(path, replace(EXPECTED, restricted=True)).header.restricted


def test_without_a_cohort_stay_rows_are_places_among_the_ids_of_the_file(tmp_path: Path) -> None:
    path = write_foreign(tmp_path / "a.parquet")
    rows = read_rows(path)
    assert rows.ids.tolist() == [STAY_IDS[0], STAY_IDS[2]]
    assert read_rollouts(path).launches[:, 0].tolist() == [0, 0, 0, 0, 1, 1, 1, 1]


def test_ids_are_found_in_a_cohort_that_is_not_sorted_by_them(tmp_path: Path) -> None:
    path = write_foreign(tmp_path / "a.parquet")
    turned = replace(
        EXPECTED,
        stay_ids=STAY_IDS[::-1],
        n_events=EXPECTED.n_events[::-1],
        launches=np.array([[2, 1], [2, 2], [0, 1], [0, 4]], dtype=np.int32),
    )
    assert read_rollouts(path, turned).launches[:, 0].tolist() == [0] * 4 + [2] * 4


# --- a file that is no rollouts table -------------------------------------------------------


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(BadTableError, match="there is no rollouts table at"):
        read_rollouts(tmp_path / "a.parquet", EXPECTED)


def test_a_file_that_is_no_parquet_is_said(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    path.write_text("stay_id,prefix_length\n")
    with pytest.raises(BadTableError, match=r"not a Parquet file.*a CSV must be named"):
        read_rollouts(path, EXPECTED)


def test_a_truncated_file_is_said_wherever_it_is_cut(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    write_rollouts(small_rollouts(), path, STAY_IDS)
    whole = path.read_bytes()
    for end in range(0, len(whole) - 1, 97):
        path.write_bytes(whole[:end])
        with pytest.raises(BadTableError, match="truncated or damaged"):
            read_rollouts(path, EXPECTED)


def test_damage_is_never_anything_but_a_message(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    write_rollouts(small_rollouts(), path, STAY_IDS)
    whole = path.read_bytes()
    for place in range(4, len(whole) - 8, 11):
        path.write_bytes(whole[:place] + b"\xff\x00\xfe" + whole[place + 3 :])
        try:
            read_rollouts(path, EXPECTED)
        except EdsimError as error:
            assert "secret" not in str(error)


@pytest.mark.parametrize("column", list(foreign_columns()))
def test_a_missing_column_is_named(tmp_path: Path, column: str) -> None:
    columns = foreign_columns()
    del columns[column]
    path = write_foreign(tmp_path / "a.parquet", columns)
    with pytest.raises(BadTableError, match=rf"has no column {column}\. It needs stay_id"):
        read_rollouts(path, EXPECTED)


@pytest.mark.parametrize(
    ("column", "values", "kind", "wanted"),
    [
        ("stay_id", [1] * 8, pa.int64(), "text"),
        ("prefix_length", ["1"] * 8, pa.string(), "int32"),
        ("draw", [0.0] * 8, pa.float64(), "int32"),
        ("tokens", [0] * 8, pa.int16(), "list of int16"),
        ("tokens", [["END"]] * 8, pa.list_(pa.string()), "list of int16"),
        ("minutes", [["0"]] * 8, pa.list_(pa.string()), "list of float32"),
        ("stop", [True] * 8, pa.bool_(), "text"),
    ],
)
def test_a_column_of_the_wrong_type_is_said_with_the_type_it_needs(
    tmp_path: Path, column: str, values: list[object], kind: pa.DataType, wanted: str
) -> None:
    columns = {**foreign_columns(), column: values}
    path = write_foreign(tmp_path / "a.parquet", columns, types={column: kind})
    with pytest.raises(BadTableError, match=rf"column {column} of a.parquet is of .*{wanted}"):
        read_rollouts(path, EXPECTED)


@pytest.mark.parametrize("column", list(foreign_columns()))
def test_a_null_is_counted_and_its_row_named(tmp_path: Path, column: str) -> None:
    columns = foreign_columns()
    columns[column][2] = None
    path = write_foreign(tmp_path / "a.parquet", columns)
    with pytest.raises(BadTableError, match=rf"1 of 8 rows .* have no {column}.*first row 3"):
        read_rollouts(path, EXPECTED)


def test_a_null_inside_a_list_is_said(tmp_path: Path) -> None:
    columns = foreign_columns()
    columns["minutes"][2] = [1.0, None, 1.0, 1.0]
    path = write_foreign(tmp_path / "a.parquet", columns)
    with pytest.raises(BadTableError, match="have a null in their"):
        read_rollouts(path, EXPECTED)


def test_a_stop_of_another_name_is_said(tmp_path: Path) -> None:
    columns = foreign_columns()
    columns["stop"][4] = "secret"
    path = write_foreign(tmp_path / "a.parquet", columns)
    with pytest.raises(BadTableError, match=r"1 of 8 rows .* other than 'end' and 'cap', .* 5"):
        read_rollouts(path, EXPECTED)


def test_numbers_beyond_32_bits_are_said(tmp_path: Path) -> None:
    columns = foreign_columns()
    columns["prefix_length"][0] = 2**40
    path = write_foreign(tmp_path / "a.parquet", columns, types={"prefix_length": pa.int64()})
    with pytest.raises(BadTableError, match=r"prefix_length .* beyond 32 bits"):
        read_rollouts(path, EXPECTED)


# --- the header -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ("", "has no header"),
        ("{", "is not JSON"),
        ("[]", "is not a JSON object"),
        ('{"producer": "x"}', "has no `schema_version`"),
        ('{"schema_version": 2, "producer": "x"}', "has schema version 2; this edsim reads"),
        ('{"schema_version": "1", "producer": "x"}', "a schema version that this edsim does not"),
        ('{"schema_version": 1}', "does not name its `producer`"),
        ('{"schema_version": 1, "producer": "x", "caps": 3}', "1 fields that are not known"),
        ('{"schema_version": 1, "producer": "x", "cap": "3"}', "wrong type in cap"),
        ('{"schema_version": 1, "producer": "x", "draws": true}', "wrong type in draws"),
        ('{"schema_version": 1, "producer": "x", "cap": 0}', "`cap` or `draws` below 1"),
        ('{"schema_version": 1, "producer": "x", "tokens": [1]}', "are not all texts"),
    ],
)
def test_a_header_that_cannot_be_used_is_said(tmp_path: Path, header: str, said: str) -> None:
    path = write_foreign(tmp_path / "a.parquet", header=header)
    with pytest.raises(BadTableError, match=said):
        read_rollouts(path, EXPECTED)


def test_a_header_can_be_given_for_a_file_without_one(tmp_path: Path) -> None:
    path = write_foreign(tmp_path / "a.parquet", header="")
    assert not find_faults(read_rows(path, HEADER), EXPECTED)
