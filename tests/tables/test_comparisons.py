"""Comparisons files come back as they were written; anything else is refused in words."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from edsim.errors import BadTableError
from edsim.tables.comparisons import (
    Comparison,
    ComparisonRow,
    Comparisons,
    SeedRow,
    read_comparisons,
    write_comparisons,
)

TABLE = Comparisons(
    cohort={"id": "c", "restricted": True},
    launches="matched-1k",
    cap=128,
    draws=4,
    resamples=1000,
    permutations=2000,
    comparisons=(
        Comparison(
            a="gru",
            b="ngram:3",
            n_launches=1000,
            n_stays=400,
            rows=(
                ComparisonRow(metric="crps", a=1.5, b=2.0, difference=-0.5, p_value=0.01),
                ComparisonRow(metric="brier", at=4.0, note="one draw a launch"),
            ),
            seeds=(SeedRow(metric="jsd", seeds_needed=4),),
            producers_a=("gru@1", "gru@2"),
        ),
    ),
)


def test_a_file_comes_back_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "comparisons.json"
    write_comparisons(TABLE, path)
    assert read_comparisons(path) == TABLE
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def of_rows(change: Callable[[dict[str, Any]], Any]) -> Callable[[Any], Any]:
    def changed(said: Any) -> Any:
        change(said["comparisons"][0]["rows"][0])
        return said

    return changed


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda said: [said], "schema version"),
        (lambda said: {**said, "schema_version": 2}, "schema version"),
        (lambda said: {**said, "more": 1}, "1 fields that are not known"),
        (lambda said: {k: v for k, v in said.items() if k != "cap"}, "lacks cap"),
        (lambda said: {**said, "cap": "128"}, "wrong type in cap"),
        (lambda said: {**said, "cap": True}, "wrong type in cap"),
        (lambda said: {**said, "comparisons": [3]}, "comparisons 0 is not a JSON object"),
        (of_rows(lambda row: row.update(p_value="small")), "rows 0 has .* wrong type in p_value"),
        (of_rows(lambda row: row.update(p_value=float("nan"))), "wrong type in p_value"),
        (of_rows(lambda row: row.pop("metric")), "lacks metric"),
    ],
)
def test_what_is_not_one_is_refused(tmp_path: Path, spoil: Callable[[Any], Any], says: str) -> None:
    path = tmp_path / "comparisons.json"
    write_comparisons(TABLE, path)
    path.write_text(json.dumps(spoil(json.loads(path.read_text()))))
    with pytest.raises(BadTableError, match=says):
        read_comparisons(path)


def test_no_file_and_no_json_say_so(tmp_path: Path) -> None:
    with pytest.raises(BadTableError, match="edsim compare"):
        read_comparisons(tmp_path / "none.json")
    (tmp_path / "text.json").write_text("{")
    with pytest.raises(BadTableError, match="not JSON"):
        read_comparisons(tmp_path / "text.json")
