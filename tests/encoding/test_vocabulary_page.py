"""What docs/vocabularies.md shows is true."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
import pytest

from edsim.encoding.vocabulary import load, packaged_names

PAGE = (Path(__file__).parents[2] / "docs" / "vocabularies.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```toml\n(.*?)```", PAGE, flags=re.DOTALL)


def written(folder: Path, text: str) -> Path:
    path = folder / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("text", EXAMPLES, ids=["whole", "extended", "fitted"])
def test_every_example_file_can_be_read(tmp_path: Path, text: str) -> None:
    load(written(tmp_path, text))


def test_the_example_department_does_what_its_comments_say(tmp_path: Path) -> None:
    vocabulary = load(written(tmp_path, EXAMPLES[0])).resolve()
    rows = [
        ("Enter the ED", "HELICOPTER"),
        ("Enter the ED", None),
        ("Medicine dispensations", "HYDROmorphone (D 1mg/1mL 1mL SYR"),
        ("Medicine dispensations", "Apomorphine"),
        ("Discharge from the ED", "HOME"),
        ("Vital sign check", None),
    ]
    kinds = pl.DataFrame(rows, schema=["activity", "detail"], orient="row")
    assigned = vocabulary.assign(kinds.with_columns(flag=pl.lit(None, pl.String)))
    assert [vocabulary.tokens[token] for token in assigned["token"]] == [
        "Arrival by ambulance",
        "Other arrival",
        "Medicine: opioid",
        "Medicine: other",
        "Departure",
        "Anything else",
    ]
    assert [vocabulary.tokens[token] for token in vocabulary.discharges] == ["Departure"]


def test_the_example_that_extends_moves_aspirin_and_nothing_else(tmp_path: Path) -> None:
    ours, ed32 = load(written(tmp_path, EXAMPLES[1])).resolve(), load("ed32").resolve()
    kinds = pl.DataFrame(
        {"activity": "Medicine dispensations", "detail": ["Aspirin 81mg", "Heparin"], "flag": None}
    )
    before, after = (v.assign(kinds)["token"].to_list() for v in (ed32, ours))
    assert [ours.tokens[token] for token in after] == [
        "Dispensation other analgesic",
        "Dispensation cardiovascular",
    ]
    assert before[1] == after[1]
    assert before[0] != after[0]


def test_every_packaged_vocabulary_is_in_the_table() -> None:
    assert all(f"| `{name}` |" in PAGE for name in packaged_names())
