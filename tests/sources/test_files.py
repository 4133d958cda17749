"""Text files whole and broken: every fault has one message, and none of them quotes the file."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import os
import re
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edsim.errors import BadInputError
from edsim.sources import records
from edsim.sources.files import (
    TextTable,
    _parsed,
    find,
    need,
    open_binary,
    open_table,
    parse_table,
)
from edsim.sources.plain_bytes import PlainBytes

SECRET = "secret-4711"
Reader = Callable[[Path], tuple[TextTable, pl.DataFrame]]


def packed(content: bytes) -> bytes:
    """Without the time of day: it would stand in the names of tests, which all workers have to share."""
    return gzip.compress(content, mtime=0)


def look_then_scan(path: Path) -> tuple[TextTable, pl.DataFrame]:
    table = open_table(path, role="test", required=("id", "name"))
    return table, table.collect(table.scan(["id", "name"]))


def in_one_reading(path: Path) -> tuple[TextTable, pl.DataFrame]:
    table, pieces = parse_table(
        path, role="test", required=("id", "name"), convert=lambda rows: rows
    )
    return table, pl.concat(pieces)


@pytest.fixture(params=[look_then_scan, in_one_reading], ids=lambda reader: reader.__name__)
def read(request: pytest.FixtureRequest) -> Reader:
    return request.param


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Text is cut every few bytes, so that every kind of place is cut once."""
    monkeypatch.setattr("edsim.sources.plain_bytes.CHUNK", 5)
    monkeypatch.setattr("edsim.sources.plain_bytes._PLAIN_CHUNK", 7)
    monkeypatch.setattr(records, "_PIECE", 11)


def written(folder: Path, content: bytes, name: str = "table.csv") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def refusal(read: Reader, path: Path) -> str:
    """The message, after checking that it holds nothing of the file's content."""
    with pytest.raises(BadInputError) as caught:
        read(path)
    message = str(caught.value)
    assert SECRET not in message
    assert caught.value.__context__ is None or caught.value.__suppress_context__
    return message


def test_a_plain_file_is_read_with_its_size_and_hash(read: Reader, tmp_path: Path) -> None:
    content = b"id,name\n1,a\n2,b\n"
    table, rows = read(written(tmp_path, content))
    assert rows.rows() == [("1", "a"), ("2", "b")]
    assert (table.raw.n_bytes, table.n_rows) == (len(content), 2)
    assert table.raw.sha256 == hashlib.sha256(content).hexdigest()
    assert table.notices == ()


@pytest.mark.parametrize("name", ["table.csv", "table.csv.gz"])
@pytest.mark.parametrize("packed", [False, True])
def test_the_content_says_whether_a_file_is_gzip_and_not_its_name(
    read: Reader, tmp_path: Path, name: str, packed: bool
) -> None:
    content = b"id,name\n1,a\n"
    path = written(tmp_path, gzip.compress(content) if packed else content, name)
    assert read(path)[1].rows() == [("1", "a")]


def test_gzip_of_several_members_is_read_to_the_end(read: Reader, tmp_path: Path) -> None:
    content = gzip.compress(b"id,name\n1,a\n") + gzip.compress(b"2,b\n")
    assert read(written(tmp_path, content))[1].rows() == [("1", "a"), ("2", "b")]


def test_a_byte_order_mark_changes_nothing_and_is_told(read: Reader, tmp_path: Path) -> None:
    table, rows = read(written(tmp_path, b"\xef\xbb\xbfid,name\n1,a\n"))
    assert rows.rows() == [("1", "a")]
    assert "byte-order mark" in table.notices[0]


def test_windows_line_ends_change_nothing(read: Reader, tmp_path: Path) -> None:
    path = written(tmp_path, b'id,name\r\n1,a\r\n2,"b, c"\r\n')
    assert read(path)[1].rows() == [("1", "a"), ("2", "b, c")]


def test_quoted_commas_and_line_breaks_are_part_of_a_field(read: Reader, tmp_path: Path) -> None:
    path = written(tmp_path, b'id,name\n1,"a, b\nc ""d"""\n2,e\n')
    assert read(path)[1].rows() == [("1", 'a, b\nc "d"'), ("2", "e")]


