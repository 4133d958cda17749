"""MC-MED on made-up folders of a few visits: what becomes an event, who stays, what is refused."""

from __future__ import annotations

import gzip
from pathlib import Path

import polars as pl
import pytest
from mcmed_folder import at, busy, chart, lab, order, rad, visit, write

from edsim.cohort.contract import check_extract
from edsim.encoding.vocabulary import load
from edsim.errors import BadInputError
from edsim.progress import silent
from edsim.sources.mcmed import SOURCE, read
from edsim.sources.mcmed.labels import order_kind
from edsim.sources.mcmed.options import McmedOptions
from edsim.tables.extract import Extract

CSN, MRN = "98000001", "99000001"
CBC = "CBC with Differential (CBCD)"


def extract(folder: Path, **options: object) -> Extract:
    found = read(McmedOptions(data=folder, **options), silent)  # type: ignore[arg-type]
    check_extract(found)
    return found


def rows(found: Extract, *columns: str) -> list[tuple[object, ...]]:
    text = found.events.with_columns(pl.col("activity", "detail", "flag").cast(pl.String))
    return text.select(columns).rows()


def refusal(folder: Path, **options: object) -> str:
    with pytest.raises(BadInputError) as caught:
        extract(folder, **options)
    message = str(caught.value)
    for secret in (CSN, MRN, "98000002", "2261-05-04", "not a time", "ABDOMINAL PAIN"):
        assert secret not in message
    return message


def test_everything_that_happens_becomes_one_ordered_stream(tmp_path: Path) -> None:
    found = extract(write(tmp_path, **busy()))
    assert rows(found, "minutes", "activity", "detail", "flag") == [
        (0.0, "Arrival", "Self", None),
        (0.0, "Triage", "3", None),
        (20.0, "Roomed", None, None),
        (1510 / 60, "Vital signs charted", None, "abnormal"),
        (30.0, "Order", "CBC WITH DIFFERENTIAL", "laboratory"),
        (30.0, "Order", "ondansetron (ZOFRAN) injection 4 mg", "medication"),
        (45.0, "Medication given", "ondansetron (ZOFRAN) injection 4 mg", None),
        (60.0, "Order", "CT ABDOMEN PELVIS W IV CONTRAST", "imaging"),
        (70.0, "Lab result", CBC, "normal"),
        (70.0, "Lab result", CBC, "abnormal"),
        (160.0, "Imaging result", "CT ABDOMEN PELVIS W IV CONTRAST", None),
        (210.0, "Disposition decision", None, None),
        (240.0, "Departure", "Discharge", None),
    ]
    assert found.cap == 512
    assert found.triage_activity == "Triage"
    assert not found.time_of_day
    assert SOURCE.restricted


def test_every_event_has_a_token_of_the_mcmed_vocabulary(tmp_path: Path) -> None:
    found = extract(write(tmp_path, **busy()))
    vocabulary = load("mcmed").resolve()
    kinds = found.events.select("activity", "detail", "flag").with_columns(pl.all().cast(pl.String))
    tokens = [vocabulary.tokens[t] for t in vocabulary.assign(kinds)["token"]]
    assert tokens == [
        "Arrival",
        "Triage: acuity 3",
        "Roomed",
        "Vital signs charted: abnormal",
        "Order: laboratory",
        "Order: medication",
        "Medicine given: antiemetic",
        "Order: imaging",
        "Laboratory: blood count, normal",
        "Laboratory: blood count, abnormal",
        "Imaging result: computed tomography",
        "Disposition decision",
        "Departure: discharge",
    ]
    assert [vocabulary.tokens[d] for d in vocabulary.discharges] == [
        t for t in vocabulary.tokens if t.startswith("Departure")
    ]


def test_a_stay_keeps_ids_as_text_and_attributes_as_recorded(tmp_path: Path) -> None:
    first = busy("00000123", Age="90", Ethnicity="Hispanic/Latino")
    second = visit("98000002", Race="Declines to State", Gender="U", Triage_acuity="", Age="")
    found = extract(
        write(
            tmp_path,
            **first | {"visits": [second, *first["visits"]]},
        )
    )
    assert found.stays["stay_id"].to_list() == ["00000123", "98000002"]
    stay = found.stays.row(0, named=True)
    assert stay["subject_id"] == MRN
    assert (stay["los_minutes"], stay["acuity"], stay["disposition"]) == (240.0, 3, "Discharge")
    assert (stay["transport"], stay["sex"], stay["age"]) == ("Self", "F", 90)
    assert (stay["race_group"], stay["chief_complaint"]) == ("Hispanic", "ABDOMINAL PAIN")
    other = found.stays.row(1, named=True)
    assert other["race_group"] == "Not recorded"
    assert [other[c] for c in ("sex", "acuity", "age", "split", "period")] == [None] * 5


