"""A made-up MIMIC-IV-ED folder of a few stays, and MIMICEL built from it row by row.

`released` is the slow and obvious version of what the source does with whole columns.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from pathlib import Path

Row = dict[str, str]

HEADERS = {
    "edstays": "subject_id hadm_id stay_id intime outtime gender race arrival_transport disposition",
    "triage": "subject_id stay_id temperature heartrate resprate o2sat sbp dbp pain acuity chiefcomplaint",
    "vitalsign": "subject_id stay_id charttime temperature heartrate resprate o2sat sbp dbp rhythm pain",
    "medrecon": "subject_id stay_id charttime name gsn ndc etc_rn etccode etcdescription",
    "pyxis": "subject_id stay_id charttime med_rn name gsn_rn gsn",
    "diagnosis": "subject_id stay_id seq_num icd_code icd_version icd_title",
    "mimicel": "stay_id subject_id hadm_id timestamps activity gender race arrival_transport disposition seq_num icd_code icd_version icd_title temperature heartrate resprate o2sat sbp dbp pain acuity chiefcomplaint rhythm name gsn ndc etc_rn etccode etcdescription med_rn gsn_rn",
    "patients": "subject_id gender anchor_age anchor_year anchor_year_group dod",
}
ENTER, TRIAGE, VITAL = "Enter the ED", "Triage in the ED", "Vital sign check"
RECONCILIATION, DISPENSATION = "Medicine reconciliation", "Medicine dispensations"
DISCHARGE = "Discharge from the ED"


def at(clock: str) -> str:
    """`09:30` or `09:30:15` of the day all made-up stays begin on."""
    return f"2150-03-04 {clock if clock.count(':') == 2 else clock + ':00'}"


def stay(stay_id: str = "300", subject_id: str = "100", **other: str) -> Row:
    """A stay from 09:00 to 13:00."""
    return {
        "stay_id": stay_id,
        "subject_id": subject_id,
        "intime": at("09:00"),
        "outtime": at("13:00"),
        "gender": "F",
        "race": "WHITE",
        "arrival_transport": "WALK IN",
        "disposition": "HOME",
    } | other


def triage(stay_id: str = "300", **other: str) -> Row:
    return {"stay_id": stay_id, "acuity": "3", "chiefcomplaint": "Abd pain"} | other


def check(stay_id: str, clock: str, **vitals: str) -> Row:
    return {"stay_id": stay_id, "charttime": at(clock)} | vitals


def home_medicine(stay_id: str, clock: str, name: str, **other: str) -> Row:
    return {"stay_id": stay_id, "charttime": at(clock), "name": name} | other


def dispensed(stay_id: str, clock: str, name: str) -> Row:
    return {"stay_id": stay_id, "charttime": at(clock), "name": name, "med_rn": "1"}


def code(stay_id: str, seq_num: int) -> Row:
    return {"stay_id": stay_id, "seq_num": f"{seq_num}", "icd_code": "0123"}


def busy() -> dict[str, list[Row]]:
    """Three stays of two subjects, with everything the rules speak of."""
    return {
        "edstays": [
            stay("300"),
            stay(
                "99", arrival_transport="AMBULANCE", disposition="ADMITTED", race="ASIAN - CHINESE"
            ),
            stay("00099", "200", gender="M", race="UNKNOWN", outtime=at("10:30:17")),
        ],
        "triage": [
            triage("00099", acuity=""),
            triage("300", chiefcomplaint='"Chest pain", ___\nn/v'),
            triage("99", acuity="1.0"),
        ],
        "vitalsign": [
            check("300", "13:00", heartrate="70"),
            check("300", "09:00", heartrate="70", temperature="98.6"),
            check("300", "08:55", heartrate="130"),
            check("99", "12:59:59"),
        ],
        "medrecon": [
            home_medicine("300", "09:40", "zinc", etcdescription="Minerals"),
            home_medicine("300", "09:40", "aspirin", etcdescription="Salicylates"),
            home_medicine("300", "09:40", "aspirin", etcdescription=""),
            home_medicine("99", "14:00", "aspirin"),
        ],
        "pyxis": [
            dispensed("300", "09:40", " Morphine "),
            dispensed("300", "09:40", "Morphine"),
            dispensed("00099", "10:30:16", "NA"),
        ],
        "diagnosis": [code("300", 2), code("300", 1), code("99", 1)],
    }


def write(path: Path, rows: Iterable[Mapping[str, str]], **how: str) -> Path:
    """A csv file of the table that `path` is named after."""
    header = HEADERS[path.name.partition(".")[0]].split()
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, header, restval="", **how)  # type: ignore[arg-type]
        writer.writeheader()
        writer.writerows(rows)
    return path


def write_tables(folder: Path, tables: Mapping[str, Iterable[Mapping[str, str]]]) -> Path:
    """The six tables; a row that names no subject is of the one that its stay is of."""
    folder.mkdir(exist_ok=True)
    subjects = {row["stay_id"]: row["subject_id"] for row in tables["edstays"]}
    for name, rows in tables.items():
        whole = ({"subject_id": subjects.get(row["stay_id"], "100")} | dict(row) for row in rows)
        write(folder / f"{name}.csv", whole)
    return folder


def released(tables: Mapping[str, list[Row]]) -> list[Row]:
    """The rows of mimicel.csv: the rules of the release, one stay and one row at a time."""
    rows = []
    for one in tables["edstays"]:
        if one["intime"] < one["outtime"]:
            rows += sorted(_rows_of_stay(one, tables), key=lambda row: row["timestamps"])
    return rows


def _rows_of_stay(one: Row, tables: Mapping[str, list[Row]]) -> list[Row]:
    def of(table: str) -> list[Row]:
        return [row for row in tables[table] if row["stay_id"] == one["stay_id"]]

    triage_time = datetime.fromisoformat(one["intime"]) + timedelta(seconds=1)
    placed = [(DISCHARGE, one["outtime"], row) for row in of("diagnosis") or [{}]]
    for activity, table in (
        (DISPENSATION, "pyxis"),
        (RECONCILIATION, "medrecon"),
        (VITAL, "vitalsign"),
    ):
        placed += [
            (activity, row["charttime"], row)
            for row in of(table)
            if row["charttime"] < one["outtime"]
        ]
    placed += [(TRIAGE, triage_time.isoformat(" "), row) for row in of("triage")]
    placed += [(ENTER, one["intime"], one)]
    kept = set(HEADERS["mimicel"].split())
    rows = [
        {k: v for k, v in row.items() if k in kept}
        | {"stay_id": one["stay_id"], "subject_id": one["subject_id"]}
        | {"timestamps": time, "activity": activity}
        for activity, time, row in placed
    ]
    for row in rows:
        if row["activity"] == DISCHARGE:
            row["disposition"] = one["disposition"]
        if row["activity"] == ENTER:
            del row["disposition"]
    return rows
