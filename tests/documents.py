"""Pages of documentation as things to run: their commands, their snippets, their own stand-ins.

What runs of a page: every line of a fence marked `sh`, every fence marked `python`; a fence with
`title="NAME"` is written to that file instead. Every line of a fence `text title="printed"` must
have been printed by then, but for blanks and `...`. Fences of other kinds only show something. A
page says under "How this page is tested" what is made first and which words are replaced; no test
knows better.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from places import ROOT

SECTION = "## How this page is tested"
RUN = ("sh", "python")

_FENCE = re.compile(
    r"^```(\w*)(?: title=\"([^\"]+)\")?[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL
)
_ROW = re.compile(r"^\| `([^`]+)` \| (.+?) \|$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Step:
    """One command, one snippet, or one file to write."""

    kind: Literal["sh", "python", "file", "printed"]
    text: str
    line: int
    name: str = ""
    exit_code: int = 0


@dataclass(frozen=True, slots=True)
class StandIns:
    """What a page says about its own test."""

    replaced: Mapping[str, str] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    exit_codes: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, text: str) -> StandIns:
        """Read the table of the page's section."""
        replaced: dict[str, str] = {}
        left_out: list[str] = []
        exit_codes: dict[str, int] = {}
        for words, said in _ROW.findall(text):
            if said.startswith("not run"):
                left_out.append(words)
            elif said.startswith("exit code "):
                exit_codes[words] = int(said.split()[2])
            else:
                replaced[words] = said.strip("`")
        return cls(replaced, tuple(left_out), exit_codes)

    def unused(self, text: str) -> list[str]:
        """Words of the table that the page does not hold: a table must not outlive its page."""
        every = [*self.replaced, *self.left_out, *self.exit_codes]
        return [words for words in every if words not in text]

    def put_in(self, text: str) -> str:
        """The text with every word replaced that the page says is replaced."""
        for words, others in self.replaced.items():
            text = text.replace(words, others)
        return text


def pages() -> list[Path]:
    """Every page with something to run."""
    every = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [page for page in every if any(_runnable(page.read_text(encoding="utf-8")))]


def steps_of(page: Path) -> list[Step]:
    """What to run, in order: first what the page says is made first."""
    return list(_steps(page.read_text(encoding="utf-8")))


def stand_ins_of(page: Path) -> tuple[StandIns, str]:
    """The page's stand-ins, and the text they are about."""
    body, _, section = page.read_text(encoding="utf-8").partition(SECTION)
    return StandIns.of(section), body


def _runnable(text: str) -> Iterator[str]:
    return (kind for kind, _, _ in _FENCE.findall(text) if kind in RUN)


def _steps(text: str) -> Iterator[Step]:
    body, _, section = text.partition(SECTION)
    stand_ins = StandIns.of(section)
    yield from _steps_in(section, body.count("\n"), StandIns())
    yield from _steps_in(body, 0, stand_ins)


def _steps_in(text: str, before: int, stand_ins: StandIns) -> Iterator[Step]:
    for fence in _FENCE.finditer(text):
        kind, name, content = fence.groups()
        line = before + text[: fence.start(3)].count("\n") + 1
        if name == "printed":
            yield Step("printed", content, line)
        elif name:
            yield Step("file", stand_ins.put_in(content), line, name)
        elif kind == "python":
            yield Step("python", stand_ins.put_in(content), line)
        elif kind == "sh":
            yield from _commands(content, line, stand_ins)


def _commands(content: str, first: int, stand_ins: StandIns) -> Iterator[Step]:
    """The commands of a fence; a backslash at the end of a line carries on."""
    command, begin = "", first
    for number, line in enumerate(content.splitlines(), first):
        begin = begin if command else number
        command += line
        if command.endswith("\\"):
            command = command[:-1].rstrip() + " "
            continue
        said, command = " ".join(command.split()), ""
        if said and not said.startswith(("#", *stand_ins.left_out)):
            codes = [n for words, n in stand_ins.exit_codes.items() if said.startswith(words)]
            yield Step("sh", stand_ins.put_in(said), begin, exit_code=codes[0] if codes else 0)
