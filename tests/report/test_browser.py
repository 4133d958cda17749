"""The page in a real browser: it draws, sorts, switches, can be used by keyboard and by everybody.

`made_up_report` holds labels that try to run as scripts and break layouts.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from edsim.report.material import Material, read_material
from edsim.report.page import page_of, write_page
from places import missing
from report.made_up_report import EVIL, census, cohort, crowded, sheet, study, visits

pytestmark = pytest.mark.browser

ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
TOO_WIDE = """[...document.querySelectorAll('body *')].filter(one => {
    const box = one.getBoundingClientRect();
    return box.width && box.right > document.documentElement.clientWidth + 1
        && !one.closest('.scroll, .lanes, .board-scroll, .chart, nav, .hidden, thead');
}).map(one => one.tagName + '.' + one.className).slice(0, 5)"""

A4 = 688
"""Pixels between the margins of a page."""
CHART_WIDTHS = "[...document.querySelectorAll('.chart svg')].map(one => one.getAttribute('width'))"
TALLER_THAN_DRAWN = """[...document.querySelectorAll('.chart svg')].filter(one => {
    const box = one.getBoundingClientRect(), [, , width, height] = one.getAttribute('viewBox').split(' ');
    return box.height > 1.02 * box.width * height / width + 1;
}).map(one => one.closest('figure').id)"""

TRANSFORMS = """[...document.querySelectorAll('#lanes .seen path')].map(
    one => one.getAttribute('transform'))"""


@dataclass
class Seen:
    """A page in the browser, and what it did on the side."""

    page: Any
    said: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def value(self, script: str) -> Any:
        return self.page.evaluate(script)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    where = shutil.which("chromium") or shutil.which("chromium-browser")
    if where is None:
        missing("no Chromium is here: install it (Debian: apt-get install chromium)")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=where, args=ARGUMENTS)
        yield started
        started.close()


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Results as a study leaves them, labels that mean harm, and a visit of many events at once."""
    folder = tmp_path_factory.mktemp("pages")
    tokens = ("END", *EVIL, *(f"activity {k} of five hundred" for k in range(492)))
    hard = tuple(
        replace(one, cohort=cohort(id=EVIL[0], source=EVIL[1]))
        for one in (sheet(label, tokens=tokens, groups=EVIL, rule=EVIL[5]) for label in EVIL)
    )
    shown = tuple(replace(visits(label, tokens=tokens), rule=EVIL[5]) for label in EVIL)
    evil = Material(sheets=hard, visits=shown, censuses=(census(*EVIL),), left_out=EVIL)
    full = Material(sheets=(sheet("a"),), visits=(crowded("a"),))
    materials = {"study": read_material(study(folder / "study")), "evil": evil, "crowded": full}
    for name, material in materials.items():
        write_page(page_of(material), folder / f"{name}.html", restricted=False)
    return {name: folder / f"{name}.html" for name in materials}


def opened(browser: Any, path: Path, **context: Any) -> Seen:
    """The page, drawn; everything it says on the console or asks of a network is kept."""
    page = browser.new_context(**context).new_page()
    seen = Seen(page)
    page.on("console", lambda one: seen.said.append(f"{one.type}: {one.text}"))
    page.on("pageerror", lambda error: seen.said.append(str(error)))
    page.on("request", lambda request: seen.asked.append(request.url))
    page.goto(path.as_uri())
    page.wait_for_function("document.documentElement.dataset.charts === 'drawn'", timeout=60_000)
    return seen


@pytest.fixture(scope="module")
def desktop(browser: Any, files: dict[str, Path]) -> Seen:
    return opened(browser, files["study"], viewport={"width": 1440, "height": 900})


def order(seen: Seen) -> list[str]:
    names = seen.value("[...document.querySelectorAll('.board .name')].map(one => one.textContent)")
    assert isinstance(names, list)
    return names


@pytest.mark.parametrize("name", ["study", "evil"])
@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_draws_without_a_word_on_the_console_and_asks_for_nothing(
    browser: Any, files: dict[str, Path], name: str, width: int, scheme: str
) -> None:
    seen = opened(
        browser, files[name], viewport={"width": width, "height": 850}, color_scheme=scheme
    )
    assert seen.said == []
    assert seen.asked == [files[name].as_uri()]
    assert seen.value("window.broken") is None
    assert seen.value("document.querySelectorAll('.chart').length") > 10
    assert seen.value(
        "[...document.querySelectorAll('.chart')].every(one => one.querySelector('svg path'))"
    )
    assert seen.value("document.documentElement.scrollWidth") <= width
    assert seen.value(TOO_WIDE) == []
    seen.page.context.close()


