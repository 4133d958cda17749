"""MIMIC on made-up stays: two routes to one log, its rules, its order, and what a stay is."""

from __future__ import annotations

import gzip
from dataclasses import asdict
from pathlib import Path

import polars as pl
import pytest
from mimic_folder import (
    DISCHARGE,
    DISPENSATION,
    ENTER,
    RECONCILIATION,
    TRIAGE,
    VITAL,
    Row,
    at,
    busy,
    check,
    code,
    dispensed,
    home_medicine,
    released,
    stay,
    triage,
    write,
    write_tables,
)
from polars.testing import assert_frame_equal

from edsim.cohort.contract import check_extract
from edsim.progress import silent
from edsim.sources.mimic import SOURCE, MimicOptions, read
from edsim.sources.mimic.extract import race_group
from edsim.tables.extract import Extract


def extract(**options: object) -> Extract:
    found = read(MimicOptions(**options), silent)  # type: ignore[arg-type]
    check_extract(found)
    return found


def from_tables(folder: Path, tables: dict[str, list[Row]], **options: object) -> Extract:
    return extract(ed=write_tables(folder / "ed", tables), **options)


def from_release(folder: Path, tables: dict[str, list[Row]], **options: object) -> Extract:
    path = write(folder / "mimicel.csv", released(tables))
    return extract(mimicel=path, **options)


def events_of(found: Extract, stay_id: str) -> list[tuple[object, ...]]:
    row = found.stays["stay_id"].to_list().index(stay_id)
    return found.events.filter(pl.col("stay") == row).drop("stay").rows()


def one_stay(**tables: list[Row]) -> dict[str, list[Row]]:
    """Stay 300 with a row in every table, so that no file is empty."""
    return {
        "edstays": [stay()],
        "triage": [triage()],
        "vitalsign": [check("300", "10:00", heartrate="70")],
        "medrecon": [home_medicine("300", "10:00", "zinc")],
        "pyxis": [dispensed("300", "10:00", "Morphine")],
        "diagnosis": [code("300", 1)],
    } | tables


def test_the_two_routes_give_the_same_stays_and_events(tmp_path: Path) -> None:
    tables, release = from_tables(tmp_path, busy()), from_release(tmp_path, busy())
    assert_frame_equal(tables.stays, release.stays)
    assert_frame_equal(tables.events, release.events)
    assert tables.notices == release.notices == ()


def test_the_log_of_a_stay_holds_what_the_rules_say_in_their_order(tmp_path: Path) -> None:
    assert events_of(from_tables(tmp_path, busy()), "300") == [
        (-5.0, VITAL, None, "abnormal"),
        (0.0, ENTER, "WALK IN", None),
        (0.0, VITAL, None, "normal"),
        (1 / 60, TRIAGE, "3", None),
        (40.0, RECONCILIATION, "zinc", "Minerals"),
        (40.0, RECONCILIATION, "aspirin", "Salicylates"),
        (40.0, RECONCILIATION, "aspirin", None),
        (40.0, DISPENSATION, "Morphine", None),
        (40.0, DISPENSATION, "Morphine", None),
        (240.0, DISCHARGE, "HOME", None),
        (240.0, DISCHARGE, "HOME", None),
    ]


def test_rows_at_departure_go_and_rows_a_second_before_stay(tmp_path: Path) -> None:
    found = from_tables(tmp_path, busy())
    assert events_of(found, "99")[-2:] == [
        (14_399_000_000 / 60_000_000, VITAL, None, "normal"),
        (240.0, DISCHARGE, "ADMITTED", None),
    ]
    assert events_of(found, "00099") == [
        (0.0, ENTER, "WALK IN", None),
        (1 / 60, TRIAGE, None, None),
        (5416 / 60, DISPENSATION, "NA", None),
        (5417 / 60, DISCHARGE, "HOME", None),
    ]


def test_a_stay_has_its_attributes(tmp_path: Path) -> None:
    found = from_tables(tmp_path, busy())
    first, second, third = found.stays.rows(named=True)
    assert [first["stay_id"], second["stay_id"], third["stay_id"]] == ["00099", "300", "99"]
    assert first["acuity"] is None and second["acuity"] == 3 and third["acuity"] == 1
    assert first["los_minutes"] == 5417 / 60
    assert second["chief_complaint"] == '"Chest pain", ___\nn/v'
    assert (third["transport"], third["disposition"]) == ("AMBULANCE", "ADMITTED")
    assert (first["sex"], first["race_group"]) == ("M", "Not recorded")
    assert third["race_group"] == "Asian"
    assert first["age"] is None and first["period"] is None
    assert (found.cap, found.triage_activity) == (128, TRIAGE)


