"""The paper's LaTeX read far enough to see its numbers: table by table, section by section."""

from __future__ import annotations

import os
import re
from pathlib import Path

from places import ROOT, missing

NUMBER = re.compile(r"(?<![\w.])[-+]?\d[\d,]*(?:\.\d+)*(?:x10\^-?\d+)?(?:--\d[\d,]*(?:\.\d+)?)?")
TABULAR = re.compile(r"\\begin\{tabular\}\{.*?\}\n(.*?)\\end\{tabular\}", re.DOTALL)
COMMANDS = re.compile(
    r"\\(?:label|ref|citep|citet|bibliography|bibliographystyle|url|includegraphics|setlength"
    r"|renewcommand|cmidrule\(lr\))(?:\[[^]]*\])?\{[^}]*\}(?:\{[^}]*\})?"
)


def paper_text() -> str:
    """The text; the test is skipped where it is not there."""
    default = ROOT.parent / "shared" / "paper" / "edsim-bench.tex"
    path = Path(os.environ.get("EDSIM_PAPER_TEX", default))
    if not path.is_file():
        missing("the paper's text is not here: set EDSIM_PAPER_TEX to edsim-bench.tex")
    text = path.read_text(encoding="utf-8")
    return re.sub(r"(?<!\\)%.*", "", text[text.index(r"\begin{abstract}") :])


def tables(text: str) -> dict[str, list[str]]:
    """The numbers of each table's cells by its last label, in reading order; headers have none."""
    found = {}
    for table in re.findall(r"\\begin\{table\}.*?\\end\{table\}", text, re.DOTALL):
        label = re.findall(r"\\label\{(.*?)\}", table)[-1]
        body = TABULAR.search(table)
        assert body is not None
        lines = body[1].partition(r"\midrule")[2].split(r"\\")  # what heads the columns is before
        cells = [cell for line in lines for cell in _value_cells(line, label)]
        found[label] = [number for cell in cells for number in numbers(cell)]
    return found


def sections(text: str) -> dict[str, str]:
    """The text of each section and subsection by its label, without what stands in tables."""
    outside = TABULAR.sub("", text)
    places = [(m.start(), m[1]) for m in re.finditer(r"\\label\{((?:sec|app):[^}]*)\}", outside)]
    begins = [(0, "abstract"), *places]
    ends = [*(start for start, _ in places), len(outside)]
    return {
        label: plain(outside[start:end]) for (start, label), end in zip(begins, ends, strict=True)
    }


def numbers(text: str) -> list[str]:
    """Numbers and ranges as `paper_values.csv` writes them."""
    return [
        re.sub(r"(?<=\d)--(?=\d)", "-", match[0].rstrip(",")) for match in NUMBER.finditer(text)
    ]


def plain(latex: str) -> str:
    text = COMMANDS.sub("", latex)
    for old, new in (("{,}", ","), (r"\,", " "), (r"\xF{}", "xF"), (r"\pm", " ± "), ("(", " ")):
        text = text.replace(old, new)
    text = re.sub(r"\\times\s*10\^\{(-?\d+)\}", r"x10^\1", text)
    return re.sub(r"[{}$]", "", text)


def _value_cells(line: str, label: str) -> list[str]:
    """The cells of a line after those that name it."""
    cells = [
        plain(re.sub(r"\\(?:top|mid|bottom)rule|\\textbf", "", cell)) for cell in line.split("&")
    ]
    return cells[NAMING.get(label, 1) :]


NAMING = {
    "tab:app-openloop": 2,
    "tab:app-matchdur": 2,
    "tab:app-closed": 2,
    "tab:app-scale": 2,
    "tab:app-seed": 2,
    "tab:app-cov": 2,
    "tab:app-cap": 2,
    "tab:loop": 2,
    "tab:mcmed": 2,
}
"""How many cells of a line name it, where it is not one."""
