"""A table of the paper as Markdown: ours with its interval, the paper's number and the verdict."""

from __future__ import annotations

from collections.abc import Sequence

from edsim.studies.paper.writing import difference, interval, ours, theirs
from edsim.tables.paper import Panel, PaperCell, PaperTable
from edsim.tables.paper_agreement import AGREEMENTS, line_orders

OUTSIDE = (
    "Intervals of divergences are of the value less the measure's own noise; with few launches the "
    "number itself, which holds that noise as the paper's do, can lie outside."
)


def markdown(table: PaperTable, pictures: Sequence[str] = ()) -> str:
    """The page of one table; `pictures` are names of files beside it."""
    lines = [f"# {table.title}", "", f"`{table.label}`. {table.data}", ""]
    for name in pictures:
        lines += [f"![{table.title}]({name})", ""]
    for panel in table.panels:
        lines += _panel(panel)
    if any(_outside(cell) for cell in table.cells):
        lines += [OUTSIDE, ""]
    if table.notes:
        lines += ["Notes", "", *[f"- {note}" for note in table.notes], ""]
    said = [name for name in AGREEMENTS if any(c.agreement == name for c in table.cells)]
    if said:
        lines += ["What the verdicts say", ""]
        lines += [f"- *{name}*: {AGREEMENTS[name]}." for name in said]
        lines += [""]
    return "\n".join(lines)


def _panel(panel: Panel) -> list[str]:
    lines = [f"## {panel.title}", ""] if panel.title else []
    if panel.missing:
        lines += [f"Not here: {panel.missing}", ""]
    if not panel.cells:
        return lines
    lines.append("| | " + " | ".join(escaped(column) for column in panel.columns) + " |")
    lines.append("| --- |" + " --- |" * len(panel.columns))
    for row in panel.rows:
        cells = [_cell(panel.cell(row, column)) for column in panel.columns]
        lines.append(f"| {escaped(row)} | " + " | ".join(cells) + " |")
    kept = [
        f"{escaped(line)} {order.kept} of {order.n_pairs}"
        + (f" ({order.open} open)" if order.open else "")
        for line, order in line_orders(panel).items()
        if order.n_pairs
    ]
    if kept:
        pairs = "columns" if panel.along_rows else "rows"
        lines += ["", f"Pairs of {pairs} in the paper's order: " + "; ".join(kept) + "."]
    why = dict.fromkeys(cell.note for cell in panel.cells if not cell.ours and cell.note)
    lines += ["", *[f"Missing: {note}" for note in why]] if why else []
    return [*lines, ""]


def _outside(cell: PaperCell) -> bool:
    if cell.low is None or cell.high is None or len(cell.ours) != 1:
        return False
    return not cell.low <= cell.ours[0] <= cell.high


def _cell(cell: PaperCell | None) -> str:
    if cell is None:
        return ""
    first = " ".join(part for part in (ours(cell), interval(cell)) if part)
    printed = theirs(cell)
    if not printed:
        return first
    apart = difference(cell)
    second = f"paper {printed}" + (f" ({apart})" if apart else "")
    verdict = f" *{cell.agreement}*" if cell.agreement else ""
    return f"{first}<br>{escaped(second)}{verdict}"


def escaped(text: str) -> str:
    """Text in which nothing ends a cell of a Markdown table."""
    return text.replace("|", "\\|").replace("<", "&lt;")