def test_every_rule_is_a_step_with_what_it_leaves(tmp_path: Path) -> None:
    tables = busy()
    tables["edstays"].append(stay("7", "300", outtime=at("09:00")))
    tables["triage"].append(triage("7"))
    tables["vitalsign"].append(check("7", "08:00"))
    found = from_tables(tmp_path, tables)
    counts = [(s.n_stays, s.n_subjects, s.n_events) for s in found.steps]
    assert counts == [(4, 3, 25), (3, 2, 21)] + [(3, 2, 19)] * 4
    assert [s.note for s in found.steps if s.note] == ["2 rows", "4 rows"]
    assert found.notices == ("1 of 4 stays depart at or before their arrival: left out.",)
    assert_frame_equal(found.events, from_release(tmp_path, tables).events)


def test_the_same_options_and_files_are_named_whatever_their_folder(tmp_path: Path) -> None:
    found = from_tables(tmp_path, busy())
    roles = [(f.role, f.name) for f in found.raw_files]
    assert roles[0] == ("MIMIC-IV-ED edstays", "edstays.csv") and len(roles) == 6
    assert found.options["route"] == "tables" and found.options["deduplicate"] is False
    assert str(tmp_path) not in str(asdict(found.steps[0])) + str(found.options) + str(roles)


def test_deduplicate_keeps_the_first_of_the_rows_of_one_act(tmp_path: Path) -> None:
    for route in (from_tables, from_release):
        found = route(tmp_path, busy(), deduplicate=True)
        assert [event[1:3] for event in events_of(found, "300")] == [
            (VITAL, None),
            (ENTER, "WALK IN"),
            (VITAL, None),
            (TRIAGE, "3"),
            (RECONCILIATION, "zinc"),
            (DISPENSATION, "Morphine"),
            (DISCHARGE, "HOME"),
        ]
        assert found.steps[-1].n_events == found.events.height


def test_a_check_in_the_second_of_triage_stands_before_it(tmp_path: Path) -> None:
    for route in (from_tables, from_release):
        found = route(tmp_path, one_stay(vitalsign=[check("300", "09:00:01")]))
        assert [event[1] for event in events_of(found, "300")][:3] == [ENTER, VITAL, TRIAGE]


def test_ties_can_stand_as_in_the_file(tmp_path: Path) -> None:
    found = from_release(tmp_path, one_stay(vitalsign=[check("300", "09:00")]), ties="file")
    activities = [event[1] for event in events_of(found, "300")]
    # `released` writes the activities of one time in the reverse order
    assert activities == [VITAL, ENTER, TRIAGE, DISPENSATION, RECONCILIATION, DISCHARGE]


def test_the_release_is_read_from_the_folder_of_the_tables_too(tmp_path: Path) -> None:
    folder = write_tables(tmp_path / "ed", busy())
    packed = gzip.compress(write(tmp_path / "mimicel.csv", released(busy())).read_bytes())
    (folder / "mimicel.csv.gz").write_bytes(packed)
    found = extract(ed=folder)
    assert found.options["route"] == "mimicel"
    assert [f.name for f in found.raw_files] == ["mimicel.csv.gz", "edstays.csv"]
    assert_frame_equal(found.events, from_release(tmp_path, busy()).events)


def test_rows_at_departure_of_an_older_release_are_left_out_and_told(tmp_path: Path) -> None:
    rows = released(one_stay())
    rows.append(
        {"stay_id": "300", "subject_id": "100", "timestamps": at("13:00"), "activity": VITAL}
    )
    rows.append(
        {"stay_id": "300", "subject_id": "100", "timestamps": at("15:00"), "activity": VITAL}
    )
    found = extract(mimicel=write(tmp_path / "mimicel.csv", rows))
    assert_frame_equal(found.events, from_tables(tmp_path, one_stay()).events)
    assert found.notices[0].startswith("2 checks and medicine rows lie at or after departure")


def test_a_discharge_before_arrival_leaves_the_stay_out(tmp_path: Path) -> None:
    rows = released(busy())
    for row in rows:
        if row["stay_id"] == "99" and row["activity"] == DISCHARGE:
            row["timestamps"] = at("08:00")
    found = extract(mimicel=write(tmp_path / "mimicel.csv", rows))
    assert found.stays["stay_id"].to_list() == ["00099", "300"]
    assert found.notices == ("1 of 3 stays depart at or before their arrival: left out.",)