def test_same_second_events_stand_by_activity_then_by_file_row(tmp_path: Path) -> None:
    tables = busy()
    tables["orders"] = [
        order(CSN, "Nursing", "second", "10:10"),
        order(CSN, "Consult", "first", "10:10"),
        order(CSN, "Medications", "given at once", "10:10", given="10:10"),
    ]
    tables["numerics"] = [chart(CSN, "HR", "80", "10:10")]
    found = extract(write(tmp_path, **tables))
    together = [row[1:] for row in rows(found, "minutes", "activity", "detail") if row[0] == 70.0]
    assert together == [
        ("Vital signs charted", None),
        ("Order", "second"),
        ("Order", "first"),
        ("Order", "given at once"),
        ("Medication given", "given at once"),
        ("Lab result", CBC),
        ("Lab result", CBC),
    ]


def test_one_minute_of_charting_is_one_event_and_monitors_make_none(tmp_path: Path) -> None:
    tables = busy() | {
        "numerics": [
            chart(CSN, "SpO2", "97", "09:30:40"),
            chart(CSN, "HR", "80", "09:30:10"),
            chart(CSN, "Temp", "100.4", "09:31:00"),
            chart(CSN, "Temp", "100.6", "09:40:00"),
            chart(CSN, "HR", "9999", "09:50:00"),
            chart(CSN, "Pain", "10", "09:55:00"),
            chart(CSN, "HR", "180", "10:00:00", source="Monitor"),
        ]
    }
    found = extract(write(tmp_path, **tables))
    vitals = [
        r[1:] for r in rows(found, "activity", "minutes", "flag") if str(r[0]).startswith("Vital")
    ]
    assert vitals == [
        (1810 / 60, "normal"),  # the first row of the minute, wherever it stands in the file
        (31.0, "normal"),  # 38.0 C
        (40.0, "abnormal"),
        (50.0, "normal"),  # impossible is not recorded
        (55.0, "normal"),
    ]


def test_triage_vital_signs_are_celsius(tmp_path: Path) -> None:
    warm = busy(Triage_Temp="38.4", Triage_HR="80")
    assert ("Triage", "abnormal") in rows(
        extract(write(tmp_path / "a", **warm)), "activity", "flag"
    )
    fine = busy(Triage_Temp="36.7", Triage_HR="80")
    assert ("Triage", "normal") in rows(extract(write(tmp_path / "b", **fine)), "activity", "flag")


def test_a_component_without_a_flag_is_judged_by_its_own_range(tmp_path: Path) -> None:
    limits = {"Component_abnormal": "", "Component_nml_low": "3.5", "Component_nml_high": "5.1"}
    results = [
        lab(CSN, "METB", "POTASSIUM", "10:10", Component_value=value, **limits)
        for value in ("4.0", "5.2", "3.4", "hemolyzed", "", "nan")
    ]
    results.append(lab(CSN, "METB", "POTASSIUM", "10:10", Component_abnormal="High Panic"))
    found = extract(write(tmp_path, **busy() | {"labs": results}))
    flags = [flag for activity, flag in rows(found, "activity", "flag") if activity == "Lab result"]
    assert flags == ["normal", "abnormal", "abnormal", "normal", "normal", "normal", "abnormal"]


def test_panels_instead_of_components_are_abnormal_if_any_component_is(tmp_path: Path) -> None:
    tables = busy()
    tables["labs"] += [lab(CSN, "METB", "SODIUM", "10:10"), lab(CSN, CBC, "HGB", "11:00")]
    found = extract(write(tmp_path, **tables), labs="panel")
    results = [
        r[1:] for r in rows(found, "activity", "minutes", "detail", "flag") if r[0] == "Lab result"
    ]
    assert results == [(70.0, CBC, "abnormal"), (70.0, "METB", "normal"), (120.0, CBC, "normal")]
    assert found.cap is None


