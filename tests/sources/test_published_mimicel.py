"""The figures of MIMICEL on logs small enough to count by hand."""

from __future__ import annotations

import math

import polars as pl
import pytest

from edsim.errors import BadTableError
from edsim.sources.published_mimicel import published_figures
from edsim.tables.published import PublishedRow

ENTER, TRIAGE, VITAL = "Enter the ED", "Triage in the ED", "Vital sign check"
RECON, DISP = "Medicine reconciliation", "Medicine dispensations"
DISCHARGE = "Discharge from the ED"

FIRST = [
    (0.0, ENTER),
    (0.0, VITAL),
    (1 / 60, TRIAGE),
    (30.0, RECON),
    (30.0, RECON),
    (32.0, RECON),
    (35.0, RECON),
    (60.0, DISCHARGE),
    (60.0, DISCHARGE),
]
SECOND = [(0.0, ENTER), (1 / 60, TRIAGE), (120.0, DISCHARGE)]


def figures(
    *stays: list[tuple[float, str]], known: tuple[str, ...] = ()
) -> dict[str, PublishedRow]:
    events = pl.DataFrame(
        [
            {"stay_id": str(i), "position": k + 1, "minutes": minutes, "activity": activity}
            for i, rows in enumerate(stays)
            for k, (minutes, activity) in enumerate(rows)
        ]
    )
    people = pl.DataFrame(
        {
            "stay_id": [str(i) for i in range(len(stays))],
            "subject_id": [str(i) for i in range(len(stays))],
            "los_minutes": [rows[-1][0] for rows in stays],
            "acuity": pl.Series([3, None, None][: len(stays)], dtype=pl.Int8),
            "disposition": ["HOME", "EXPIRED", "EXPIRED"][: len(stays)],
            "transport": ["HELICOPTER", None, None][: len(stays)],
        }
    )
    rows = published_figures(people.lazy(), events.lazy(), known_misses=known)
    assert len({row.quantity for row in rows}) == len(rows)
    return {row.quantity: row for row in rows}


def test_rows_and_repeats_are_counted() -> None:
    found = {name: row.ours for name, row in figures(FIRST, SECOND).items()}
    assert found["rows per stay"] == 6
    assert found["recon rows per stay"] == 2
    assert found["share of stays with vital"] == 0.5
    assert found["rows at or before Enter, share"] == 1 / 12
    assert found["recon rows within 2 min of the same, share"] == 2 / 4
    assert found["stays repeating recon within 61 s, share"] == 1
    assert found["stays repeating discharge within 61 s, share"] == 0.5
    assert found["discharge rows within 2 min of the same, share"] == 1 / 3
    assert found["rows per stay collapsed at 2 min, mean"] == (6 + 3) / 2
    assert found["rows per stay, exact repeats removed"] == (7 + 3) / 2
    assert found["launch prefixes already holding every discharge row"] == 2 / 12


def test_transitions_are_shares_of_what_follows_once_repeats_are_one() -> None:
    found = {name: row.ours for name, row in figures(FIRST, SECOND).items()}
    assert found["Enter to Vital, share"] == found["Enter to Triage, share"] == 0.5
    assert found["Triage to Recon, share"] == found["Triage to Discharge, share"] == 0.5
    assert found["Recon to Recon, share"] == pytest.approx(2 / 3)
    assert found["Recon to Discharge, share"] == pytest.approx(1 / 3)
    assert math.isnan(found["Disp to Disp, share"])


def test_groups_and_durations_come_from_the_stays() -> None:
    found = {name: row.ours for name, row in figures(FIRST, SECOND).items()}
    assert found["rows per stay, acuity 3"] == 9
    assert found["rows per stay, acuity missing"] == 3
    assert math.isnan(found["rows per stay, acuity 1"])
    assert found["rows per stay, other disposition"] == 3
    assert found["length of stay, mean, hours"] == 1.5
    assert found["disposition OTHER or EXPIRED, share of stays"] == 0.5
    assert found["transport ambulance or helicopter, share of stays"] == 0.5
    assert found["transport walk-in, share of stays"] == 0


def test_per_cent_tolerances_become_absolute() -> None:
    row = figures(FIRST, SECOND)["length of stay, median, hours"]
    assert row.tolerance == pytest.approx(0.03 * 5.47)
    assert row.within is False


def test_a_known_miss_is_only_what_misses() -> None:
    names = ("rows per stay", "rows per stay collapsed at 2 min, median")
    found = figures(FIRST, SECOND, known=names)
    assert found["rows per stay"].known_miss
    assert not found["recon rows per stay"].known_miss
    assert not figures(FIRST, SECOND)["rows per stay"].known_miss


def test_repeats_do_not_cross_from_one_stay_to_the_next() -> None:
    found = figures([(0.0, ENTER), (5.0, DISCHARGE)], [(4.0, DISCHARGE), (5.0, DISCHARGE)])
    assert found["discharge rows within 2 min of the same, share"].ours == 1 / 3


def test_tables_that_do_not_belong_together_are_refused() -> None:
    people = pl.DataFrame(
        {
            "subject_id": ["a", "b"],
            "los_minutes": [1.0, 2.0],
            "acuity": [1, 2],
            "disposition": ["HOME"] * 2,
            "transport": ["X"] * 2,
        }
    )
    events = pl.DataFrame(
        {"position": [1, 2], "minutes": [0.0, 1.0], "activity": [ENTER, DISCHARGE]}
    )
    with pytest.raises(BadTableError, match="1 stays and the stays table 2"):
        published_figures(people.lazy(), events.lazy())


def test_the_subjects_behind_a_figure_are_those_of_its_smaller_side() -> None:
    found = {name: row.n_behind for name, row in figures(FIRST, SECOND, SECOND).items()}
    assert found["rows per stay"] == 3
    assert found["share of stays with recon"] == 1
    assert found["Enter to Vital, share"] == found["Enter to Triage, share"] == 1
    assert found["rows per stay, acuity 1"] == 0
    assert found["disposition TRANSFER, share of stays"] == 0


def test_a_mean_is_hidden_with_the_one_that_it_would_give_away() -> None:
    """Five subjects of acuity 1: the mean of all and of the others tells theirs."""
    acuity = [1] * 5 + [2] * 20 + [3] * 15
    n = len(acuity)
    people = pl.DataFrame(
        {
            "stay_id": [f"{i:02d}" for i in range(n)],
            "subject_id": [f"{i:02d}" for i in range(n)],
            "los_minutes": [60.0] * n,
            "acuity": pl.Series(acuity, dtype=pl.Int8),
            "disposition": ["EXPIRED"] * 5 + ["ADMITTED"] * 20 + ["HOME"] * 15,
            "transport": ["WALK IN"] * n,
        }
    )
    events = pl.DataFrame(
        {
            "position": [1, 2] * n,
            "minutes": [0.0, 60.0] * n,
            "activity": [ENTER, DISCHARGE] * n,
        }
    )
    found = {row.quantity: row.n_behind for row in published_figures(people.lazy(), events.lazy())}
    for groups in (("acuity 1", "acuity 3", "acuity 2"), ("other disposition", "HOME", "ADMITTED")):
        assert [found[f"rows per stay, {name}"] for name in groups] == [0, 0, 20]
