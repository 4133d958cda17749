"""What `edsim paper` leaves: every table in three forms, every figure in three, and an index."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from edsim.charts import write_pictures
from edsim.studies.paper.as_csv import csv_text
from edsim.studies.paper.as_latex import latex
from edsim.studies.paper.as_markdown import escaped, markdown
from edsim.studies.paper.entry import Entry
from edsim.tables.paper import PaperTable
from edsim.tables.paper_agreement import AGREEMENTS
from edsim.tables.whole_file import whole_file

INDEX = "index.md"


@dataclass(frozen=True, slots=True)
class Written:
    """What one table came to, in a line."""

    label: str
    title: str
    file: str
    agreements: Counter[str]
    missing: tuple[str, ...]


def write_table(table: PaperTable, entry: Entry, folder: Path, *, restricted: bool) -> Written:
    """Markdown, LaTeX and CSV of a table, and its picture where it is a figure."""
    stem = file_stem(table.label)
    pictures: list[str] = []
    there = any(cell.ours for cell in table.cells)
    if entry.chart is not None and there:
        made = write_pictures(entry.chart(table), folder, stem, restricted=restricted)
        pictures = [path.name for path in made if path.suffix == ".svg"]
    for ending, text in (
        (".md", markdown(table, pictures)),
        (".tex", latex(table)),
        (".csv", csv_text(table)),
    ):
        _write(folder / f"{stem}{ending}", text, restricted)
    agreements = Counter(cell.agreement for cell in table.cells if cell.agreement)
    return Written(table.label, table.title, f"{stem}.md", agreements, table.missing)


def write_index(written: Sequence[Written], data: str, folder: Path, *, restricted: bool) -> Path:
    """The page that leads to all others."""
    lines = [
        "# The paper, made again",
        "",
        data,
        "",
        "| | table | " + " | ".join(AGREEMENTS) + " | missing |",
        "| --- | --- |" + " --- |" * (len(AGREEMENTS) + 1),
    ]
    for one in written:
        counts = [str(one.agreements[name] or "") for name in AGREEMENTS]
        missing = str(len(one.missing) or "")
        cells = [f"`{one.label}`", f"[{escaped(one.title)}]({one.file})", *counts, missing]
        lines.append("| " + " | ".join(cells) + " |")
    lines += ["", *[f"- *{name}*: {says}." for name, says in AGREEMENTS.items()], ""]
    reasons = dict.fromkeys(reason for one in written for reason in one.missing)
    if reasons:
        lines += ["## What is missing, and why", "", *[f"- {reason}" for reason in reasons], ""]
    path = folder / INDEX
    _write(path, "\n".join(lines), restricted)
    return path


def file_stem(label: str) -> str:
    """A label as a file's name.

    >>> file_stem("tab:app-dec7"), file_stem("app:ordercurve/temporal")
    ('tab-app-dec7', 'app-ordercurve-temporal')
    """
    return re.sub(r"[^\w.]+", "-", label)


def _write(path: Path, text: str, restricted: bool) -> None:
    with whole_file(path, restricted=restricted) as stream:
        stream.write(text.encode())