@pytest.mark.parametrize(
    ("order_type", "kind"),
    [
        ("Lab", "laboratory"),
        ("MEDICATIONS", "medication"),
        ("Medication - Continuous", "medication"),
        ("Imaging-Vasc", "imaging"),
        ("ECG", "cardiac"),
        ("PT Evaluation", "consult"),
        ("IV", "medication"),
        ("Point of Care Testing", "laboratory"),
        ("Admission", "admission"),
        ("Pt", "consult"),
        ("Optometry", "other"),
        ("", "other"),
    ],
)
def test_an_order_type_is_sorted_by_how_it_begins(order_type: str, kind: str) -> None:
    assert order_kind(order_type) == kind


def test_unknown_order_types_are_named_only_where_ten_patients_have_them(tmp_path: Path) -> None:
    visits = [visit(f"9810000{i}", f"9910000{i}") for i in range(10)]
    orders = [order(v["CSN"], "Sleep Center", "x", "10:00") for v in visits]
    orders += [order(visits[0]["CSN"], "Very Rare Service", "x", "10:00")]
    found = extract(write(tmp_path, visits=visits, orders=orders))
    notice = found.notices[0]
    assert "Sleep Center" in notice
    assert "Very Rare Service" not in notice
    assert "1 of fewer than 10 patients" in notice
    assert {r[1] for r in rows(found, "activity", "flag") if r[0] == "Order"} == {"other"}


def test_each_rule_of_eligibility_takes_its_visits_and_says_how_many(tmp_path: Path) -> None:
    good = [busy(f"9820000{i}", f"9920000{i}") for i in range(7)]
    bad = {
        "98000011": {"Departure_time": ""},
        "98000012": {"Departure_time": at("08:00")},
        "98000013": {"Departure_time": "2261-07-04T09:00:00Z"},
        "98000014": {"Dispo_time": at("08:59")},
        "98000015": {"ED_dispo": ""},
        "98000016": {"Roomed_time": "", "Dispo_time": ""},
    }
    tables = {name: [row for g in good for row in g[name]] for name in good[0]}
    tables["visits"] += [visit(csn, MRN, **change) for csn, change in bad.items()]
    tables["orders"] += [order("98000014", "Lab", "x", "10:00")]
    found = extract(write(tmp_path, **tables))
    assert [step.n_stays for step in found.steps] == [13, 12, 11, 10, 9, 8, 8, 7]
    assert [step.n_subjects for step in found.steps] == [8] * 7 + [7]
    assert found.steps[-1].n_events == found.events.height == 7 * 13
    assert len({step.rule for step in found.steps}) == len(found.steps)


def test_events_before_arrival_and_after_departure_are_left_out_and_counted(tmp_path: Path) -> None:
    tables = busy()
    tables["rads"] += [
        rad(CSN, "late", "13:00:01"),
        rad(CSN, "last", "13:00"),
        rad(CSN, "early", "08:59:59"),
    ]
    found = extract(write(tmp_path, **tables))
    assert rows(found, "activity")[-1] == ("Departure",)
    assert ("Imaging result", "last") in rows(found, "activity", "detail")
    assert {"late", "early"}.isdisjoint(r[0] for r in rows(found, "detail"))
    window = next(i for i, s in enumerate(found.steps) if s.rule.startswith("events from arrival"))
    assert found.steps[window - 1].n_events - found.steps[window].n_events == 2


def test_rows_without_a_time_make_no_event_and_are_counted(tmp_path: Path) -> None:
    tables = busy()
    tables["labs"][0]["Result_time"] = ""
    found = extract(write(tmp_path, **tables))
    assert found.events.height == 12
    assert found.notices == (
        "1 of 2 rows of labs.csv have no Result_time and make no event of it.",
    )


