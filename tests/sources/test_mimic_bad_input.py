"""MIMIC files broken in one way each: one message, nothing of a row in it, or a notice."""

from __future__ import annotations

from pathlib import Path

import pytest
from mimic_folder import (
    DISCHARGE,
    ENTER,
    TRIAGE,
    VITAL,
    Row,
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
from edsim.errors import BadInputError
from edsim.progress import silent
from edsim.sources.mimic import MimicOptions, read
from edsim.tables.extract import Extract

STAY, OTHER, SUBJECT = "30047111", "30047222", "10047333"
SECRETS = (STAY, OTHER, SUBJECT, "Morphine", "2150", "Abd pain")


def tables(**changed: list[Row]) -> dict[str, list[Row]]:
    """Two stays of one subject with a row in every table."""
    return {
        "edstays": [stay(STAY, SUBJECT), stay(OTHER, SUBJECT)],
        "triage": [triage(STAY), triage(OTHER)],
        "vitalsign": [check(STAY, "10:00", heartrate="70"), check(OTHER, "10:00")],
        "medrecon": [home_medicine(STAY, "10:00", "zinc")],
        "pyxis": [dispensed(STAY, "10:00", "Morphine")],
        "diagnosis": [code(STAY, 1)],
    } | changed


def extract(**options: object) -> Extract:
    found = read(MimicOptions(**options), silent)  # type: ignore[arg-type]
    check_extract(found)
    return found


def refusal(**options: object) -> str:
    with pytest.raises(BadInputError) as caught:
        extract(**options)
    message = str(caught.value)
    assert not [secret for secret in SECRETS if secret in message]
    return message


def log_with(folder: Path, rows: list[Row]) -> Path:
    return write(folder / "mimicel.csv", rows)


def changed(rows: list[Row], where: str, /, **fields: str) -> list[Row]:
    """The rows, with other fields in those of one activity of the first stay."""
    return [
        row | fields if (row["activity"], row["stay_id"]) == (where, STAY) else row for row in rows
    ]


@pytest.mark.parametrize(
    "table", ["edstays", "triage", "vitalsign", "medrecon", "pyxis", "diagnosis"]
)
def test_a_table_that_is_missing_or_lacks_rows_or_a_column_is_named(
    tmp_path: Path, table: str
) -> None:
    folder = write_tables(tmp_path, tables())
    path = folder / f"{table}.csv"
    path.write_text(path.read_text().replace("stay_id", "visit", 1))
    assert f"{table}.csv has no column stay_id" in refusal(ed=folder)
    write(path, [])
    assert f"{table}.csv has a header and no rows" in refusal(ed=folder)
    path.unlink()
    assert f"neither {table}.csv nor {table}.csv.gz is in the folder" in refusal(ed=folder)


def test_nothing_to_read_is_said_at_once() -> None:
    with pytest.raises(BadInputError, match="nothing to read: give --ed"):
        MimicOptions()


def test_the_order_of_the_file_needs_the_file(tmp_path: Path) -> None:
    folder = write_tables(tmp_path, tables())
    assert "--ties file needs mimicel.csv" in refusal(ed=folder, ties="file")
    write(folder / "mimicel.csv", released(tables()))
    assert extract(ed=folder, ties="file").options["ties"] == "file"


def test_a_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    assert "there is no folder at" in refusal(ed=tmp_path / "absent")
    assert "there is no folder at" in refusal(
        ed=write_tables(tmp_path, tables()), hosp=tmp_path / "absent"
    )
    assert "there is no file at" in refusal(mimicel=tmp_path / "absent.csv")


def test_marks_and_line_ends_of_windows_change_nothing(tmp_path: Path) -> None:
    plain = extract(ed=write_tables(tmp_path / "plain", tables()))
    folder = write_tables(tmp_path / "windows", tables())
    for path in folder.iterdir():
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    found = extract(ed=folder)
    assert_frame_equal(found.stays, plain.stays)
    assert_frame_equal(found.events, plain.events)
    assert len(found.notices) == 6 and "byte-order mark" in found.notices[0]


@pytest.mark.parametrize(
    "time",
    [
        "",
        "2150-13-45 10:00:00",
        "2150-02-30 10:00:00",
        "2150-03-04 25:00:00",
        "2150-03-04",
        "10:00",
        "0000-03-04 10:00:00",
        "1066-10-14 10:00:00",
        "9999-12-31 10:00:00",
        "2150-03-04 10:00:60",
        "2150-03-04 10:00:00 UTC",
        "45000.5",
    ],
)
def test_a_time_that_is_none_is_refused_wherever_it_stands(tmp_path: Path, time: str) -> None:
    bad_stays = [stay(STAY, SUBJECT), stay(OTHER, SUBJECT, outtime=time)]
    message = refusal(ed=write_tables(tmp_path / "1", tables(edstays=bad_stays)))
    assert message.startswith("1 of 2 rows of edstays.csv have a time that is empty, impossible")
    assert "(column outtime), first in data row 2." in message
    bad_checks = [check(STAY, "10:00"), check(STAY, "10:00") | {"charttime": time}]
    message = refusal(ed=write_tables(tmp_path / "2", tables(vitalsign=bad_checks)))
    assert "rows of vitalsign.csv" in message and "(column charttime)" in message
    rows = changed(released(tables()), TRIAGE, timestamps=time)
    message = refusal(mimicel=log_with(tmp_path, rows))
    assert "rows of mimicel.csv" in message and "(column timestamps)" in message


def test_a_stay_with_two_rows_is_refused(tmp_path: Path) -> None:
    twice = tables()
    twice["edstays"].append(stay(STAY, SUBJECT))
    message = refusal(ed=write_tables(tmp_path, twice))
    assert message == (
        "1 of 3 rows of edstays.csv repeat a stay that has a row already, first in data row 3."
    )
    twice = tables(triage=[triage(STAY), triage(OTHER), triage(OTHER)])
    assert "triage.csv repeat a stay" in refusal(ed=write_tables(tmp_path, twice))


def test_two_arrivals_of_one_stay_in_the_log_are_refused(tmp_path: Path) -> None:
    rows = released(tables())
    rows += [row for row in rows if row["activity"] in (ENTER, TRIAGE)]
    assert "has 2 rows 'Enter the ED' too many" in refusal(mimicel=log_with(tmp_path, rows))


@pytest.mark.parametrize(
    ("table", "row"),
    [
        ("triage", triage("12")),
        ("vitalsign", check("12", "10:00")),
        ("medrecon", home_medicine("12", "10:00", "zinc")),
        ("pyxis", dispensed("12", "10:00", "zinc")),
        ("diagnosis", code("12", 1)),
    ],
)
def test_a_row_of_an_unknown_stay_is_refused(tmp_path: Path, table: str, row: Row) -> None:
    folder = write_tables(tmp_path, tables(**{table: [*tables()[table], row]}))
    message = refusal(ed=folder)
    n = len(tables()[table]) + 1
    assert message == (
        f"1 of {n} rows of {table}.csv belong to a stay that is not in edstays, first in data row "
        f"{n}."
    )


@pytest.mark.parametrize("table", ["triage", "vitalsign", "medrecon", "pyxis", "diagnosis"])
def test_a_row_of_another_subject_than_its_stay_is_refused(tmp_path: Path, table: str) -> None:
    rows = tables()[table]
    rows[0] |= {"subject_id": "10047444"}
    message = refusal(ed=write_tables(tmp_path, tables(**{table: rows})))
    assert message == (
        f"1 of {len(rows)} rows of {table}.csv belong to another subject than their stay does in "
        "edstays, first in data row 1."
    )


def test_a_stay_of_two_subjects_in_the_log_is_refused(tmp_path: Path) -> None:
    rows = changed(released(tables()), VITAL, subject_id="10047444")
    message = refusal(mimicel=log_with(tmp_path, rows))
    assert "1 of 2 stays of mimicel.csv have rows of more than one subject" in message


def test_a_log_of_other_stays_than_edstays_is_refused(tmp_path: Path) -> None:
    log = log_with(tmp_path, released(tables()))
    fewer = tables(edstays=[stay(STAY, SUBJECT)])
    message = refusal(mimicel=log, ed=write_tables(tmp_path / "fewer", fewer))
    assert message == (
        "4 of 10 rows of mimicel.csv belong to a stay that is not in edstays, first in data row 7."
    )
    for field, value, what in (
        ("subject_id", "12", "another subject"),
        ("intime", "2150-03-04 09:01:00", "another time of arrival"),
        ("outtime", "2150-03-05 09:01:00", "another time of departure"),
    ):
        other = tables(edstays=[stay(STAY, SUBJECT) | {field: value}, stay(OTHER, SUBJECT)])
        message = refusal(mimicel=log, ed=write_tables(tmp_path / field, other))
        assert f"1 of 2 stays have {what}" in message


def test_an_activity_that_mimicel_does_not_have_is_refused(tmp_path: Path) -> None:
    for name in ("Triage", "", "Medicine dispensation"):
        rows = changed(released(tables()), TRIAGE, activity=name)
        message = refusal(mimicel=log_with(tmp_path, rows))
        assert message.startswith("1 of 10 rows of mimicel.csv have an activity other than Enter")
        assert "first in data row 2" in message


def test_a_log_that_is_not_whole_is_refused(tmp_path: Path) -> None:
    rows = released(tables())

    def without(activity: str) -> str:
        kept = [r for r in rows if (r["activity"], r["stay_id"]) != (activity, STAY)]
        return refusal(mimicel=log_with(tmp_path, kept))

    assert "5 of 9 rows of mimicel.csv belong to a stay without an 'Enter" in without(ENTER)
    assert "1 of 2 stays of mimicel.csv have no 'Discharge from the ED' row" in without(DISCHARGE)
    torn = [*rows, rows[-1] | {"timestamps": "2150-03-04 14:00:00"}]
    assert "1 of 2 stays of mimicel.csv have 'Discharge from the ED' rows at different" in refusal(
        mimicel=log_with(tmp_path, torn)
    )


def test_a_stay_without_triage_is_told(tmp_path: Path) -> None:
    found = extract(ed=write_tables(tmp_path / "ed", tables(triage=[triage(STAY)])))
    assert found.notices == ("1 of 2 stays have no triage row.",)
    log = log_with(tmp_path, released(tables(triage=[triage(STAY)])))
    assert extract(mimicel=log).notices == found.notices


def test_a_row_without_identifiers_is_refused(tmp_path: Path) -> None:
    nobody = tables(edstays=[stay(STAY, " "), stay(OTHER, SUBJECT)])
    message = refusal(ed=write_tables(tmp_path / "1", nobody))
    assert "1 of 2 rows of edstays.csv have no subject_id, first in data row 1" in message
    nowhere = tables(pyxis=[dispensed("", "10:00", "Morphine")])
    assert "pyxis.csv have no stay_id" in refusal(ed=write_tables(tmp_path / "2", nowhere))


def test_ids_are_text_and_not_numbers(tmp_path: Path) -> None:
    ids = ["00012", "12", "1e5", "100000", "12.0", "NA"]
    folder = write_tables(
        tmp_path,
        tables(
            edstays=[stay(i, SUBJECT) for i in ids],
            triage=[triage(i) for i in ids],
            vitalsign=[check("12", "10:00"), check("1e5", "10:00")],
            medrecon=[home_medicine("NA", "10:00", "NA")],
            pyxis=[dispensed("00012", "10:00", "null")],
            diagnosis=[code(i, 1) for i in ids],
        ),
    )
    found = extract(ed=folder)
    assert found.stays["stay_id"].to_list() == sorted(ids)
    counts = found.events.group_by("stay", maintain_order=True).len()["len"].to_list()
    assert dict(zip(sorted(ids), counts, strict=True)) == {
        "00012": 4,
        "100000": 3,
        "12": 4,
        "12.0": 3,
        "1e5": 4,
        "NA": 4,
    }
    assert {"NA", "null"} <= set(found.events["detail"].cast(str).to_list())


def test_vital_signs_that_are_no_numbers_count_as_missing_and_are_told(tmp_path: Path) -> None:
    checks = [
        check(STAY, "10:00", heartrate="fast", resprate="nan", o2sat="980", sbp="-4"),
        check(OTHER, "10:00", heartrate="1e2", temperature="inf"),
    ]
    told = (
        "1 vital-sign values of {} are not numbers and count as not recorded.",
        "4 vital-sign values of {} lie outside the valid range and count as not recorded.",
    )
    found = extract(ed=write_tables(tmp_path / "ed", tables(vitalsign=checks)))
    assert found.notices == tuple(text.format("vitalsign.csv") for text in told)
    flags = found.events.filter(activity="Vital sign check")["flag"].to_list()
    assert flags == ["normal", "normal"]
    log = log_with(tmp_path, released(tables(vitalsign=checks)))
    assert extract(mimicel=log).notices == tuple(text.format("mimicel.csv") for text in told)


def test_an_acuity_that_is_no_level_counts_as_missing_and_is_told(tmp_path: Path) -> None:
    levels = ["1", "2.0", "0", "6", "2.5", "high", "", "nan"]
    ids = [f"{i}" for i in range(len(levels))]
    folder = write_tables(
        tmp_path,
        tables(
            edstays=[*tables()["edstays"], *(stay(i, SUBJECT) for i in ids)],
            triage=[triage(i, acuity=level) for i, level in zip(ids, levels, strict=True)],
        ),
    )
    found = extract(ed=folder)
    assert found.stays["acuity"].to_list() == [1, 2, *[None] * 8]
    assert found.notices[0] == (
        "5 acuity values of triage.csv are not levels 1 to 5 and count as not recorded."
    )


def patient(**other: str) -> Row:
    return {
        "subject_id": SUBJECT,
        "anchor_age": "40",
        "anchor_year": "2150",
        "anchor_year_group": "2011 - 2013",
    } | other


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([patient(anchor_year_group="2011")], "have an anchor_year_group that is not a pair"),
        ([patient(anchor_year_group="2013 - 2011")], "have an anchor_year_group that is not a"),
        ([patient(anchor_age="old")], "have no number in anchor_age"),
        ([patient(anchor_year="")], "have no number in anchor_year"),
        ([patient(), patient()], "repeat a subject that has a row already, first in data row 2"),
        ([patient(subject_id="")], "have no subject_id"),
        ([patient(subject_id="12")], "holds none of the subjects of the stays"),
        ([patient(anchor_year="2199")], "lie before their subject's birth"),
    ],
)
def test_a_patients_table_that_does_not_fit_is_refused(
    tmp_path: Path, rows: list[Row], expected: str
) -> None:
    folder = write_tables(tmp_path, tables())
    write(folder / "patients.csv", rows)
    assert expected in refusal(ed=folder, hosp=folder)
