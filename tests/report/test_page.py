"""The page is one file, small, safe against any label, and says what is missing."""

from __future__ import annotations

import html
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from edsim.errors import OutputError
from edsim.report import page as page_module
from edsim.report.charts.figure import MOST_POINTS
from edsim.report.entries import entries_of
from edsim.report.figures import standalone, write_figures
from edsim.report.material import Material, read_material
from edsim.report.methods import methods_of
from edsim.report.page import MOST_BYTES, Page, page_of, safe_json, write_page
from edsim.report.viewer import viewer_payload
from edsim.tables.shown_visits import MOST_LAUNCHES
from report.made_up_report import EVIL, census, cohort, predicted, row, sheet, study, visits


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Page:
    return page_of(read_material(study(tmp_path_factory.mktemp("study"))))


class Tags(HTMLParser):
    """What a page loads, and the texts of its data."""

    def __init__(self) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.scripts = 0
        self.images = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = dict(attrs)
        self.loaded += [str(said[name]) for name in ("src", "srcset") if name in said]
        self.loaded += [str(said["href"])] if tag == "link" else []
        self.scripts += tag == "script"
        self.images += tag == "img"


def tags(page: str) -> Tags:
    found = Tags()
    found.feed(page)
    return found


def test_the_page_is_one_file_that_loads_nothing(whole: Page) -> None:
    found = tags(whole.html)
    assert found.loaded == []
    assert found.scripts == 3  # data, library, own
    assert "default-src 'none'" in html.unescape(whole.html)


def test_every_figure_is_drawn_where_everything_was_scored(whole: Page) -> None:
    assert [figure.name for figure in whole.figures if figure.spec is None] == []
    names = {figure.name for figure in whole.figures}
    assert {"simulation-gap", "supervision-ladder", "termination-plane", "step-divergence"} <= names
    assert {
        "occupancy",
        "durations",
        "reliability",
        "pit",
        "event-mix",
        "by-sex",
        "census",
    } <= names


def test_specifications_are_what_vega_lite_allows(whole: Page) -> None:
    import altair

    for figure in whole.figures:
        assert figure.spec is not None
        altair.Chart.from_dict(standalone(figure.spec), validate=True)


def test_figures_without_numbers_say_what_would_make_them() -> None:
    from dataclasses import replace

    bare = replace(
        sheet("a"), rows=tuple(one for one in sheet("a").rows if one.metric == "termination")
    )
    made = page_of(Material(sheets=(bare,)))
    missing = {figure.name: figure.missing for figure in made.figures if figure.spec is None}
    assert "edsim score --draws 8" in missing["reliability"]
    assert "edsim census" in missing["census"]
    assert all(len(text) > 20 for text in missing.values())
    for text in missing.values():
        assert text.split("'")[0][:30] in made.html


def test_the_largest_page_stays_within_its_limits() -> None:
    """Forty producers, 500 activities, more visits than may be shown, a census of four weeks."""
    tokens = ("END", *(f"Activity number {k} of five hundred" for k in range(499)))
    names = [f"model{k}@{seed}" for k in range(8) for seed in range(5)]
    sheets = tuple(
        sheet(name, seed=int(name[-1]), tokens=tokens, groups=[f"group {k}" for k in range(40)])
        for name in names
    )
    material = Material(
        sheets=sheets,
        visits=tuple(visits(name, tokens=tokens, n=400) for name in names[:10]),
        censuses=(census(*names[:8], n_hours=672),),
    )
    made = page_of(material)
    assert len(made.html.encode()) < MOST_BYTES
    for figure in made.figures:
        rows = sum(len(data) for data in figure.spec["datasets"].values()) if figure.spec else 0
        assert rows <= MOST_POINTS, figure.name
    payload = viewer_payload(material, entries_of(sheets))
    assert payload is not None
    assert sum(len(visit["launches"]) for visit in payload["visits"]) <= MOST_LAUNCHES


def test_a_page_above_the_limit_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_module, "MOST_BYTES", 10)
    with pytest.raises(OutputError, match="Report fewer producers"):
        write_page(Page("x" * 11, "", [], ""), tmp_path / "report.html", restricted=False)
    assert list(tmp_path.iterdir()) == []


def test_a_label_is_text_wherever_it_stands() -> None:
    tokens = ("END", *EVIL)
    sheets = tuple(
        sheet(
            label, tokens=tokens, groups=EVIL, cohort=cohort(id=EVIL[0], source=label), rule=label
        )
        for label in EVIL
    )
    made = page_of(Material(sheets=sheets, left_out=EVIL))
    found = tags(made.html)
    assert (found.scripts, found.images) == (3, 0)
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', made.html, re.S)
    assert data is not None
    rows = json.loads(data[1])["charts"]["event-mix"]["datasets"]["rows"]
    assert {one["event"] for one in rows} == {*EVIL, "END"}


def test_json_cannot_end_its_script() -> None:
    hard = "</script><!--\u2028&"
    assert "<" not in safe_json(hard)
    assert json.loads(safe_json(hard)) == hard


def test_single_visits_of_a_restricted_cohort_are_not_shown(tmp_path: Path) -> None:
    material = Material(sheets=(sheet("a", cohort=cohort(restricted=True)),), visits=(visits("a"),))
    made = page_of(material)
    assert "stay-30000000" not in made.html
    assert "data use agreement" in made.viewer_absent
    assert "Under a data use agreement" in made.html
    path = tmp_path / "report.html"
    write_page(made, path, restricted=material.restricted)
    assert path.stat().st_mode & 0o077 == 0


def test_visits_of_an_open_cohort_are_shown(whole: Page) -> None:
    assert "stay-30000000" in whole.html
    assert whole.viewer_absent == ""


def test_the_box_of_methods_has_every_command_and_each_producer_in_full() -> None:
    small = "gru[width=64,epochs=2]@1"
    material = Material(sheets=(sheet(small, seed=1),), open_loop=(predicted(small, 0.5),))
    methods = methods_of(material, entries_of(material.sheets, material.open_loop))
    first, *commands = methods.commands
    assert first == "edsim cohort build synthetic --out C"
    verbs = [" ".join(command.split()[:2]) for command in commands]
    assert verbs == ["edsim score", "edsim predict", "edsim score", "edsim report"]
    assert all(f"'{small}'" in command for command in commands[:2])
    assert methods.producers[0][0] == small


def test_the_commands_ask_for_groups_and_census_as_they_were_asked_for() -> None:
    late = row("jsd", 0.01, population="length quartile", group="1")
    material = Material(sheets=(sheet("a", rows=(late,)),), censuses=(census("a", "b"),))
    _, score, counted, _ = methods_of(material, entries_of(material.sheets)).commands
    assert "--populations sex,length-quartile" in score
    assert counted == (
        "edsim census a b --cohort C --from 2020-02-01T00:00:00 --to 2020-02-03T00:00:00 --draws 20 "
        "--beds 25 --seed 0 --json DIR/1.census.json"
    )


def test_figures_for_papers_hold_no_colour_of_the_page(whole: Page, tmp_path: Path) -> None:
    written = write_figures(whole.figures[:2], tmp_path, restricted=True)
    assert sorted(path.suffix for path in written["simulation-gap"]) == [
        ".json",
        ".pdf",
        ".png",
        ".svg",
    ]
    svg = (tmp_path / "simulation-gap.svg").read_text()
    assert "var(--" not in svg
    assert "gru@1" in svg
    assert (tmp_path / "simulation-gap.pdf").read_bytes().startswith(b"%PDF")
    assert (tmp_path / "simulation-gap.png").read_bytes().startswith(b"\x89PNG")
