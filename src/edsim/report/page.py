"""The page itself: one HTML file that needs nothing else, and loads nothing.

Texts go through the template's escaping, data through JSON in which no tag can end. Its own scripts
are named by their hash in the page's security policy, so that no other text can ever run.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from edsim import __version__
from edsim.errors import OutputError
from edsim.report import theme
from edsim.report.board import Board, board_of
from edsim.report.charts import opening, sections
from edsim.report.charts.census import WITHHELD, census_figures
from edsim.report.charts.figure import SHOWN, Figure, without_legends
from edsim.report.charts.groups import groups
from edsim.report.charts.overview import ranks
from edsim.report.entries import Entry, entries_of
from edsim.report.finding import finding, support, verdict
from edsim.report.material import Material
from edsim.report.methods import facts_of, methods_of
from edsim.report.viewer import viewer_payload, why_absent
from edsim.tables.whole_file import whole_file

MOST_BYTES = 6_000_000
"""What the file may weigh, so that it can be sent to somebody."""
PAGES = Path(__file__).parent / "pages"
_SCRIPTS = ("theme.js", "board.js", "charts.js", "viewer.js")


@dataclass(frozen=True, slots=True)
class Page:
    """A page and what it is made of, for those who say what is in it."""

    html: str
    finding: str
    figures: list[Figure]
    viewer_absent: str


def page_of(material: Material, *, shared: bool = False) -> Page:
    """Lay out everything; `shared` leaves single visits out whatever the cohort allows."""
    entries = entries_of(material.sheets, material.open_loop)
    board = board_of(entries)
    entries = [line.entry for line in board.lines]
    first = opening(entries)
    below = sections(entries)
    below["Time"] += [WITHHELD] if shared else census_figures(material.censuses, entries)
    by_group, flips = groups(entries), ranks(entries)
    payload = None if shared else viewer_payload(material, entries)
    absent = "Single visits are never part of what is shared." if shared else why_absent(material)
    if payload is None and not absent:
        absent = "No visits of these producers lie in the folder."
    figures = [first, flips, *(one for drawn in below.values() for one in drawn), *by_group]
    html = (
        environment()
        .get_template("report.html")
        .render(
            material=material,
            cohort=material.sheets[0].cohort,
            entries=entries,
            families=_families(entries),
            board=board,
            finding=finding(board),
            support=support(board),
            facts=facts_of(material, entries),
            verdicts={entry.number: verdict(entry) for entry in entries},
            opening=first,
            flips=flips,
            sections=below,
            groups=by_group,
            viewer=payload is not None,
            viewer_absent=absent,
            methods=methods_of(material, entries),
            version=__version__,
            colours={
                "light": theme.style_variables(theme.LIGHT),
                "dark": theme.style_variables(theme.DARK),
            },
            style=(PAGES / "style.css").read_text(encoding="utf-8"),
            scripts=_scripts(),
            policy=policy_of(_scripts()),
            data=safe_json(_data(board, figures, payload)),
        )
    )
    return Page(html, finding(board), figures, absent)


def write_page(page: Page, path: Path, *, restricted: bool) -> int:
    """Write the file, whole or not at all, and give its size; for the owner alone if restricted."""
    content = page.html.encode("utf-8", errors="replace")
    if len(content) > MOST_BYTES:
        raise OutputError(
            f"the page would take {len(content) / 1e6:.1f} MB, and at most {MOST_BYTES / 1e6:.0f} "
            "are allowed. Report fewer producers: a folder with some of the files."
        )
    with whole_file(path, restricted=restricted) as file:
        file.write(content)
    return len(content)


def safe_json(data: Any) -> str:
    """JSON that may stand inside a script element whatever its texts are.

    >>> safe_json("</script><!--")
    '"\\\\u003c/script\\\\u003e\\\\u003c!--"'
    """
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _data(board: Board, figures: Sequence[Figure], payload: Any) -> dict[str, Any]:
    """What the scripts work on."""
    return {
        "charts": _specifications(figures),
        "shown": SHOWN,
        "order": board.first,
        "titles": {one.metric: one.title for one in board.criteria},
        "ranks": {
            one.metric: {
                str(line.entry.number): line.cells[one.metric].rank for line in board.lines
            }
            for one in board.criteria
        },
        "labels": {str(line.entry.number): line.entry.label for line in board.lines},
        "viewer": payload,
    }


def _specifications(figures: Sequence[Figure]) -> dict[str, Any]:
    """The charts by name; below the board one legend serves all."""
    own_legend = {figure.name for figure in figures[:2]}
    return {
        one.name: one.spec if one.name in own_legend else without_legends(one.spec)
        for one in figures
        if one.spec is not None
    }


def _families(entries: Sequence[Entry]) -> list[tuple[Entry, int]]:
    """The first entry of each family, and how many there are."""
    count: dict[str, int] = {}
    for entry in entries:
        count[entry.family] = count.get(entry.family, 0) + 1
    first = {entry.family: entry for entry in reversed(entries)}
    return [(first[family], n) for family, n in count.items()]


@cache
def _scripts() -> list[str]:
    """The charts' library and the page's own scripts, safe inside a script element."""
    import altair
    import vl_convert

    version = ".".join(altair.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
    bundle: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed", version)
    own = [(PAGES / name).read_text(encoding="utf-8") for name in _SCRIPTS]
    return [
        script.replace("\r\n", "\n").replace("</script", "<\\/script")
        for script in (bundle, "\n".join(own))
    ]


def policy_of(scripts: Sequence[str]) -> str:
    """Nothing is loaded, and only these scripts run."""
    hashes = [
        base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts
    ]
    allowed = " ".join(f"'sha256-{one}'" for one in hashes)
    return f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:"


@cache
def environment() -> Any:
    import jinja2

    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(PAGES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
