"""The card beside a cohort: complete, true, and without counts of few people."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from edsim.cohort.card import CARD_FILE, card_of
from edsim.cohort.manifest import Manifest
from edsim.lab.build import build_cohort
from edsim.lab.check import check_cohort
from edsim.sources.synthetic import SOURCE, SyntheticOptions
from edsim.tables.extract import Step


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("card") / "C"
    build_cohort(SOURCE, SyntheticOptions(stays=300), out)
    return out


@pytest.fixture(scope="module")
def manifest(directory: Path) -> Manifest:
    from edsim.lab.cohort import open_cohort

    return open_cohort(directory).manifest


def rows(card: str, section: str) -> list[list[str]]:
    text = card.partition(f"## {section}\n")[2].partition("\n## ")[0]
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:]]


def test_a_cohort_has_its_card_under_its_hashes(directory: Path, manifest: Manifest) -> None:
    card = (directory / CARD_FILE).read_text()
    assert card == card_of(manifest, SOURCE.title)
    assert CARD_FILE in manifest.files
    (directory / CARD_FILE).write_text(card.replace("300 stays", "301 stays"))
    assert any("CARD.md" in one.detail for one in check_cohort(directory) if not one.passed)
    (directory / CARD_FILE).write_text(card)
    assert all(one.passed for one in check_cohort(directory))


def test_a_card_says_who_is_in_how_divided_and_where_models_begin(manifest: Manifest) -> None:
    card = card_of(manifest, SOURCE.title)
    assert f"`{manifest.content_hash}`" in card
    parts = manifest.split["parts"]
    assert [row[0] for row in rows(card, "How it is divided")] == list(parts)
    assert rows(card, "How it is divided")[0][1:] == [
        f"{parts['train'][size]:,}" for size in ("stays", "subjects", "events")
    ]
    assert [row[0] for row in rows(card, "Where models begin")] == list(manifest.launches)
    assert "drawn from a known process" in card


def test_of_restricted_data_no_count_of_few_is_told(manifest: Manifest) -> None:
    steps = [
        Step(rule="all", n_stays=303, n_subjects=300, n_events=9000),
        Step(rule="without the 3 stays that end early", n_stays=300, n_subjects=297, n_events=8997),
    ]
    parts = {
        name: {"stays": n, "subjects": n, "events": 7 * n}
        for name, n in {"train": 280, "val": 9, "test": 11}.items()
    }
    private = replace(
        manifest,
        source="mimic",
        restricted=True,
        attrition=tuple(steps),
        split={"rule": "subjects", "parts": parts},
        notices=("4 of 300 stays have no triage row.",),
    )
    card = card_of(private, "MIMIC")
    assert [row[1:] for row in rows(card, "How it is divided")] == [
        ["280", "280", "1,960"],
        ["few"] * 3,
        ["few"] * 3,
    ]
    assert {row[2] for row in rows(card, "Where models begin")} == {"few"}
    assert "fewer than 10 of 300 stays have no triage row." in card
    assert len(rows(card, "Who is in")) == 1, "the small loss has no line of its own"
    assert "data use agreement" in card and "known process" not in card


def test_texts_stay_in_their_cells(manifest: Manifest) -> None:
    odd = replace(manifest, source_options={"log": "a | b\n# c <script>"}, notices=())
    found = rows(card_of(odd, "title"), "Where it came from")
    assert found == [["log", "`a \\| b # c &lt;script>`"]]
    assert "What was found odd" not in card_of(odd, "title")
