"""Everything said about one rollouts table: a long table of numbers, and where they come from.

In memory `ScoreSheet`, on disk `*.scores.json`. A number that cannot be computed is null, and the
row's note says why.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from edsim.tables.json_table import json_table, read_json_table
from edsim.tables.verdicts import Verdict
from edsim.tables.whole_file import whole_file

SCHEMA_VERSION = 1
SUFFIX = ".scores.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreRow:
    """One number: a measure of one group of launches, at one step or horizon where it has any."""

    metric: str
    population: str = "all"
    group: str = ""
    at: float | None = None
    value: float | None
    corrected: float | None = None
    """The value less the bias that sampling noise gives a divergence."""
    bias: float | None = None
    """Mean over resampled stays less the value, of divergences: the measure's own noise."""
    low: float | None = None
    high: float | None = None
    floor: float | None = None
    """What the loss of the best simulator would be on these launches."""
    floor_kind: str = ""
    """Where the floor comes from: "oracle", "bootstrap bias", "real vs real"."""
    reference: float | None = None
    """The value of the order-3 count model on the same launches."""
    loss: float | None = None
    """How far off the value is; 0 is best."""
    excess: float | None = None
    """loss - floor: what a better simulator could take off; below 0 by chance."""
    position: float | None = None
    """(loss - floor) / (reference's loss - floor): 0 at the floor, 1 at the reference."""
    target: str = ""
    """`low`, `high`, or the number that is right as text."""
    n_launches: int = 0
    n_stays: int = 0
    n_subjects: int = 0
    unit: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreSheet:
    """The scores of one rollouts table, and what decided them."""

    producer: str
    producer_version: str
    recipe: Mapping[str, Any]
    training_seed: int | None
    rule: str
    clock: str
    launches: str
    cap: int
    draws: int
    rollout_seed: int
    privileged: bool
    vocabulary: str
    vocabulary_sha256: str
    tokens: tuple[str, ...]
    cohort: Mapping[str, Any]
    """id, content_hash, source, restricted, time_of_day, n_stays, n_subjects, n_events, cap, split,
    attrition, discharges."""
    code_version: str
    rows: tuple[ScoreRow, ...]
    verdicts: tuple[Verdict, ...] = ()

    def find(
        self, metric: str, population: str = "all", group: str = "", at: float | None = None
    ) -> ScoreRow | None:
        """The row of a measure, or None."""
        key = (metric, population, group, at)
        return next(
            (row for row in self.rows if (row.metric, row.population, row.group, row.at) == key),
            None,
        )


def sheet_as_text(sheet: ScoreSheet) -> str:
    """The JSON of `*.scores.json`."""
    content = {
        "schema_version": SCHEMA_VERSION,
        **{field.name: getattr(sheet, field.name) for field in fields(sheet)},
        "rows": [_without_defaults(row) for row in sheet.rows],
        "verdicts": [asdict(verdict) for verdict in sheet.verdicts],
    }
    return json.dumps(content, ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def write_sheet(sheet: ScoreSheet, path: Path) -> None:
    """Write `*.scores.json`; for the owner alone where the cohort is restricted."""
    with whole_file(path, restricted=bool(sheet.cohort.get("restricted", True))) as stream:
        stream.write(sheet_as_text(sheet).encode())


def read_sheet(path: Path) -> ScoreSheet:
    """Read `*.scores.json`; what is none, or was written by a later version, is refused."""
    return read_json_table(ScoreSheet, path, what=_WHAT, version=SCHEMA_VERSION, again=_AGAIN)


def sheet_from_bytes(content: bytes, name: str) -> ScoreSheet:
    """The sheet of a file's content; `name` is what messages call the file."""
    return json_table(ScoreSheet, content, name, what=_WHAT, version=SCHEMA_VERSION, again=_AGAIN)


_WHAT = "table of scores"
_AGAIN = "Write it again with `edsim score --json`."


def _without_defaults(row: ScoreRow) -> dict[str, Any]:
    defaults = {field.name: field.default for field in fields(row)}
    return {name: value for name, value in asdict(row).items() if value != defaults[name]}
