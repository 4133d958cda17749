"""Everything said about one rollouts table: a long table of numbers, and where they come from.

In memory `ScoreSheet`, on disk `*.scores.json`. A number that cannot be computed is null, and the
row's note says why.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, fields
from pathlib import Path
from typing import Any

from edsim.errors import BadTableError
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
    try:
        content = path.read_bytes()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise BadTableError(f"'{path}' cannot be read: {reason.lower()}.") from None
    return sheet_from_bytes(content, path.name)


def sheet_from_bytes(content: bytes, name: str) -> ScoreSheet:
    """The sheet of a file's content; `name` is what messages call the file."""
    try:
        said = json.loads(content)
    except (ValueError, RecursionError):
        raise BadTableError(f"{name} is not JSON. {_AGAIN}") from None
    if not isinstance(said, dict) or "schema_version" not in said:
        raise BadTableError(f"{name} is no table of scores. {_AGAIN}")
    version = said.pop("schema_version")
    if version != SCHEMA_VERSION or isinstance(version, bool):
        raise BadTableError(
            f"{name} has a schema version that this edsim does not read (it reads "
            f"{SCHEMA_VERSION}). {_AGAIN}"
        )
    said["rows"] = _all_of(ScoreRow, said.get("rows"), "rows", name)
    said["verdicts"] = _all_of(Verdict, said.get("verdicts", []), "verdicts", name)
    sheet: ScoreSheet = _made(ScoreSheet, said, name)
    return sheet


_AGAIN = "Write it again with `edsim score --json`."
_KINDS: dict[str, tuple[type, ...]] = {
    "str": (str,),
    "int": (int,),
    "float | None": (int, float, type(None)),
    "int | None": (int, type(None)),
    "bool": (bool,),
    "Mapping[str, Any]": (dict,),
    "tuple[str, ...]": (list,),
    "tuple[ScoreRow, ...]": (tuple,),
    "tuple[Verdict, ...]": (tuple,),
}


def _without_defaults(row: ScoreRow) -> dict[str, Any]:
    defaults = {field.name: field.default for field in fields(row)}
    return {name: value for name, value in asdict(row).items() if value != defaults[name]}


def _all_of(kind: type, said: Any, name: str, file: str) -> tuple[Any, ...]:
    if not isinstance(said, list) or not all(isinstance(one, dict) for one in said):
        raise BadTableError(f"`{name}` in {file} is not a list of objects. {_AGAIN}")
    return tuple(_made(kind, one, f"{file}, {name} {i}") for i, one in enumerate(said))


def _made(kind: type, said: dict[str, Any], where: str) -> Any:
    """The dataclass of these values; a missing, unknown or wrong one is refused by its field."""
    kinds = {field.name: _KINDS[str(field.type)] for field in fields(kind)}
    needed = {field.name for field in fields(kind) if field.default is MISSING}
    unknown = said.keys() - kinds.keys()
    if unknown or needed - said.keys():
        missing = ", ".join(sorted(needed - said.keys()))
        what = f"lacks {missing}" if missing else f"has {len(unknown)} fields that are not known"
        raise BadTableError(f"{where} {what}. {_AGAIN}")
    wrong = sorted(name for name, value in said.items() if not _fits(value, kinds[name]))
    if wrong:
        raise BadTableError(
            f"{where} has a value of the wrong type in {', '.join(wrong)}. {_AGAIN}"
        )
    return kind(**{k: tuple(v) if isinstance(v, list) else v for k, v in said.items()})


def _fits(value: Any, kinds: tuple[type, ...]) -> bool:
    if isinstance(value, bool):
        return bool in kinds
    if isinstance(value, list):
        return list in kinds and all(isinstance(one, str) for one in value)
    return isinstance(value, kinds) and not (isinstance(value, float) and not math.isfinite(value))
