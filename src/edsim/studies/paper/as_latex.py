"""A table of the paper as LaTeX with booktabs, one float a panel, ready for \\input.

A panel that is longer than a page goes on in further floats; one that is wider is made to fit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from edsim.studies.paper.writing import interval, ours, theirs
from edsim.tables.paper import Panel, PaperCell, PaperTable

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
}
ROWS_A_PAGE = 24
"""Of ours, each with a line of the paper's numbers under it."""
WIDEST = 6
"""Columns that fit on a line as they are."""
_POWER = re.compile(r"(-?[\d.]+)x10\^(-?\d+)")
_MINUS = re.compile(r"(?<![\w-])-(?=[\d.])")


def latex(table: PaperTable) -> str:
    """A float for each panel; a line of the paper's numbers and verdicts under each of ours."""
    lines = ["% \\usepackage{booktabs,graphicx}"]
    for number, panel in enumerate(table.panels):
        for start, tabular in _tabulars(panel):
            first = number == start == 0
            said = _whole_caption(table) if first else _short_caption(table, panel, start > 0)
            lines += [r"\begin{table}[ht]", r"\centering", rf"\caption{{{said}}}"]
            if first:
                lines.append(rf"\label{{{table.label.replace(' ', '-')}-again}}")
            lines += [r"\footnotesize", *tabular, r"\end{table}"]
    return "\n".join([*lines, ""])


def _whole_caption(table: PaperTable) -> str:
    first = table.panels[0].title
    named = f" {text(first)}." if first else ""
    notes = " ".join(text(note) for note in table.notes)
    return f"{text(table.title)}.{named} {text(table.data)} {notes}".strip()


def _short_caption(table: PaperTable, panel: Panel, continued: bool) -> str:
    named = ", ".join(part for part in (table.title, panel.title) if part)
    return text(named + (" (continued)" if continued else "")) + "."


def text(said: str) -> str:
    """Plain text with everything escaped that LaTeX would read; numbers with their powers."""
    parts, at = [], 0
    for power in _POWER.finditer(said):
        parts += [_plain(said[at : power.start()]), rf"${power[1]}\times10^{{{power[2]}}}$"]
        at = power.end()
    return "".join([*parts, _plain(said[at:])])


def _plain(said: str) -> str:
    escaped = "".join(_SPECIAL.get(sign, sign) for sign in said)
    return _MINUS.sub("$-$", escaped)


def _tabulars(panel: Panel) -> Iterator[tuple[int, list[str]]]:
    """The lines of each page of a panel, with the number of its first row."""
    missing = [rf"Not here: {text(panel.missing)}\\[2pt]"] if panel.missing else []
    if not panel.cells:
        yield 0, missing
    for start in range(0, len(panel.rows), ROWS_A_PAGE):
        rows = panel.rows[start : start + ROWS_A_PAGE]
        yield start, [*(missing if start == 0 else []), *_tabular(panel, rows)]


def _tabular(panel: Panel, rows: Sequence[str]) -> list[str]:
    wide = len(panel.columns) > WIDEST
    lines = [r"\resizebox{\linewidth}{!}{%"] if wide else []
    lines += [rf"\begin{{tabular}}{{l{'c' * len(panel.columns)}}}", r"\toprule"]
    lines.append(" & ".join(["", *[text(column) for column in panel.columns]]) + r" \\")
    lines.append(r"\midrule")
    for row in rows:
        cells = [panel.cell(row, column) for column in panel.columns]
        lines.append(" & ".join([text(row), *[_ours(cell) for cell in cells]]) + r" \\")
        if any(cell is not None and cell.theirs for cell in cells):
            beside = [_theirs(cell) for cell in cells]
            lines.append(" & ".join([r"\quad\scriptsize paper", *beside]) + r" \\")
    return [*lines, r"\bottomrule", r"\end{tabular}" + ("}" if wide else "")]


def _ours(cell: PaperCell | None) -> str:
    if cell is None:
        return ""
    said = text(ours(cell)).replace(" to ", "--")
    return " ".join(
        part for part in (said, rf"\scriptsize {text(interval(cell))}") if part[-1:] != " "
    )


def _theirs(cell: PaperCell | None) -> str:
    if cell is None or cell.theirs is None:
        return ""
    verdict = f" ({cell.agreement})" if cell.agreement else ""
    return rf"\scriptsize {text(theirs(cell)).replace(' to ', '--')}{verdict}"
