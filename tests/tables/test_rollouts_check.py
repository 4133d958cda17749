"""Every way in which the content of a rollouts table can be wrong has one clear message."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from small_rollouts import EXPECTED, HEADER, LAUNCHES, foreign_columns, write_foreign

from edsim.errors import BadTableError
from edsim.tables.rollouts_check import checked, find_faults
from edsim.tables.rollouts_file import read_rows
from edsim.tables.rollouts_rows import Expected


def broken(tmp_path: Path, column: str, row: int, value: Any, **header: Any) -> Path:
    """The small table with one value changed; rows are counted from 1."""
    columns = foreign_columns()
    columns[column][row - 1] = value
    types = {"tokens": pa.list_(pa.int32())}
    return write_foreign(tmp_path / "a.parquet", columns, types=types, **header)


def only_fault(path: Path, expected: Expected | None = EXPECTED) -> tuple[str, str]:
    """The one thing that is wrong; the reader raises with the same sentence."""
    rows = read_rows(path)
    faults = find_faults(rows, expected)
    assert len(faults) == 1, [fault.name for fault in faults]
    with pytest.raises(BadTableError) as raised:
        checked(rows, expected)
    assert str(raised.value) == f"a.parquet: {faults[0].sentence}"
    assert "secret" not in faults[0].sentence
    return faults[0].name, faults[0].sentence


def test_the_small_table_has_no_fault(tmp_path: Path) -> None:
    assert not find_faults(read_rows(write_foreign(tmp_path / "a.parquet")), EXPECTED)


def test_a_stay_that_the_cohort_does_not_have(tmp_path: Path) -> None:
    columns = foreign_columns()
    columns["stay_id"][6:] = ["secret-z"] * 2
    path = write_foreign(tmp_path / "a.parquet", columns)
    name, sentence = only_fault(path)
    assert name == "unknown_stay"
    assert sentence.startswith("2 of 8 rows name a stay that the cohort does not have, first row 7")


def test_an_id_is_not_found_by_its_beginning(tmp_path: Path) -> None:
    for almost in ("secret", "secret-a ", "secret-zz"):
        columns = foreign_columns()
        columns["stay_id"][:4] = [almost] * 4
        path = write_foreign(tmp_path / "a.parquet", columns)
        assert only_fault(path)[0] == "unknown_stay"


@pytest.mark.parametrize("length", [0, -1, 4])
def test_a_prefix_length_outside_the_stay(tmp_path: Path, length: int) -> None:
    name, sentence = only_fault(broken(tmp_path, "prefix_length", 3, length))
    assert name == "prefix_length"
    assert sentence.startswith("1 of 8 rows have a prefix length outside 1 to the stay's number")
    assert "first row 3" in sentence


@pytest.mark.parametrize("draw", [-1, 2])
def test_a_draw_that_the_header_does_not_promise(tmp_path: Path, draw: int) -> None:
    name, sentence = only_fault(broken(tmp_path, "draw", 6, draw))
    assert name == "draw"
    assert sentence.startswith("1 of 8 rows have a draw outside 0 to 1, first row 6.")


def test_a_launch_and_draw_that_comes_twice(tmp_path: Path) -> None:
    name, sentence = only_fault(broken(tmp_path, "draw", 2, 0))
    assert name == "duplicate"
    assert sentence.startswith("1 of 8 rows repeat the (stay_id, prefix_length, draw) of an earlie")
    assert "first row 2." in sentence


def test_a_launch_with_a_draw_missing(tmp_path: Path) -> None:
    columns = {name: values[:4] + values[5:] for name, values in foreign_columns().items()}
    name, sentence = only_fault(write_foreign(tmp_path / "a.parquet", columns))
    assert name == "missing_draws"
    assert sentence.startswith("1 of 4 launches have fewer than the 2 draws")
    assert "the launch of row 5." in sentence


def test_a_launch_of_the_set_without_a_rollout(tmp_path: Path) -> None:
    columns = {name: values[:2] + values[4:] for name, values in foreign_columns().items()}
    name, sentence = only_fault(write_foreign(tmp_path / "a.parquet", columns))
    assert name == "missing_launches"
    assert sentence.startswith("1 of the 4 launches of the launch set have no rollout, first launc")
    assert "first launch 2 of the set" in sentence


def test_a_launch_that_is_not_in_the_set(tmp_path: Path) -> None:
    expected = replace(EXPECTED, launches=LAUNCHES[1:])
    name, sentence = only_fault(write_foreign(tmp_path / "a.parquet"), expected)
    assert name == "foreign_launch"
    assert sentence.startswith("2 of 8 rows continue a launch that is not in the launch set")


def test_without_a_launch_set_any_launches_of_the_cohort_will_do(tmp_path: Path) -> None:
    columns = {name: values[:2] + values[4:] for name, values in foreign_columns().items()}
    rows = read_rows(write_foreign(tmp_path / "a.parquet", columns))
    assert not find_faults(rows, replace(EXPECTED, launches=None))


def test_tokens_and_minutes_of_different_lengths(tmp_path: Path) -> None:
    name, sentence = only_fault(broken(tmp_path, "minutes", 1, [1.0]))
    assert name == "lengths_differ"
    assert sentence.startswith("1 of 8 rows do not have as many `tokens` as `minutes`, first row 1")


def test_a_suffix_without_an_event(tmp_path: Path) -> None:
    columns = foreign_columns()
    columns["tokens"][7], columns["minutes"][7] = [], []
    name, sentence = only_fault(write_foreign(tmp_path / "a.parquet", columns))
    assert name == "empty"
    assert sentence.startswith("1 of 8 rows have no event at all, first row 8.")


@pytest.mark.parametrize("token", [-1, 5, 40000, -65536])
def test_a_token_that_is_none_of_the_vocabulary(tmp_path: Path, token: int) -> None:
    name, sentence = only_fault(broken(tmp_path, "tokens", 6, [1, token, 3, token]))
    assert name == "token_range"
    assert sentence.startswith("2 of 21 events have a token outside 0 to 4, first in row 6.")


def test_end_in_the_middle(tmp_path: Path) -> None:
    name, sentence = only_fault(broken(tmp_path, "tokens", 3, [3, 0, 4, 0]))
    assert name == "end_inside"
    assert sentence.startswith("1 of 8 rows have END before their last event, first row 3.")


def test_an_event_after_end(tmp_path: Path) -> None:
    path = broken(tmp_path, "tokens", 4, [2, 2, 0, 2])
    name, _ = only_fault(path)
    assert name == "end_inside"


@pytest.mark.parametrize(
    ("minutes", "kind"),
    [(-1.0, "negative"), (float("nan"), "not a number"), (float("inf"), "infinite")],
)
def test_a_gap_that_is_no_minutes(tmp_path: Path, minutes: float, kind: str) -> None:
    name, sentence = only_fault(broken(tmp_path, "minutes", 8, [2.5, minutes, 0.0]))
    assert name == "minutes"
    assert sentence.startswith(f"1 of 21 gaps are no minutes (1 {kind}), first in row 8.")


def test_a_gap_too_large_for_float32_is_infinite(tmp_path: Path) -> None:
    columns = foreign_columns()
    columns["minutes"][1] = [1e300]
    types = {"minutes": pa.list_(pa.float64())}
    path = write_foreign(tmp_path / "a.parquet", columns, types=types)
    assert "1 infinite" in only_fault(path)[1]


@pytest.mark.parametrize(("row", "stop"), [(1, "cap"), (4, "end")])
def test_a_stop_that_contradicts_the_tokens(tmp_path: Path, row: int, stop: str) -> None:
    name, sentence = only_fault(broken(tmp_path, "stop", row, stop))
    assert name == "stop"
    assert sentence.startswith("1 of 8 rows have a `stop` that contradicts their tokens, first row")


def test_more_events_than_the_cap(tmp_path: Path) -> None:
    columns = foreign_columns()
    columns["tokens"][0], columns["minutes"][0] = [1, 1, 1, 1, 0], [0.0] * 5
    name, sentence = only_fault(write_foreign(tmp_path / "a.parquet", columns))
    assert name == "too_long"
    assert sentence.startswith("1 of 8 rows hold more events than the cap of 4 allows, END counted")


def test_a_capped_row_with_events_to_spare(tmp_path: Path) -> None:
    columns = foreign_columns()
    columns["tokens"][3], columns["minutes"][3] = [2, 2, 2], [0.0] * 3
    name, sentence = only_fault(write_foreign(tmp_path / "a.parquet", columns))
    assert name == "cap_not_full"
    assert sentence.startswith(
        "1 of 8 rows have no END and fewer events than the cap of 4, first row 4."
    )


def test_another_cohort(tmp_path: Path) -> None:
    path = write_foreign(tmp_path / "a.parquet", content_hash="d" * 64)
    name, sentence = only_fault(path)
    assert name == "cohort"
    assert "made for another cohort" in sentence
    assert "roll out again" in sentence


def test_another_vocabulary(tmp_path: Path) -> None:
    path = write_foreign(tmp_path / "a.parquet", vocabulary_sha256="w" * 64)
    name, sentence = only_fault(path)
    assert name == "vocabulary"
    assert "another vocabulary" in sentence


@pytest.mark.parametrize(
    "said",
    [{"tokens": ["END", "Enter"]}, {"vocabulary": "another"}, {"vocabulary_sha256": "w" * 64}],
)
def test_whatever_is_said_of_the_vocabulary_has_to_be_true(
    tmp_path: Path, said: dict[str, object]
) -> None:
    assert only_fault(write_foreign(tmp_path / "a.parquet", **said))[0] == "vocabulary"


def test_token_names_in_another_order_are_another_vocabulary(tmp_path: Path) -> None:
    tokens = [HEADER.tokens[i] for i in (0, 2, 1, 3, 4)]
    path = write_foreign(tmp_path / "a.parquet", vocabulary_sha256="", tokens=tokens)
    assert only_fault(path)[0] == "vocabulary"


def test_token_numbers_without_any_names_are_refused(tmp_path: Path) -> None:
    path = write_foreign(tmp_path / "a.parquet", vocabulary_sha256="", tokens=[])
    name, sentence = only_fault(path)
    assert name == "vocabulary"
    assert "its token numbers mean nothing" in sentence


def test_several_faults_are_counted_in_the_message(tmp_path: Path) -> None:
    columns = foreign_columns()
    columns["tokens"][0] = [9, 0]
    columns["minutes"][1] = [-1.0]
    rows = read_rows(write_foreign(tmp_path / "a.parquet", columns))
    assert [fault.name for fault in find_faults(rows, EXPECTED)] == ["token_range", "minutes"]
    with pytest.raises(BadTableError, match=r"outside 0 to 4.* \(1 more kind of fault follows\.\)"):
        checked(rows, EXPECTED)


def test_faults_are_what_a_slow_reading_finds(tmp_path: Path) -> None:
    """Random damage, against the rules written down row by row."""
    chance = np.random.default_rng(0)
    seen = set()
    for _ in range(60):
        columns = foreign_columns()
        for i in range(8):
            if chance.random() < 0.1:
                columns["tokens"][i] = chance.integers(-1, 6, chance.integers(0, 6)).tolist()
            if chance.random() < 0.1:
                columns["minutes"][i] = chance.normal(2, 1, len(columns["tokens"][i])).tolist()
            if chance.random() < 0.03:
                columns["draw"][i] = int(chance.integers(0, 3))
        rows = read_rows(write_foreign(tmp_path / "a.parquet", columns))
        found = {fault.name for fault in find_faults(rows, EXPECTED)}
        assert found == slow_faults(columns)
        seen |= found
    assert {"token_range", "minutes", "draw", "duplicate", "end_inside", "empty"} <= seen


def slow_faults(columns: dict[str, list[Any]]) -> set[str]:
    """Names of the faults of the small table's columns, one rule after the other."""
    found = set()
    keys = list(zip(columns["stay_id"], columns["prefix_length"], columns["draw"], strict=True))
    if any(draw not in (0, 1) for draw in columns["draw"]):
        found.add("draw")
    if len(set(keys)) < len(keys):
        found.add("duplicate")
    rows = zip(columns["tokens"], columns["minutes"], columns["stop"], strict=True)
    for tokens, minutes, stop in rows:
        ends = tokens[-1:] == [0]
        rules = {
            "lengths_differ": len(tokens) != len(minutes),
            "empty": not tokens,
            "token_range": any(not 0 <= token < 5 for token in tokens),
            "end_inside": 0 in tokens[:-1],
            "minutes": any(not minute >= 0 for minute in minutes),
            "stop": bool(tokens) and ends != (stop == "end"),
            "too_long": len(tokens) > 4,
            "cap_not_full": 0 < len(tokens) < 4 and not ends and stop == "cap",
        }
        found |= {name for name, broken_rule in rules.items() if broken_rule}
    return found
