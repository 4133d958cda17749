"""A bundle that may leave the place where the data are: aggregates only, and a list of them.

Single visits are never in it, whatever the cohort. Numbers of fewer than ten subjects are not,
nor a second one that a total would give away; texts of a producer are only those that name it.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from io import BytesIO
from pathlib import Path
from typing import Any

from edsim import __version__
from edsim.privacy import SMALLEST_CELL, Cell, small, without_small_cells, without_small_steps
from edsim.report.material import Material
from edsim.report.page import page_of
from edsim.tables.extract import Step
from edsim.tables.scores import SUFFIX, ScoreRow, ScoreSheet, sheet_as_text
from edsim.tables.whole_file import whole_file

PAGE = "report.html"
LIST = "CONTENTS.json"
HIDDEN = "fewer than 10 subjects, or a cell that would give one away"
_LONGEST = 200
"""Characters of a text that a producer brought with it."""
_COHORT = ("id", "content_hash", "source", "restricted", "time_of_day", "cap", "discharges")


@dataclass(frozen=True, slots=True)
class Content:
    """One file of a bundle."""

    name: str
    says: str
    data: bytes


def write_bundle(material: Material, path: Path) -> list[Content]:
    """Write the zip file, and give what it contains."""
    safe = shareable(material)
    page = page_of(safe, shared=True)
    contents = [
        Content(PAGE, "the report, without single visits", page.html.encode(errors="replace")),
        *(
            Content(f"scores/{number:02d}{SUFFIX}", f"{of} of {sheet.producer}", _bytes(sheet))
            for number, (of, sheet) in enumerate(_told(safe), start=1)
        ),
    ]
    contents.append(Content(LIST, "this list", _list(safe, contents)))
    with whole_file(path, restricted=material.restricted) as file:
        file.write(_zipped(contents))
    return contents


def _told(material: Material) -> list[tuple[str, ScoreSheet]]:
    """Every sheet of scores, and of what it holds the scores."""
    return [
        *(("scores of rollouts", sheet) for sheet in material.sheets),
        *(("scores of open-loop predictions", sheet) for sheet in material.open_loop),
    ]


def shareable(material: Material) -> Material:
    """The same without single visits, small cells, and texts nobody has looked at."""
    return replace(
        material,
        sheets=tuple(_safe(sheet) for sheet in material.sheets),
        open_loop=tuple(_safe(sheet) for sheet in material.open_loop),
        censuses=(),
        visits=(),
        left_out=(),
    )


def _safe(sheet: ScoreSheet) -> ScoreSheet:
    return replace(
        sheet,
        recipe={
            str(name): value
            for name, value in sheet.recipe.items()
            if isinstance(value, bool | int | float) or value is None
        },
        producer=_named(sheet.producer),
        cohort=_safe_cohort(sheet),
        rows=_without_small(sheet),
    )


def _named(producer: str) -> str:
    """A producer without the folders its file lay in."""
    return producer.replace("\\", "/").rsplit("/", 1)[-1][:_LONGEST]


def _safe_cohort(sheet: ScoreSheet) -> dict[str, Any]:
    """What a reader has to know, counts of few people merged or left out."""
    cohort = {name: sheet.cohort[name] for name in _COHORT if name in sheet.cohort}
    for name in ("n_stays", "n_subjects", "n_events"):
        if isinstance(sheet.cohort.get(name), int) and not small(sheet.cohort[name]):
            cohort[name] = sheet.cohort[name]
    steps = [_step(said) for said in sheet.cohort.get("attrition", [])]
    cohort["attrition"] = [asdict(step) for step in without_small_steps(steps)]
    split = sheet.cohort.get("split", {})
    parts = {
        name: part
        for name, part in split.get("parts", {}).items()
        if all(isinstance(n, int) and not small(n) for n in part.values())
    }
    whole = len(parts) == len(split.get("parts", {}))
    cohort["split"] = {"rule": split.get("rule", ""), "parts": parts if whole else {}}
    return cohort


def _step(said: dict[str, Any]) -> Step:
    return Step(**{field.name: said[field.name] for field in fields(Step) if field.name in said})


def _without_small(sheet: ScoreSheet) -> tuple[ScoreRow, ...]:
    """Rows with the numbers of few people taken out.

    Groups of a population add up to a total, and so do the shares of tokens: where one of them is
    hidden, so is a second.
    """
    tokens = set(sheet.tokens)
    sizes: dict[tuple[str, str], dict[str, tuple[int, int]]] = {}
    for row in sheet.rows:
        if row.value is not None and row.group:
            of = sizes.setdefault(_total(row, tokens), {})
            known = of.get(row.group, (0, 0))
            of[row.group] = (max(known[0], row.n_launches), max(known[1], row.n_subjects))
    hidden = {
        (total, cell.name)
        for total, groups in sizes.items()
        for cell in without_small_cells([Cell(name, *n) for name, n in groups.items()])[1]
    }
    return tuple(
        _emptied(row) if (_total(row, tokens), row.group) in hidden or rests_on_few(row) else row
        for row in sheet.rows
    )


def _total(row: ScoreRow, tokens: set[str]) -> tuple[str, str]:
    """What the cell of a row is a part of: a population, or a measure's shares of tokens."""
    return (row.population, row.metric if row.group in tokens else "")


def rests_on_few(row: ScoreRow) -> bool:
    """Whether a number rests on few people; that nobody has something may be said."""
    nobody = row.n_subjects == 0 and row.value == 0
    return row.value is not None and row.n_subjects < SMALLEST_CELL and not nobody


def _emptied(row: ScoreRow) -> ScoreRow:
    return ScoreRow(
        metric=row.metric,
        population=row.population,
        group=row.group,
        at=row.at,
        value=None,
        unit=row.unit,
        note=HIDDEN,
    )


def _bytes(sheet: ScoreSheet) -> bytes:
    return sheet_as_text(sheet).encode(errors="replace")


def _list(material: Material, contents: Sequence[Content]) -> bytes:
    """What is in the bundle, for somebody who has to decide whether it may go."""
    rows = [row for _, sheet in _told(material) for row in sheet.rows]
    said = {
        "made_by": f"edsim report --share, edsim-bench {__version__}",
        "cohort": material.sheets[0].cohort.get("id", ""),
        "restricted": material.restricted,
        "holds": "aggregates over launches: values, intervals, floors, references, counts",
        "never_holds": [
            "identifiers of stays or subjects",
            "rows of single visits, observed or generated",
            f"numbers of fewer than {SMALLEST_CELL} subjects",
            "paths of files",
            "hourly counts of patients",
        ],
        "numbers": sum(row.value is not None for row in rows),
        "numbers_left_out": sum(row.note == HIDDEN for row in rows),
        "smallest_group_subjects": min(
            (row.n_subjects for row in rows if row.value is not None and row.n_subjects),
            default=None,
        ),
        "measures": sorted({row.metric for row in rows}),
        "groups": sorted({row.population for row in rows}),
        "files": [
            {
                "name": one.name,
                "says": one.says,
                "bytes": len(one.data),
                "sha256": hashlib.sha256(one.data).hexdigest(),
            }
            for one in contents
        ],
    }
    return json.dumps(said, ensure_ascii=False, indent=1).encode(errors="replace") + b"\n"


def _zipped(contents: Sequence[Content]) -> bytes:
    """The same bytes for the same contents: no clock time goes in."""
    file = BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as bundle:
        for one in contents:
            bundle.writestr(zipfile.ZipInfo(one.name, (1980, 1, 1, 0, 0, 0)), one.data)
    return file.getvalue()