def test_zipped_files_give_the_same(tmp_path: Path) -> None:
    plain = write(tmp_path / "plain", **busy())
    zipped = tmp_path / "zipped"
    zipped.mkdir()
    for path in plain.iterdir():
        (zipped / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
    assert extract(zipped).events.equals(extract(plain).events)


def test_marks_and_line_ends_of_other_systems_change_nothing(tmp_path: Path) -> None:
    folder = write(tmp_path, **busy())
    plain = extract(folder)
    for path in folder.iterdir():
        lines = path.read_bytes().replace(b"\r\n", b"\n")
        path.write_bytes(b"\xef\xbb\xbf" + lines.replace(b"\n", b"\r\n"))
    marked = extract(folder)
    assert marked.events.equals(plain.events)
    assert marked.stays.equals(plain.stays)


def test_a_visit_of_100_000_events_is_read(tmp_path: Path) -> None:
    tables = busy()
    tables["labs"] *= 50_000
    found = extract(write(tmp_path, **tables))
    assert found.events.height == 100_011


def test_own_limits_decide_what_is_abnormal(tmp_path: Path) -> None:
    packaged = Path(read.__code__.co_filename).parent.parent / "vital_limits.toml"
    own = tmp_path / "own.toml"
    own.write_text(packaged.read_text().replace("normal = [94, 100]", "normal = [90, 100]"))
    folder = write(tmp_path / "data", **busy())
    flags = [
        f for a, f in rows(extract(folder, limits=own), "activity", "flag") if "Vital" in str(a)
    ]
    assert flags == ["normal"]


# Split files


def split(folder: Path, kind: str = "random", **parts: list[str]) -> Path:
    for part, nobody in (("train", "90000001"), ("val", "90000002"), ("test", "90000003")):
        text = "".join(f"{csn}\n" for csn in parts.get(part, [nobody]))
        (folder / f"split_{kind}_{part}.csv").write_text(text)
    return folder


def three_visits(folder: Path) -> Path:
    ids = [("98000001", "99000001"), ("98000002", "99000002"), ("98000003", "99000003")]
    return write(folder, visits=[visit(csn, mrn) for csn, mrn in ids])


def test_their_split_is_taken_over_from_files_without_a_header(tmp_path: Path) -> None:
    folder = split(three_visits(tmp_path), train=["98000002"], val=["98000001"], test=["98000003"])
    found = extract(folder, splits="random")
    assert found.stays["split"].to_list() == ["val", "train", "test"]
    assert len(found.raw_files) == 8
    assert found.options["splits"] == "random"


def test_visits_that_only_one_side_knows_are_counted(tmp_path: Path) -> None:
    folder = split(
        three_visits(tmp_path), "chrono", train=["98000002", "97000000"], val=["98000001"]
    )
    found = extract(folder, splits="chrono")
    assert found.stays["split"].to_list() == ["val", "train", None]
    assert found.notices[:2] == (
        "2 visits of the files split_chrono_*.csv are not in visits.csv.",
        "1 of 3 visits are in none of the files split_chrono_*.csv.",
    )


def test_a_visit_in_two_parts_is_refused(tmp_path: Path) -> None:
    folder = split(three_visits(tmp_path), train=["98000002"], val=["98000002"])
    assert "1 visits are in more than one of the files" in refusal(folder, splits="random")


def test_a_patient_in_two_parts_is_refused(tmp_path: Path) -> None:
    write(tmp_path, visits=[visit("98000001"), visit("98000002")])
    folder = split(tmp_path, train=["98000001"], test=["98000002"])
    assert "1 of 1 patients have visits in more than one" in refusal(folder, splits="random")


def test_a_missing_split_file_is_named(tmp_path: Path) -> None:
    folder = split(three_visits(tmp_path), train=["98000002"])
    (folder / "split_random_val.csv").unlink()
    assert "neither split_random_val.csv nor" in refusal(folder, splits="random")


def test_a_split_file_of_two_columns_is_refused(tmp_path: Path) -> None:
    folder = split(three_visits(tmp_path))
    (folder / "split_random_val.csv").write_text("98000001,99000001\n")
    assert "has 2 columns" in refusal(folder, splits="random")


# Files that cannot be used


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    folder = write(tmp_path, **busy())
    (folder / "rads.csv").unlink()
    assert "neither rads.csv nor rads.csv.gz" in refusal(folder)


def test_a_missing_column_is_named(tmp_path: Path) -> None:
    folder = write(tmp_path, **busy())
    path = folder / "labs.csv"
    path.write_text(path.read_text().replace("Display_name", "Panel", 1))
    assert "labs.csv has no column Display_name" in refusal(folder)


def test_a_repeated_visit_is_refused(tmp_path: Path) -> None:
    message = refusal(write(tmp_path, visits=[visit(CSN), visit("98000002"), visit(CSN)]))
    assert "1 of 3 rows of visits.csv repeat a visit" in message
    assert "data row 3" in message


def test_a_visit_without_a_patient_is_refused(tmp_path: Path) -> None:
    message = refusal(write(tmp_path, visits=[visit(CSN), visit("98000002", "")]))
    assert "1 of 2 rows of visits.csv have no MRN, first in data row 2" in message


@pytest.mark.parametrize(
    ("table", "column", "row"),
    [
        ("visits", "Roomed_time", 1),
        ("orders", "First_admin_time", 2),
        ("labs", "Result_time", 2),
        ("rads", "Result_time", 1),
        ("numerics", "Time", 2),
    ],
)
@pytest.mark.parametrize(
    "text",
    [
        "not a time",
        "2261-02-30T10:00:00Z",
        "2261-05-04 10:00:00",
        "2261-05-04T10:00:60Z",
        "9999-05-04T10:00:00Z",
        "0001-05-04T10:00:00Z",
    ],
)
def test_a_time_that_is_none_is_refused(
    tmp_path: Path, table: str, column: str, row: int, text: str
) -> None:
    tables = busy()
    tables[table][row - 1][column] = text
    message = refusal(write(tmp_path, **tables))
    assert (
        f"rows of {table}.csv hold text in {column} that is no time, first in data row {row}"
        in message
    )


def test_files_read_in_many_pieces_give_the_same_and_rows_are_counted_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables = busy()
    tables["labs"] *= 200
    tables["numerics"] *= 200
    folder = write(tmp_path, **tables)
    whole = extract(folder)
    monkeypatch.setattr("edsim.sources.plain_bytes.CHUNK", 500)
    monkeypatch.setattr("edsim.sources.records._PIECE", 500)
    assert extract(folder).events.equals(whole.events)
    for table, column, row in (("labs", "Result_time", 333), ("numerics", "Time", 401)):
        broken = {name: [dict(line) for line in lines] for name, lines in tables.items()}
        broken[table][row - 1][column] = "not a time"
        assert f"first in data row {row}." in refusal(write(tmp_path, **broken))


@pytest.mark.parametrize("table", ["orders", "labs", "rads", "numerics"])
def test_an_event_of_an_unknown_visit_is_refused_or_left_out(tmp_path: Path, table: str) -> None:
    tables = busy()
    stray = dict(tables[table][0]) | {"CSN": "98000002"}
    n = len([r for r in tables[table] if r.get("Source") != "Monitor"])
    tables[table].append(stray)
    folder = write(tmp_path, **tables)
    message = refusal(folder)
    assert f"1 of {n + 1} rows of {table}.csv belong to a visit that visits.csv does not" in message
    assert f"data row {len(tables[table])}" in message
    found = extract(folder, drop_unknown=True)
    assert found.events.height == 13
    assert len(found.notices) == 1


def test_swapped_arrival_and_departure_are_recognised(tmp_path: Path) -> None:
    swapped = {"Arrival_time": at("13:00"), "Departure_time": at("09:00")}
    message = refusal(write(tmp_path, visits=[visit(CSN, **swapped)]))
    assert "1 of 1 visits of visits.csv do not depart after they arrive" in message


def test_visits_without_rows_are_refused(tmp_path: Path) -> None:
    assert "visits.csv has a header and no rows" in refusal(write(tmp_path))


def test_empty_event_files_leave_visits_with_their_own_events(tmp_path: Path) -> None:
    found = extract(write(tmp_path, visits=[visit(CSN)]))
    assert [notice.split(": ")[0] for notice in found.notices if "a header" in notice] == [
        f"{name}.csv has a header and no rows" for name in ("orders", "labs", "rads", "numerics")
    ]
    assert any("numerics.csv has no row whose Source is Chart" in said for said in found.notices)
    assert [row[0] for row in rows(found, "activity")] == [
        "Arrival",
        "Triage",
        "Roomed",
        "Disposition decision",
        "Departure",
    ]


def test_an_age_that_cannot_be_counts_as_not_recorded_and_is_told(tmp_path: Path) -> None:
    ages = ("53", "-5", "131", "old", "90.7", "")
    visits = [visit(f"9800000{i}", f"9900000{i}", Age=age) for i, age in enumerate(ages)]
    found = extract(write(tmp_path, visits=visits))
    assert found.stays["age"].to_list() == [53, None, None, None, 90, None]
    assert any("3 of 6 visits have an Age that is not a number" in said for said in found.notices)
