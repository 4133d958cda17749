"""The static site of a leaderboard: a page for each setting, and one that leads to them.

It uses the table, the style and the scripts of the report. Every page stands on its own: it loads
nothing, runs no script but its own, and shows every text of an entry as text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from edsim import __version__
from edsim.leaderboard.collection import Entry, Setting, Settings, in_groups
from edsim.report import theme
from edsim.report.board import Board, board_of
from edsim.report.entries import Entry as Producer
from edsim.report.entries import entries_of
from edsim.report.finding import finding, firmness, verdict
from edsim.report.page import PAGES, policy_of, safe_json
from edsim.tables.scores import ScoreSheet, sheet_as_text

FRONT = "index.html"
SCORES = "entries"
_OWN = Path(__file__).parent / "pages"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A group of comparable entries, laid out."""

    page: str
    setting: Setting
    entries: Sequence[Entry]
    producers: Sequence[Producer]
    board: Board
    finding: str
    firmness: str

    @property
    def sheet(self) -> ScoreSheet:
        """One of the group, for what all have in common."""
        return self.entries[0].sheet

    @property
    def n_launches(self) -> int:
        """How many launches were scored."""
        row = self.sheet.find("termination")
        return 0 if row is None else row.n_launches

    def file_of(self, producer: Producer) -> str:
        """The file that a line of the board comes from."""
        return next(entry.name for entry in self.entries if entry.sheet is producer.sheet)


def site_of(entries: Sequence[Entry], settings: Settings) -> Iterator[tuple[str, str]]:
    """Every file of the site: its path and its content."""
    groups = [_shown(setting, members) for setting, members in in_groups(entries).items()]
    yield FRONT, _render("front.html", settings, groups=groups, n_entries=len(entries))
    for group in groups:
        yield group.page, _render("setting.html", settings, group=group, data=_data(group.board))
    for entry in entries:
        yield f"{SCORES}/{entry.name}", sheet_as_text(entry.sheet)


def _shown(setting: Setting, entries: Sequence[Entry]) -> Shown:
    producers = entries_of([entry.sheet for entry in entries])
    board = board_of(producers)
    return Shown(
        page=_page_name(setting, entries[0].sheet),
        setting=setting,
        entries=entries,
        producers=producers,
        board=board,
        finding=finding(board),
        firmness=firmness(board),
    )


def _page_name(setting: Setting, sheet: ScoreSheet) -> str:
    """Of letters, digits and dashes, and different for different settings."""
    said = (sheet.cohort.get("source", ""), setting.content_hash[:12], sheet.launches)
    words = re.findall(r"[a-z0-9]+", "-".join([*map(str, said), sheet.vocabulary]).lower())
    return "-".join([*words, setting.vocabulary_sha256[:6], str(setting.cap)])[:120] + ".html"


def _data(board: Board) -> str:
    """What the script of the board works on."""
    return safe_json(
        {
            "order": board.first,
            "titles": {one.metric: one.title for one in board.criteria},
            "ranks": {
                one.metric: {
                    str(line.entry.number): line.cells[one.metric].rank for line in board.lines
                }
                for one in board.criteria
            },
            "labels": {str(line.entry.number): line.entry.label for line in board.lines},
        }
    )


def _render(template: str, settings: Settings, **more: Any) -> str:
    names = ("theme.js", "board.js")
    script = "\n".join((PAGES / name).read_text(encoding="utf-8") for name in names)
    html: str = (
        _environment()
        .get_template(template)
        .render(
            title=settings.title,
            version=__version__,
            colours={
                "light": theme.style_variables(theme.LIGHT),
                "dark": theme.style_variables(theme.DARK),
            },
            style="".join(
                path.read_text(encoding="utf-8")
                for path in (PAGES / "style.css", _OWN / "leaderboard.css")
            ),
            script=script,
            policy=policy_of([script]),
            verdict=verdict,
            **({"data": "{}"} | more),
        )
    )
    return html


@cache
def _environment() -> Any:
    import jinja2

    return jinja2.Environment(
        loader=jinja2.FileSystemLoader([_OWN, PAGES]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