def test_the_board_is_sorted_by_any_criterion_and_says_what_moved(desktop: Seen) -> None:
    page = desktop.page
    assert order(desktop)[0] == "joint@1"
    assert order(desktop)[-1] == "oracle"
    page.locator(".switch label", has_text="Duration").click()
    assert order(desktop)[0] == "gru@1"
    said = page.locator("#moved").text_content()
    assert said.startswith("First by duration: gru@1, 6th by event mix.")
    assert "It shares first place with 2 others." in said
    assert page.locator("th[data-metric=duration_ratio]").get_attribute("aria-sort") == "ascending"
    page.locator("th[data-metric=duration_ratio] button").click()  # the same again turns it round
    assert page.locator("th[data-metric=duration_ratio]").get_attribute("aria-sort") == "descending"
    assert order(desktop)[0].startswith("transformer@")
    assert order(desktop)[-1] == "oracle"
    page.locator("th[data-metric=jsd] button").click()
    assert order(desktop)[0] == "joint@1"


def test_a_family_stands_out_and_goes_back(desktop: Seen) -> None:
    faint = "document.querySelectorAll('#fig-step-divergence path[opacity=\"0.1\"]').length"
    assert desktop.value(faint) == 0
    button = desktop.page.locator(".families button", has_text="gru")
    button.click()
    desktop.page.wait_for_function(f"{faint} > 0")
    assert button.get_attribute("aria-pressed") == "true"
    button.click()
    desktop.page.wait_for_function(f"{faint} === 0")


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (390, 850)])
def test_the_key_of_colours_is_in_view_of_every_chart(
    browser: Any, files: dict[str, Path], width: int, height: int
) -> None:
    seen = opened(browser, files["study"], viewport={"width": width, "height": height})
    for place in seen.page.locator("#charts .figure, #groups .figure").all():
        place.evaluate("one => one.scrollIntoView({block: 'center', behavior: 'instant'})")
        box = seen.page.locator(".families").bounding_box()
        assert box is not None
        assert box["y"] >= 0 and box["y"] + box["height"] < height / 3
    seen.page.context.close()


def test_choices_redraw_their_chart(desktop: Seen) -> None:
    bars = "[...document.querySelectorAll('#fig-event-mix svg text')].map(one => one.textContent).join()"
    curve = "document.querySelector('#fig-reliability svg').innerHTML"
    before = desktop.value(curve)
    desktop.page.locator("#fig-reliability select").select_option("12")
    desktop.page.wait_for_function(
        "before => document.querySelector('#fig-reliability svg').innerHTML !== before", arg=before
    )
    assert "Vitals" in desktop.value(bars)


def test_the_numbers_of_a_chart_are_there_as_a_table(desktop: Seen) -> None:
    desktop.page.locator("#fig-supervision-ladder summary").click()
    rows = desktop.page.locator("#fig-supervision-ladder .numbers tbody tr")
    expect(rows).to_have_count(11)


def test_the_theme_is_switched(desktop: Seen) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    light = desktop.value(ground)
    desktop.page.locator("#theme").click()
    assert desktop.value(ground) != light
    desktop.page.locator("#theme").click()
    assert desktop.value(ground) == light


def test_the_viewer_works_by_keyboard_alone(desktop: Seen) -> None:
    page = desktop.page
    said, where = page.locator("#said"), page.locator("#launch-label")

    def says(words: str) -> None:
        expect(said).to_have_text(re.compile(f"^{re.escape(words)}"))

    page.locator("#visit").focus()
    page.keyboard.press("ArrowDown")
    expect(page.locator("#visit")).to_have_value("1")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    expect(where).to_have_text("Launch point: after 4 of 6 events")
    expect(said).to_contain_text("The visit went on for 2 h 30 and 3 events")
    page.locator("#model").focus()
    page.keyboard.press("ArrowDown")
    page.locator("#lanes").focus()
    says("Vitals normal, 2 h 00 after the launch")
    page.keyboard.press("ArrowRight")
    says("Discharge home, 2 h 30 after the launch, 30 min after")
    page.keyboard.press("ArrowDown")
    expect(said).to_contain_text("generated 1, 2 of 3")
    page.keyboard.press("End")
    says("END, 1 h 35 after the launch")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Home")
    says("Triage, 55 min before the launch")
    assert float(page.locator("#lanes .cursor").get_attribute("cx")) > 0
    page.keyboard.press("-")
    expect(where).to_have_text("Launch point: after 2 of 6 events")
    page.locator("#as-text summary").click()
    expect(page.locator("#as-text li")).to_have_count(13)


