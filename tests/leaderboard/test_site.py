"""The site of a board: every text is text, every page stands on its own."""

from __future__ import annotations

import html
import json
import os
import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from made_up_sheets import OTHER_HASH, cohort, sheet
from playwright.sync_api import expect

from edsim.cli import run
from edsim.leaderboard.collection import add
from edsim.tables.scores import ScoreSheet, read_sheet, write_sheet
from places import ROOT

EVIL = [
    "<script>document.title = 'taken'</script>",
    "</script><script>document.title = 'taken'</script>",
    "\"'><img src=x onerror=\"document.title='taken'\">",
    "{{ 7 * 7 }} ${1} \\u003c",
    "‮ desrever 🏥 " + "long" * 40,
]


def board_of(folder: Path, sheets: list[ScoreSheet], title: str = "") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for number, made in enumerate(sheets):
        write_sheet(made, folder / f"{number}.scores.json")
    board = folder / "board"
    if title:
        board.mkdir()
        (board / "board.json").write_text(json.dumps({"title": title}))
    add(sorted(folder.glob("*.scores.json")), board)
    return board


def built(board: Path, site: Path) -> Path:
    assert run(["board", "build", "--board", str(board), "--out", str(site)]) == 0
    return site


@pytest.fixture(scope="module")
def evil(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site whose every text wants to be more than text."""
    folder = tmp_path_factory.mktemp("evil")
    sheets = [
        replace(sheet(text, 2.0 + i), rule=text, clock=text, producer_version=text, vocabulary=text)
        for i, text in enumerate(EVIL)
    ]
    return built(board_of(folder, sheets, title=EVIL[0]), folder / "site")


def test_a_site_is_pages_and_the_score_files(tmp_path: Path) -> None:
    sheets = [sheet("a"), sheet("b", 3.0), replace(sheet("c"), cohort=cohort(OTHER_HASH))]
    site = built(board_of(tmp_path / "scores", sheets), tmp_path / "site")
    pages = sorted(path.name for path in site.glob("*.html"))
    assert len(pages) == 3 and "index.html" in pages
    front = (site / "index.html").read_text()
    for page in pages:
        assert page == "index.html" or f'href="{page}"' in front
    files = sorted((site / "entries").iterdir())
    assert sorted(read_sheet(path).producer for path in files) == ["a", "b", "c"]
    together = next(site.glob("mimic-abab*.html")).read_text()
    assert all(f'href="entries/{p.name}"' in together for p in files if p.name[0] in "ab")
    assert "c-" not in "".join(re.findall(r'href="entries/([^"]*)"', together)), "another cohort"


def test_pages_load_nothing_and_name_their_scripts(evil: Path) -> None:
    for page in evil.glob("*.html"):
        text = page.read_text()
        assert "default-src 'none'" in html.unescape(text)
        assert not re.search(r'(src|href)="(https?:)?//', text)


def test_texts_of_entries_are_text_on_every_page(evil: Path) -> None:
    pages = [path.read_text() for path in evil.glob("*.html")]
    assert len(pages) == 2
    shown = html.unescape("".join(pages))
    assert all(text in shown for text in EVIL)
    for page in pages:
        body = page.partition('<script type="application/json"')[0]
        assert "<script>" not in body and "<img" not in body and "49 $" not in body
        assert page.count("</script>") == 2, "only our own scripts end"


def test_a_board_without_entries_says_how_to_begin(tmp_path: Path) -> None:
    (tmp_path / "board" / "entries").mkdir(parents=True)
    front = built(tmp_path / "board", tmp_path / "site") / "index.html"
    assert "edsim board add" in front.read_text()


def test_a_site_is_there_whole_and_is_not_replaced_unasked(tmp_path: Path) -> None:
    board = board_of(tmp_path / "scores", [sheet("a")])
    site = built(board, tmp_path / "site")
    command = ["board", "build", "--board", str(board), "--out", str(site)]
    assert run(command) == 2
    first = {path.name: path.read_bytes() for path in site.glob("*.html")}
    assert run([*command, "--overwrite"]) == 0
    assert {path.name: path.read_bytes() for path in site.glob("*.html")} == first


def test_what_edsim_scores_comes_on_a_board(tmp_path: Path) -> None:
    """From a cohort to the site, with the commands one would type."""
    pytest.importorskip("torch")
    c, scores, board = (str(tmp_path / name) for name in ("C", "scores", "board"))
    for command in (
        ["cohort", "build", "synthetic", "--stays", "400", "--out", c],
        ["score", "markov", "ngram:3", "oracle", "--cohort", c, "--launches", "matched-200",
         "--resamples", "20", "--populations", "acuity", "--out", scores],
        ["board", "add", scores, "--board", board],
        ["board", "check", "--board", board],
        ["board", "build", "--board", board, "--out", str(tmp_path / "site")],
    ):  # fmt: skip
        assert run(command) == 0, command
    (page,) = (path for path in (tmp_path / "site").glob("synthetic-*.html"))
    text = page.read_text()
    assert "ngram:3" in text and "markov" in text
    assert '<small class="tag">floor</small>' in text, "the oracle is not ranked"


@pytest.mark.browser
def test_in_a_browser_a_board_sorts_switches_and_runs_nothing_of_others(
    evil: Path, tmp_path: Path
) -> None:
    from browsers import opened

    sheets = [
        replace(sheet("near the mix"), rows=sheet(far=1.5).rows),
        replace(sheet("in between", 3.0)),
        sheet("far", 4.0),
    ]
    site = built(board_of(tmp_path / "scores", sheets), tmp_path / "site")
    with opened(width=390, height=800) as (page, said):
        page.goto(next(site.glob("mimic-*.html")).as_uri())
        names = ".board tbody .name"
        expect(page.locator(names)).to_have_text(["near the mix", "in between", "far"])
        page.locator(".switch label", has_text="Order").click()
        expect(page.locator("#moved")).to_contain_text("First by order: near the mix")
        page.locator(".switch input:checked").press("ArrowLeft")
        expect(page.locator("#moved")).to_contain_text("First by event mix")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, "fits a phone"
        page.locator("#theme").click()
        assert page.evaluate("document.documentElement.dataset.theme") in ("dark", "light")
        page.get_by_role("link", name="All settings").click()
        expect(page).to_have_url(re.compile("index.html$"))
        for evil_page in sorted(evil.glob("*.html")):
            page.goto(evil_page.as_uri())
            assert page.title() != "taken"
            assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert said == []


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everybody_can_use_the_site(evil: Path, scheme: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    from browsers import opened

    with opened(width=1280, height=900, scheme=scheme) as (page, _):
        for one in (evil / "index.html", next(evil.glob("mimic-*.html"))):
            page.goto(one.as_uri())
            found = Axe().run(page).response["violations"]
            serious = [
                (rule["id"], rule["nodes"][0]["html"][:200])
                for rule in found
                if rule["impact"] in ("serious", "critical")
            ]
            assert serious == []


def test_the_example_workflow_lets_a_pull_request_add_entries_and_nothing_else(
    tmp_path: Path,
) -> None:
    """Its two guards, run on a repository as they stand in the file."""
    import yaml

    said = yaml.safe_load((ROOT / "docs" / "examples" / "board.yml").read_text())
    steps = {step["name"]: step for step in said["jobs"]["look"]["steps"] if "name" in step}
    guard = steps["Only entries are added, and nothing else is changed"]["run"]
    assert steps["Every entry belongs on the board"]["run"].startswith("edsim board check")
    assert said["permissions"] == {"contents": "read"}

    def git(*arguments: str) -> str:
        who = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
        done = subprocess.run(
            ["git", *who, *arguments], cwd=tmp_path, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    git("init", "-q")
    (tmp_path / "board" / "entries").mkdir(parents=True)
    (tmp_path / "board" / "entries" / "a.scores.json").write_text("{}")
    git("add", "."), git("commit", "-qm", "begin")
    base = git("rev-parse", "HEAD")
    for path, allowed in (
        ("board/entries/b.scores.json", True),
        ("board/entries/a.scores.json", False),
        ("board/board.json", False),
        (".github/workflows/board.yml", False),
        ("board/entries/c.json", False),
    ):
        git("checkout", "-q", "--detach", base)
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text('{"x": 1}')
        git("add", "."), git("commit", "-qm", "change")
        done = subprocess.run(
            ["bash", "-e", "-c", guard], cwd=tmp_path, env={**os.environ, "BASE": base}
        )
        assert (done.returncode == 0) == allowed, path
