"""Rollouts as text: whatever tool writes it, it becomes the same table or a clear message."""

from __future__ import annotations

import gzip
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from small_rollouts import EXPECTED, HEADER, STAY_IDS, same, small_rollouts

from edsim.errors import BadTableError
from edsim.tables.rollouts import Rollouts, RolloutsHeader
from edsim.tables.rollouts_check import checked, find_faults
from edsim.tables.rollouts_csv import header_path, read_csv_rows, write_csv
from edsim.tables.rollouts_file import read_rollouts, write_rollouts
from edsim.tables.visits import Suffixes

FOREIGN = RolloutsHeader(producer="another tool", cap=4, tokens=HEADER.tokens)


def lines_of(tmp_path: Path) -> list[str]:
    """The small table as lines of text, its header line first."""
    path = tmp_path / "ours.csv"
    write_csv(small_rollouts(), path, STAY_IDS)
    return path.read_text().splitlines()


def foreign(tmp_path: Path, lines: list[str], ending: str = "\n") -> Path:
    """The same lines from another tool: no header beside them."""
    path = tmp_path / "a.csv"
    path.write_bytes(("".join(line + ending for line in lines)).encode())
    return path


def message(path: Path) -> str:
    """What the reader says of a broken file; never an id."""
    with pytest.raises(BadTableError) as raised:
        checked(read_csv_rows(path, FOREIGN), EXPECTED)
    assert "secret" not in str(raised.value)
    return str(raised.value)


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz"])
def test_the_text_and_the_parquet_say_the_same_to_the_bit(tmp_path: Path, name: str) -> None:
    write_csv(small_rollouts(), tmp_path / name, STAY_IDS)
    rows = read_csv_rows(tmp_path / name)
    assert same(checked(rows, EXPECTED), small_rollouts())
    write_rollouts(checked(rows), tmp_path / "a.parquet", rows.ids)
    assert same(read_rollouts(tmp_path / "a.parquet", EXPECTED), small_rollouts())


def test_the_same_rollouts_give_the_same_bytes_at_any_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_csv(small_rollouts(), tmp_path / "a.csv.gz", STAY_IDS)
    monkeypatch.setattr("time.time", lambda: 1e9)
    write_csv(small_rollouts(), tmp_path / "b.csv.gz", STAY_IDS)
    assert (tmp_path / "a.csv.gz").read_bytes() == (tmp_path / "b.csv.gz").read_bytes()


def test_every_float32_survives_the_text(tmp_path: Path) -> None:
    bits = np.random.default_rng(0).integers(0, 0x7F80_0000, 50_000, dtype=np.uint32)
    bits[:4] = 0, 1, 0x7F7F_FFFF, 0x0080_0000
    minutes = bits.view(np.float32)
    tokens = np.full(len(minutes), 3, dtype=np.int16)
    tokens[-1] = 0
    rollouts = Rollouts(
        replace(HEADER, cap=len(minutes), draws=1),
        np.array([[0, 1]], dtype=np.int32),
        np.zeros(1, dtype=np.int32),
        Suffixes(tokens, minutes, np.array([0, len(minutes)])),
    )
    write_csv(rollouts, tmp_path / "a.csv", STAY_IDS)
    back = checked(read_csv_rows(tmp_path / "a.csv"))
    assert np.array_equal(back.generated.minutes.view(np.uint32), bits)


def test_the_first_lines_are_what_the_documentation_shows(tmp_path: Path) -> None:
    assert lines_of(tmp_path)[:4] == [
        "stay_id,prefix_length,draw,position,activity,minutes",
        "secret-a,1,0,1,Vitals,0.1",
        "secret-a,1,0,2,END,0.0",
        "secret-a,1,1,1,END,12.25",
    ]


def test_rollouts_without_token_names_cannot_be_written_as_text(tmp_path: Path) -> None:
    with pytest.raises(BadTableError, match="do not name their tokens"):
        write_csv(small_rollouts(replace(HEADER, tokens=())), tmp_path / "a.csv", STAY_IDS)
    assert not list(tmp_path.iterdir())