def test_the_key_of_the_viewer_shows_each_mark_as_it_is_drawn(desktop: Seen) -> None:
    key = "[...document.querySelectorAll('#kinds span')].map(one => one.textContent)"
    assert desktop.value(key) == ["Vitals", "Triage", "Discharge", "END"]
    marks = "[...document.querySelectorAll('{}')].map(one => one.getAttribute('d'))"
    shown = set(desktop.value(marks.format("#kinds path")))
    assert set(desktop.value(marks.format("#lanes path"))) <= shown


def test_piles_of_the_viewer_stay_where_they_are_in_time(
    browser: Any, files: dict[str, Path]
) -> None:
    seen = opened(browser, files["crowded"], viewport={"width": 1440, "height": 900})
    page = seen.page
    launch = float(page.locator("#lanes .now").get_attribute("x1"))
    places = [
        float(re.match(r"translate\(([^,]+),", one)[1])  # type: ignore[index]
        for one in seen.value(TRANSFORMS)
    ]
    assert max(places) <= launch + 0.1
    counts = page.locator("#lanes .count")
    expect(counts).to_have_text(["×12", "×12"])
    page.locator("#window").select_option("240")
    expect(counts).to_have_text(["×12", "+12"])
    assert page.locator("#lanes .stub").count() == 1
    ticks = page.locator("#lanes .tick").all_text_contents()
    assert ticks and all(one.endswith(" h") for one in ticks)
    edge = page.locator("#lanes svg").bounding_box()
    for tick in page.locator("#lanes .tick").all():
        box = tick.bounding_box()
        assert box["x"] + box["width"] <= edge["x"] + edge["width"]
    seen.page.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["study", "evil"])
def test_axe_finds_no_serious_violation(
    browser: Any, files: dict[str, Path], name: str, scheme: str
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    seen = opened(
        browser, files[name], viewport={"width": 1440, "height": 900}, color_scheme=scheme
    )
    found = Axe().run(seen.page).response["violations"]
    serious = [
        (one["id"], one["nodes"][0]["html"][:200], len(one["nodes"]))
        for one in found
        if one["impact"] in ("serious", "critical")
    ]
    assert serious == []
    seen.page.context.close()


def test_the_page_can_be_printed_in_light_colours(browser: Any, files: dict[str, Path]) -> None:
    seen = opened(
        browser, files["study"], viewport={"width": 1000, "height": 900}, color_scheme="dark"
    )
    seen.page.emulate_media(media="print", color_scheme="dark")
    assert seen.value("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert seen.value("getComputedStyle(document.getElementById('visits')).display") == "none"
    assert len(seen.page.pdf()) > 50_000
    seen.page.context.close()


def test_on_paper_the_board_is_a_table_and_charts_are_as_tall_as_their_drawings(
    browser: Any, files: dict[str, Path]
) -> None:
    seen = opened(browser, files["study"], viewport={"width": A4, "height": 1_000})
    screen = seen.value(CHART_WIDTHS)
    assert len(re.findall(rb"/Type\s*/Page\b", seen.page.pdf(format="A4"))) <= 10
    seen.page.wait_for_function(f"before => ({CHART_WIDTHS}).join() === before.join()", arg=screen)
    seen.page.emulate_media(media="print")
    assert seen.value("getComputedStyle(document.querySelector('.board')).display") == "table"
    assert seen.value("document.querySelector('.board').offsetWidth") <= A4
    assert seen.value("document.documentElement.scrollWidth") <= A4
    assert seen.value(TALLER_THAN_DRAWN) == []
    seen.page.context.close()