def test_only_an_empty_field_is_missing(read: Reader, tmp_path: Path) -> None:
    path = written(tmp_path, b"id,name\nNA,null\nNaN,\n00012,1e5\n")
    assert read(path)[1].rows() == [("NA", "null"), ("NaN", None), ("00012", "1e5")]


def test_a_last_row_without_line_end_counts(read: Reader, tmp_path: Path) -> None:
    assert read(written(tmp_path, b"id,name\n1,a\n2,b"))[0].n_rows == 2


def test_blank_lines_at_the_end_are_no_rows(read: Reader, tmp_path: Path) -> None:
    table, rows = read(written(tmp_path, b"id,name\n1,a\n\n\r\n\n"))
    assert (table.n_rows, rows.rows()) == (1, [("1", "a")])


def test_a_column_that_is_not_needed_may_come_twice(read: Reader, tmp_path: Path) -> None:
    assert read(written(tmp_path, b"x,id,x,name\n5,1,6,a\n"))[1].rows() == [("1", "a")]


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("packed", [False, True])
def test_where_the_text_is_cut_changes_nothing(tmp_path: Path, packed: bool) -> None:
    rows = [(f"{i}", 'ä"\n, ' * (i % 4) + "é" * (i % 7)) for i in range(60)]
    text = io.StringIO()
    csv.writer(text).writerows([("id", "name"), *rows])
    content = text.getvalue().encode()
    path = written(tmp_path, gzip.compress(content) if packed else content)
    table, found = in_one_reading(path)
    assert found.with_columns(pl.col("name").fill_null("")).rows() == rows
    assert table.n_rows == 60


FIELD = st.text(st.sampled_from('ab,"\n ä'), max_size=6)


@settings(max_examples=150, deadline=None)
@given(rows=st.lists(st.tuples(FIELD, FIELD), min_size=1, max_size=8))
def test_rows_are_counted_as_the_standard_library_reads_them(rows: list[tuple[str, str]]) -> None:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([("id", "name"), *rows])
    found = records.Records([text.getvalue().encode()], name="table.csv")
    assert sum(piece.n_rows for piece in found) == len(rows)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "table.csv is empty"),
        (b"\xef\xbb\xbf", "table.csv is empty"),
        (b"\n1,2\n", "no header row"),
        (b"id,name\r1,secret-4711\r", "line ends of old Macintosh computers"),
        (b"id,na\rme\n1,secret-4711\n", "line ends of old Macintosh computers"),
        (b"id,name\n", "has a header and no rows"),
        (b"id,name", "has a header and no rows"),
        (b"id,name\n\n\n", "has a header and no rows"),
        (b"id,nme\n1,secret-4711\n", "has no column name. It needs id, name."),
        (b"id;name\n1;secret-4711\n", "is separated by semicolons; expected commas"),
        (b"id\tname\n1\tsecret-4711\n", "is separated by tabs; expected commas"),
        (b"id,name,id\n1,secret-4711,2\n", "has the column id more than once"),
        (b"id,name\n1,a\n2,secret-4711,3\n", "first in data row 2"),
        (b"id,name\n1,a\nsecret-4711\n3,b\n", "first in data row 2"),
        (b"id,name\n1,a\n\n2,secret-4711\n", "first in data row 2"),
        (b'id,name\n1,a\n2,"secret-4711\n3,b\n', "never closed, after data row 1"),
        (b'id,name\n1,a\n2,secret-4711" x\n3,b\n', "quotation mark in the middle"),
        (b'id,name\n1,a\n2,"secret-4711"x\n3,b\n', "first in data row 2"),
        (b"id,name\n1,secret-4711\x00\n", "NUL bytes"),
        ("id,name\n1,secret-4711é\n".encode("latin-1"), "is not UTF-8 text: byte 22 "),
        ("id,name\n1,é".encode()[:-1], "is not UTF-8"),
        ("id,name\n1,secret-4711\n".encode("utf-16"), "is not UTF-8"),
        (packed(b"id,name\n1,secret-4711\n" * 50)[:-9], "is cut short"),
        (packed(b"id,name\n1,secret-4711\n")[:5], "is cut short"),
        (packed(b"id,name\n1,secret-4711\n")[:-8] + b"12345678", "is damaged"),
        (packed(b"id,name\n1,a\n") + b"secret-4711", "is damaged"),
    ],
)
def test_a_broken_file_is_refused_with_one_message(
    read: Reader, tmp_path: Path, content: bytes, expected: str
) -> None:
    assert expected in refusal(read, written(tmp_path, content))


