"""What the site shows besides `docs/`: two files of the repository's root, and every decision.

And how it shows the measures: seven columns are too many for a screen, so it makes three of them.
"""

from __future__ import annotations

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parent
FROM_THE_ROOT = ("CONTRIBUTING.md", "CHANGELOG.md")
MEASURES = (
    "| name | formula | population | better | unit | source | null where |\n" + 7 * "| --- " + "|\n"
)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """List the decisions by number: their names begin with it."""
    every = (ROOT / "docs" / "decisions").glob("[0-9]*.md")
    decisions = sorted(every, key=lambda path: int(path.name.partition("-")[0]))
    pages = [f"decisions/{path.name}" for path in decisions]
    assert config.nav is not None
    config.nav.append({"Decisions": ["decisions/README.md", *pages]})
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Take in pages of the root; their links to `docs/` then begin here."""
    for name in FROM_THE_ROOT:
        text = (ROOT / name).read_text(encoding="utf-8").replace("](docs/", "](")
        files.append(File.generated(config, name.lower(), content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Links that lead out of `docs/` in the repository lead to the same page here."""
    for name in FROM_THE_ROOT:
        markdown = markdown.replace(f"](../{name}", f"]({name.lower()}")
    return narrow(markdown) if page.file.src_uri == "metrics.md" else markdown


def narrow(markdown: str) -> str:
    """Measures in three columns: population, source and null go below the definition."""
    assert MEASURES in markdown, "the tables of measures have other columns than the site expects"
    head = "| name | definition | better |\n| --- | --- | --- |\n"
    lines = markdown.replace(MEASURES, head).splitlines(keepends=True)
    return "".join(narrow_row(line) if line.startswith("| `") else line for line in lines)


def narrow_row(line: str) -> str:
    """One measure: `| name | formula | population | better | unit | source | null where |`."""
    cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
    name, formula, population, better, unit, source, undefined = cells
    beneath = f"Of: {population}. Source: {source}. Null where {undefined}."
    direction = ", ".join(said for said in (better or "no score", unit) if said)
    return (
        f'| {name}{{ .measure }} | {formula} <small class="measure">{beneath}</small> '
        f"| {direction} |\n"
    )