def test_rollouts_are_written_piece_by_piece(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = lines_of(tmp_path)
    monkeypatch.setattr("edsim.tables.rollouts_csv._ROLLOUTS_A_PIECE", 3)
    assert lines_of(tmp_path) == whole


def test_a_foreign_file_counts_its_own_draws(tmp_path: Path) -> None:
    rollouts = checked(read_csv_rows(foreign(tmp_path, lines_of(tmp_path)), FOREIGN), EXPECTED)
    assert (rollouts.header.producer, rollouts.header.draws) == ("another tool", 2)
    assert np.array_equal(rollouts.generated.tokens, small_rollouts().generated.tokens)


@pytest.mark.parametrize("change", ["bom", "crlf", "gzip", "quotes", "extra", "blank", "order"])
def test_other_tools_write_their_own_way(tmp_path: Path, change: str) -> None:
    lines = lines_of(tmp_path)
    ending = "\n"
    if change == "bom":
        lines[0] = "\ufeff" + lines[0]
    if change == "crlf":
        ending = "\r\n"
    if change == "quotes":
        lines = [",".join(f'"{field}"' for field in line.split(",")) for line in lines]
    if change == "extra":
        lines = ['"",' + lines[0], *(f'"{i}",{line}' for i, line in enumerate(lines[1:]))]
    if change == "blank":
        lines += ["", ""]
    if change == "order":
        rest = lines[1:]
        random.Random(0).shuffle(rest)
        lines[1:] = rest
    path = foreign(tmp_path, lines, ending)
    if change == "gzip":
        packed = tmp_path / "a.csv.gz"
        packed.write_bytes(gzip.compress(path.read_bytes()))
        path = packed
    read = checked(read_csv_rows(path, FOREIGN), EXPECTED)
    assert same(replace(read, header=HEADER), small_rollouts())


# --- files that cannot be read --------------------------------------------------------------


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    assert "there is no rollouts table at" in message(tmp_path / "a.csv")


def test_a_foreign_file_without_a_cohort_to_name_its_tokens(tmp_path: Path) -> None:
    path = foreign(tmp_path, lines_of(tmp_path))
    with pytest.raises(BadTableError, match=r"no header beside it.*Name the cohort"):
        read_csv_rows(path)


def test_a_missing_column(tmp_path: Path) -> None:
    lines = lines_of(tmp_path)
    lines[0] = lines[0].replace("position", "number")
    assert "has no column position. It needs stay_id" in message(foreign(tmp_path, lines))


def test_a_column_that_comes_twice(tmp_path: Path) -> None:
    lines = [line + ",1" for line in lines_of(tmp_path)]
    lines[0] = lines[0].replace(",1", ",draw")
    assert "has the column draw more than once" in message(foreign(tmp_path, lines))


def test_semicolons_in_place_of_commas(tmp_path: Path) -> None:
    lines = [line.replace(",", ";") for line in lines_of(tmp_path)]
    assert "is separated by semicolons; expected commas" in message(foreign(tmp_path, lines))


def test_a_file_of_another_kind(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(bytes(range(256)) * 20)
    assert "has no column stay_id" in message(path) or "UTF-8" in message(path)


def test_text_that_is_no_utf8(tmp_path: Path) -> None:
    path = foreign(tmp_path, lines_of(tmp_path))
    path.write_bytes(path.read_bytes().replace("ä".encode(), b"\xe4"))
    assert "cannot be read as comma-separated UTF-8 text" in message(path)


def test_a_row_with_a_field_too_many(tmp_path: Path) -> None:
    lines = lines_of(tmp_path)
    lines[3] += ",secret"
    assert "a row has more fields than the header" in message(foreign(tmp_path, lines))


def test_a_row_with_a_field_too_few(tmp_path: Path) -> None:
    lines = lines_of(tmp_path)
    lines[3] = lines[3].rsplit(",", 1)[0]
    assert "1 of 21 rows of a.csv have no number as minutes, first data row 3." in message(
        foreign(tmp_path, lines)
    )


def test_a_compressed_file_that_was_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(foreign(tmp_path, lines_of(tmp_path)).read_bytes())[:-30])
    assert "the file is damaged or cut off" in message(path)


def test_a_header_and_nothing_else(tmp_path: Path) -> None:
    assert "has a header and no rows" in message(foreign(tmp_path, lines_of(tmp_path)[:1]))


def test_an_empty_file(tmp_path: Path) -> None:
    assert "is empty" in message(foreign(tmp_path, []))
    assert "is empty" in message(foreign(tmp_path, ["", ""]))


# --- values that cannot be ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("place", "value", "said"),
    [
        (0, "", "1 of 21 rows of a.csv have no stay_id, first data row 4."),
        (1, "one", "have no whole number as prefix_length, first data row 4."),
        (1, "1.5", "have no whole number as prefix_length"),
        (2, "", "have no whole number as draw"),
        (3, "9999999999", "have no whole number as position"),
        (5, "secret", "have no number as minutes, first data row 4."),
        (5, "", "have no number as minutes"),
        (4, "secret", "have an activity that is no token of the vocabulary (1 different names)"),
        (4, "", "have an activity that is no token of the vocabulary (1 different names)"),
        (4, "vitals", "Write the 5 names as the prefixes have them, a visit ends with END"),
        (5, "nan", "1 of 21 gaps are no minutes (1 not a number)"),
        (5, "-inf", "1 of 21 gaps are no minutes (1 negative)"),
        (
            5,
            "-0.5",
            "1 of 21 gaps are no minutes (1 negative), first in the rollout that begins in",
        ),
    ],
)
def test_a_value_that_cannot_be(tmp_path: Path, place: int, value: str, said: str) -> None:
    lines = lines_of(tmp_path)
    fields = lines[4].split(",")
    fields[place] = value
    lines[4] = ",".join(fields)
    assert said in message(foreign(tmp_path, lines))


