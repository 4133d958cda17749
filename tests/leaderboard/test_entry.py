"""What a board takes, and every way to be turned away."""

from __future__ import annotations

from dataclasses import replace

import pytest
from made_up_sheets import cohort, low, sheet, with_row, without_row

from edsim.leaderboard.entry import MEASURES, problems_of
from edsim.tables.scores import ScoreSheet


def test_a_whole_sheet_is_welcome() -> None:
    assert problems_of(sheet()) == []


GOOD = sheet()
BROKEN: dict[str, tuple[ScoreSheet, str]] = {
    "a hash that is none": (
        replace(GOOD, cohort=cohort() | {"content_hash": "ab" * 31}),
        "no content hash",
    ),
    "another cohort's id": (replace(GOOD, cohort=cohort(id="mimic-1234")), "id is not its source"),
    "more subjects than stays": (replace(GOOD, cohort=cohort(n_subjects=9000)), "more of them"),
    "a field nobody knows": (replace(GOOD, cohort=cohort(subject_ids="10014729")), "not known"),
    "a field that is missing": (
        replace(GOOD, cohort={k: v for k, v in cohort().items() if k != "restricted"}),
        "lacks restricted",
    ),
    "a field of another type": (replace(GOOD, cohort=cohort(n_stays="many")), "wrong type"),
    "a part nobody knows": (
        replace(
            GOOD,
            cohort=cohort(
                split={"rule": "", "parts": {"10014729": {"stays": 99, "subjects": 99, "events": 99}}}
            ),
        ),
        "part of the split that is unknown",
    ),
    "a vocabulary without hash": (replace(GOOD, vocabulary_sha256=""), "vocabulary has no hash"),
    "validation launches": (replace(GOOD, launches="val-2000"), "launch set is none"),
    "more launches than the set has": (
        replace(GOOD, launches="matched-1k"),
        "2,000 launches were scored, and the launch set has at most 1,000",
    ),
    "a value missing": (with_row(GOOD, "jsd", value=None, loss=None, position=None), "no value"),
    "no interval": (with_row(GOOD, "jsd", low=None), "no interval"),
    "no floor": (with_row(GOOD, "jsd", floor=None, floor_kind="", position=None), "no floor"),
    "a floor from nowhere": (with_row(GOOD, "jsd", floor_kind=""), "where it comes from"),
    "no reference": (with_row(GOOD, "jsd", reference=None, position=None), "no reference"),
    "a divergence above ln 2": (
        replace(GOOD, rows=(*GOOD.rows[:2], low("jsd", 0.7, 0.0001, 0.002), *GOOD.rows[3:])),
        "the measure cannot have, first row 2",
    ),
    "a share above 1": (with_row(GOOD, "termination", value=1.2), "cannot have, first row 0"),
    "a loss of its own": (with_row(GOOD, "jsd", loss=0.0001), "loss that does not fit"),
    "a position of its own": (with_row(GOOD, "jsd", position=0.1), "does not follow"),
    "an interval upside down": (with_row(GOOD, "jsd", low=0.9, high=0.1), "ends are swapped"),
    "more stays than launches": (with_row(GOOD, "jsd", n_stays=3000), "more stays than launches"),
    "a row twice": (replace(GOOD, rows=(*GOOD.rows, GOOD.rows[0])), "1 of 11 rows repeat"),
    "a measure without a name": (
        replace(GOOD, rows=(*GOOD.rows, replace(GOOD.rows[0], metric="<b>"))),
        "whose name is none",
    ),
    "few subjects": (with_row(GOOD, "jsd", n_subjects=9), "fewer than 10 subjects"),
    "subjects unknown": (with_row(GOOD, "jsd", n_subjects=0), "do not say of how many"),
    "a recipe with texts": (replace(GOOD, recipe={"data": "/home/x"}), "never shared"),
    "a folder's name": (replace(GOOD, producer="/home/x/gru.npz"), "never shared"),
    "a small loss in the attrition": (
        replace(
            GOOD,
            cohort=cohort(
                attrition=[
                    {"rule": "a", "n_stays": 6003, "n_subjects": 4000, "n_events": 9**6, "note": ""},
                    {"rule": "b", "n_stays": 6000, "n_subjects": 4000, "n_events": 9**5, "note": ""},
                ]
            ),
        ),
        "never shared",
    ),
    "a text without end": (replace(GOOD, clock="x" * 500), "1 texts are longer than 400"),
    "control characters": (replace(GOOD, clock="a\x1b[2J"), "1 texts hold control characters"),
    "no draws": (replace(GOOD, draws=0), "below 1"),
}  # fmt: skip


@pytest.mark.parametrize("what", BROKEN)
def test_what_is_wrong_with_a_sheet_is_said(what: str) -> None:
    made, expected = BROKEN[what]
    said = " ".join(problems_of(made))
    assert expected in said
    assert "10014729" not in said and "/home/x" not in said


@pytest.mark.parametrize("metric", MEASURES)
def test_no_measure_can_be_left_away(metric: str) -> None:
    assert any(
        f"`{metric}` of all launches" in one for one in problems_of(without_row(GOOD, metric))
    )


def test_a_measure_that_cannot_be_known_needs_a_reason() -> None:
    unknown = with_row(
        GOOD, "duration_ratio", value=None, low=None, high=None, loss=None, position=None
    )
    assert any("no note says why" in one for one in problems_of(unknown))
    assert problems_of(with_row(unknown, "duration_ratio", note="no visit ended")) == []
