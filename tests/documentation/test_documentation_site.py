"""The site builds without a warning, holds every page, and loads nothing from elsewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from browsers import opened
from places import ROOT

CONFIGURATION = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.md")), ids=lambda page: page.name)
def test_every_page_is_in_the_navigation(page: Path) -> None:
    assert re.search(rf"^ +- (\w+: )?{re.escape(page.name)}$", CONFIGURATION, re.MULTILINE)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("material", reason="the site needs the extra docs")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    done = subprocess.run(
        command,
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
    )
    assert done.returncode == 0, done.stderr[-2_000:]
    return folder


@pytest.mark.docs
def test_the_site_is_whole(site: Path) -> None:
    for page in ("index", "tutorial", "contributing", "changelog", "decisions/70-count-models"):
        assert (site / f"{page}.html").is_file()


@pytest.mark.docs
def test_the_site_loads_nothing_from_elsewhere(site: Path) -> None:
    loaded = re.compile(
        r"<(?:script|img|iframe)[^>]+src=\"(https?:[^\"]+)|<link[^>]+href=\"(https?:[^\"]+)"
    )
    for page in site.rglob("*.html"):
        assert loaded.findall(page.read_text(encoding="utf-8")) == [], page.name


@pytest.mark.docs
@pytest.mark.browser
def test_a_page_opened_from_the_folder_can_be_searched(site: Path) -> None:
    asked: list[str] = []
    with opened(width=1280, height=900) as (page, said):
        page.on("request", lambda request: asked.append(request.url))
        page.goto((site / "decisions" / "70-count-models.html").as_uri())
        page.click(".md-search__input")
        page.keyboard.type("occupancy")
        page.click(".md-search-result__link")
        page.wait_for_url(lambda url: not url.endswith("count-models.html"))
        assert "occupancy" in page.inner_text("article").lower()
    assert [url for url in asked if not url.startswith("file:")] == []
    assert said == []