def test_a_gap_in_the_positions(tmp_path: Path) -> None:
    lines = lines_of(tmp_path)
    del lines[5]
    said = message(foreign(tmp_path, lines))
    assert "1 of 20 rows of a.csv leave a gap in the positions" in said
    assert "first data row 5." in said


def test_positions_that_do_not_begin_at_one(tmp_path: Path) -> None:
    lines = lines_of(tmp_path)
    lines[1:] = [
        ",".join([*line.split(",")[:3], str(int(line.split(",")[3]) + 7), *line.split(",")[4:]])
        for line in lines[1:]
    ]
    said = message(foreign(tmp_path, lines))
    assert "8 of 21 rows of a.csv leave a gap" in said
    assert "the prefix is not counted" in said


def test_a_position_that_comes_twice(tmp_path: Path) -> None:
    lines = lines_of(tmp_path)
    lines.append(lines[2])
    said = message(foreign(tmp_path, lines))
    assert "1 of 22 rows of a.csv repeat a position" in said
    assert "first data row 22." in said


def test_a_visit_without_end_and_below_the_cap_says_how_to_mark_it(tmp_path: Path) -> None:
    lines = lines_of(tmp_path)
    assert lines[7].endswith("4,END,1e-7")
    del lines[7]
    said = message(foreign(tmp_path, lines))
    assert "1 of 8 rollouts have no END and fewer events than the cap of 4" in said
    assert "first the rollout that begins in data row 4." in said
    assert "has END as its last event" in said
    assert "the cap that was used into the header" in said


def test_an_unknown_stay_is_found_where_it_is_in_the_file(tmp_path: Path) -> None:
    lines = lines_of(tmp_path)
    lines = [lines[0], *reversed(lines[1:])]
    lines = [line.replace("secret-a,2", "secret-z,2") for line in lines]
    rows = read_csv_rows(foreign(tmp_path, lines), FOREIGN)
    fault = find_faults(rows, EXPECTED)[0]
    assert fault.sentence.startswith("2 of 8 rollouts name a stay that the cohort does not have")
    second_from_the_end = 1 + lines[1:].index(
        next(line for line in lines[1:] if line.startswith("secret-z,2,1,1"))
    )
    assert f"begins in data row {second_from_the_end}." in fault.sentence


# --- the header beside the file -------------------------------------------------------------


def test_a_changed_file_is_no_longer_what_its_header_says(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    write_csv(small_rollouts(), path, STAY_IDS)
    path.write_text(path.read_text().replace("0.1\n", "0.2\n"))
    with pytest.raises(BadTableError, match=r"a.csv.json is not the header of a.csv, which has ch"):
        read_csv_rows(path)


def test_another_tool_may_write_a_header_beside_its_file(tmp_path: Path) -> None:
    path = foreign(tmp_path, lines_of(tmp_path))
    tokens = ", ".join(f'"{token}"' for token in HEADER.tokens)
    header_path(path).write_text(
        f'{{"schema_version": 1, "producer": "R", "cap": 4, "draws": 2, "tokens": [{tokens}]}}'
    )
    assert checked(read_csv_rows(path), EXPECTED).header.producer == "R"


def test_a_broken_header_beside_the_file_is_said(tmp_path: Path) -> None:
    path = foreign(tmp_path, lines_of(tmp_path))
    header_path(path).write_text("{")
    assert "the header of a.csv.json is not JSON" in message(path)