def test_stays_that_only_edstays_has_are_a_step(tmp_path: Path) -> None:
    tables = busy()
    path = write(tmp_path / "mimicel.csv", [r for r in released(tables) if r["stay_id"] != "99"])
    found = extract(mimicel=path, ed=write_tables(tmp_path / "ed", tables))
    assert [s.n_stays for s in found.steps[:3]] == [3, 2, 2]
    assert found.steps[1].note == "1 stays of edstays have no row in mimicel.csv"


def test_the_order_of_the_rows_in_the_files_does_not_matter(tmp_path: Path) -> None:
    tables = busy()
    found = from_tables(tmp_path, tables)
    turned = {name: rows[::-1] for name, rows in tables.items()}
    turned["medrecon"], turned["pyxis"] = tables["medrecon"], tables["pyxis"]
    again = from_tables(tmp_path, turned)
    assert_frame_equal(found.stays, again.stays)
    assert_frame_equal(found.events, again.events)


def test_a_stay_of_a_hundred_thousand_events_is_read(tmp_path: Path) -> None:
    many = [
        check("300", f"{9 + i // 3600 % 4:02}:{i // 60 % 60:02}:{i % 60:02}")
        for i in range(100_000)
    ]
    found = from_tables(tmp_path, one_stay(vitalsign=many))
    assert found.events.height == 100_005
    assert found.events["minutes"].is_sorted()


@pytest.mark.parametrize(
    ("race", "group"),
    [
        ("ASIAN - SOUTH EAST ASIAN", "Asian"),
        ("BLACK/CAPE VERDEAN", "Black"),
        ("HISPANIC OR LATINO", "Hispanic/Latino"),
        ("HISPANIC/LATINO - CUBAN", "Hispanic/Latino"),
        ("SOUTH AMERICAN", "Hispanic/Latino"),
        ("WHITE - RUSSIAN", "White"),
        ("PORTUGUESE", "White"),
        ("UNABLE TO OBTAIN", "Not recorded"),
        ("PATIENT DECLINED TO ANSWER", "Not recorded"),
        ("UNKNOWN", "Not recorded"),
        ("MULTIPLE RACE/ETHNICITY", "Other"),
        ("AMERICAN INDIAN/ALASKA NATIVE", "Other"),
        (None, None),
    ],
)
def test_races_are_grouped(race: str | None, group: str | None) -> None:
    frame = pl.DataFrame({"race": [race]}, schema={"race": pl.String})
    assert frame.select(race_group().alias("group"))["group"].to_list() == [group]


def patient(subject_id: str, age: str, year: str, group: str) -> Row:
    return {
        "subject_id": subject_id,
        "anchor_age": age,
        "anchor_year": year,
        "anchor_year_group": group,
    }


def test_age_and_period_come_from_the_patients_table(tmp_path: Path) -> None:
    write(
        tmp_path / "patients.csv",
        [patient("100", "40", "2148", "2011 - 2013"), patient("200", "91", "2150", "2017 -2019")],
    )
    by_subject = from_tables(tmp_path, busy(), hosp=tmp_path)
    assert by_subject.stays["age"].to_list() == [91, 42, 42]
    assert by_subject.stays["period"].to_list() == ["2017 - 2019", "2011 - 2013", "2011 - 2013"]
    by_visit = from_tables(tmp_path, busy(), hosp=tmp_path, period="visit")
    assert by_visit.stays["period"].to_list() == ["2017 - 2019", "2013 - 2015", "2013 - 2015"]
    assert by_visit.stays["age"].to_list() == [91, 42, 42]


def test_a_subject_without_a_patients_row_has_no_age_and_is_told(tmp_path: Path) -> None:
    write(tmp_path / "patients.csv", [patient("100", "40", "2148", "2011 - 2013")])
    found = from_tables(tmp_path, busy(), hosp=tmp_path)
    assert found.stays["age"].to_list() == [None, 42, 42]
    assert found.stays["period"].to_list()[0] is None
    assert found.notices == (
        "1 of 3 stays have a subject that is not in patients.csv: no age, no period.",
    )


def test_the_source_is_restricted_and_names_its_vocabularies() -> None:
    assert SOURCE.restricted and SOURCE.vocabularies == ("ed32", "ed7")