@pytest.mark.usefixtures("small_pieces")
def test_the_row_number_counts_over_all_pieces(tmp_path: Path) -> None:
    content = b"id,name\n" + b"1,abcdef\n" * 20 + b"2\n"
    assert "first in data row 21" in refusal(in_one_reading, written(tmp_path, content))


def test_a_quote_left_open_does_not_swallow_a_long_file(
    read: Reader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "_LONGEST_RECORD", 10_000)
    monkeypatch.setattr(records, "_PIECE", 1_000)
    monkeypatch.setattr("edsim.sources.plain_bytes.CHUNK", 1_000)
    content = b'id,name\n1,"a\n' + b"2,b\n" * 10_000
    text = PlainBytes(written(tmp_path, content))
    with pytest.raises(BadInputError, match="never closed"):
        list(records.Records(text, name="table.csv"))
    assert text.n_bytes < 13_000


def test_what_is_no_file_is_refused(read: Reader, tmp_path: Path) -> None:
    assert "there is no file at" in refusal(read, tmp_path / "absent.csv")
    assert "is a folder; a file is needed" in refusal(read, tmp_path)


def test_a_pipe_is_no_file(read: Reader, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "table.csv")
    assert "is a pipe or a device" in refusal(read, tmp_path / "table.csv")


def test_a_parser_that_finds_other_rows_than_were_counted_is_not_believed(tmp_path: Path) -> None:
    text = records.Records([b"id,name\n1,a\n"], name="table.csv")
    with pytest.raises(BadInputError, match="cannot be parsed as comma-separated text"):
        _parsed(records.Piece(b"1,a\n", n_rows=2), text, ["id"])


def test_an_error_of_the_work_on_a_piece_comes_through(tmp_path: Path) -> None:
    def fail(rows: pl.DataFrame) -> None:
        raise KeyError("mine")

    path = written(tmp_path, b"id,name\n1,a\n")
    with pytest.raises(KeyError, match="mine"):
        parse_table(path, role="test", required=("id",), convert=fail)


def test_a_table_is_found_plain_or_gzipped_but_not_both(tmp_path: Path) -> None:
    assert find(tmp_path, "edstays") is None
    with pytest.raises(BadInputError, match=r"neither edstays.csv nor edstays.csv.gz"):
        need(tmp_path, "edstays")
    with pytest.raises(BadInputError, match="there is no folder"):
        need(tmp_path / "absent", "edstays")
    packed = written(tmp_path, b"", "edstays.csv.gz")
    assert need(tmp_path, "edstays") == packed
    written(tmp_path, b"", "edstays.csv")
    with pytest.raises(BadInputError, match="Remove one"):
        need(tmp_path, "edstays")


def test_other_delimiters_are_read_where_they_are_asked_for(tmp_path: Path) -> None:
    path = written(tmp_path, b'id;name\n1;"a;b"\n2;c,d\n')
    for separator in (";", None):
        table = open_table(path, role="test", required=("id",), separator=separator)
        assert table.collect(table.scan()).rows() == [("1", "a;b"), ("2", "c,d")]
    with pytest.raises(BadInputError, match=re.escape("more or fewer fields")):
        open_table(written(tmp_path, b"id;name\n1\n"), role="test", required=(), separator=";")


def test_a_binary_file_is_opened_with_what_it_holds(tmp_path: Path) -> None:
    for content in (b"<log/>", gzip.compress(b"<log/>")):
        with open_binary(written(tmp_path, content)) as (_, plain):
            assert plain.read() == b"<log/>"
