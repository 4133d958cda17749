"""A table of the paper as CSV, a number a line: ours, the paper's, difference, verdict."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from edsim.tables.paper import PaperTable

COLUMNS = (
    "table",
    "panel",
    "row",
    "column",
    "ours",
    "ours_to",
    "low",
    "high",
    "paper_label",
    "paper",
    "paper_unit",
    "paper_population",
    "difference",
    "agreement",
    "note",
    "paper_note",
)


def csv_text(table: PaperTable) -> str:
    """All cells; `ours_to` is the other end where ours is a range.

    A panel that is not there has a line that says why in `note`, and no row or column.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(_lines(table))
    return out.getvalue()


def _lines(table: PaperTable) -> Iterator[list[object]]:
    for panel in table.panels:
        if panel.missing:
            why = {"table": table.label, "panel": panel.title, "note": panel.missing}
            yield [why.get(name) for name in COLUMNS]
        for cell in panel.cells:
            theirs = cell.theirs
            yield [
                table.label,
                panel.title,
                cell.row,
                cell.column,
                cell.ours[0] if cell.ours else None,
                cell.ours[-1] if len(cell.ours) > 1 else None,
                cell.low,
                cell.high,
                theirs.label if theirs else None,
                theirs.value if theirs else None,
                theirs.unit if theirs else None,
                theirs.population if theirs else None,
                cell.difference,
                cell.agreement,
                cell.note,
                theirs.note if theirs else None,
            ]
