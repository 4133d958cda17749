"""A real browser for tests: a page of it, and everything the page says on its console."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from places import missing

ARGUMENTS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]


@contextmanager
def opened(*, width: int, height: int, scheme: str = "light") -> Iterator[tuple[Any, list[str]]]:
    """An empty page of the system's Chromium; skipped with a sentence where there is none."""
    where = shutil.which("chromium") or shutil.which("chromium-browser")
    if where is None:
        missing("no Chromium is here: install it (Debian: apt-get install chromium)")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=where, args=ARGUMENTS)
        page = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme
        ).new_page()
        said: list[str] = []
        page.on("console", lambda one: said.append(f"{one.type}: {one.text}"))
        page.on("pageerror", lambda error: said.append(str(error)))
        yield page, said
        browser.close()
