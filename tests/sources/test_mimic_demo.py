"""The open demo of MIMIC-IV-ED: both routes, and figures that are known from its own pages."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from edsim.cli import run
from edsim.cohort.contract import check_extract
from edsim.progress import silent
from edsim.sources.mimic import MimicOptions, read
from edsim.tables.extract import Extract


@pytest.fixture(scope="module")
def ed(open_data: Path) -> Path:
    return open_data / "mimic-iv-fhir-demo-2.1.0-ed"


@pytest.fixture(scope="module")
def from_tables(ed: Path, open_data: Path) -> Extract:
    return read(MimicOptions(ed=ed, hosp=open_data / "mimic-iv-demo-2.2-hosp"), silent)


@pytest.fixture(scope="module")
def from_log(ed: Path, open_data: Path) -> Extract:
    hosp = open_data / "mimic-iv-demo-2.2-hosp"
    return read(MimicOptions(ed=ed, mimicel=ed / "mimicel_demo.csv.gz", hosp=hosp), silent)


def test_the_two_routes_agree_event_for_event(from_tables: Extract, from_log: Extract) -> None:
    assert_frame_equal(from_tables.stays, from_log.stays, check_exact=True)
    assert_frame_equal(from_tables.events, from_log.events, check_exact=True)
    assert from_tables.notices == from_log.notices == ()


def test_the_log_alone_gives_the_same(from_log: Extract, ed: Path) -> None:
    alone = read(MimicOptions(mimicel=ed / "mimicel_demo.csv.gz"), silent)
    assert_frame_equal(alone.events, from_log.events, check_exact=True)


def test_the_demo_has_222_stays_and_5750_events(from_tables: Extract) -> None:
    check_extract(from_tables)
    assert (from_tables.stays.height, from_tables.events.height) == (222, 5_750)
    assert from_tables.stays["subject_id"].n_unique() == 64
    counts = dict(from_tables.events["activity"].cast(pl.String).value_counts().rows())
    assert counts == {
        "Medicine reconciliation": 2_757,
        "Medicine dispensations": 1_033,
        "Vital sign check": 970,
        "Discharge from the ED": 546,
        "Enter the ED": 222,
        "Triage in the ED": 222,
    }


def test_every_rule_has_its_count(from_tables: Extract) -> None:
    # of 1,038 checks 68, of 2,764 reconciliation rows 7 and of 1,082 dispensations 49 are late
    assert [s.n_events for s in from_tables.steps] == [5_750 + 68 + 7 + 49] * 2 + [5_750] * 4
    assert from_tables.steps[3].note == f"{43 + 4} rows"


def test_the_stays_are_those_of_the_demo(from_tables: Extract) -> None:
    stays = from_tables.stays
    acuity = dict(stays["acuity"].value_counts().rows())
    assert acuity == {1: 18, 2: 97, 3: 90, 4: 2, None: 15}
    assert stays.filter(disposition="ADMITTED").height == 150
    assert stays.filter(transport="AMBULANCE").height == 133
    assert round(stays["los_minutes"].mean()) == 486  # type: ignore[arg-type]
    assert stays["los_minutes"].median() == 350.5
    assert set(stays["period"]) == {"2011 - 2013", "2014 - 2016"}
    assert stays["age"].null_count() == 0


def test_the_visits_own_period_is_never_before_the_subjects(
    from_tables: Extract, ed: Path, open_data: Path
) -> None:
    hosp = open_data / "mimic-iv-demo-2.2-hosp"
    by_visit = read(MimicOptions(ed=ed, hosp=hosp, period="visit"), silent).stays["period"]
    first = pl.DataFrame({"visit": by_visit, "subject": from_tables.stays["period"]}).select(
        pl.all().str.slice(0, 4).cast(pl.Int32)
    )
    shift = first["visit"] - first["subject"]
    assert shift.min() == 0 and shift.max() == 8
    assert 0.6 < (shift > 0).mean() < 0.75  # type: ignore[operator]


def test_show_tells_no_cell_of_fewer_than_ten_subjects(
    ed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of the demo, 9 subjects are in validation and 2 rows fit no written rule of ed32."""
    cohort = tmp_path / "C"
    assert run(["cohort", "build", "mimic", "--ed", str(ed), "--out", str(cohort)]) == 0
    assert run(["cohort", "show", str(cohort), "--vocabulary", "ed32"]) == 0
    assert run(["cohort", "launches", str(cohort)]) == 0
    assert run(["cohort", "check", str(cohort)]) == 0
    words = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["val", *["few"] * 4] in words and ["test", *["few"] * 4] in words
    assert ["val-2000", "few"] in words and ["all", "few"] in words
    assert ["ed32", "32", "7", "few"] in words and ["ed7", "7", "1", "0.00%"] in words
    assert ["2", "kinds", "of", "few", "subjects"] in words
    assert not {"547", "1,028"} & {word for line in words for word in line}
