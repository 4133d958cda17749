"""A made-up MC-MED folder of a few visits, whole or broken in one chosen way."""

from __future__ import annotations

import csv
from pathlib import Path

HEADERS = {
    "visits": "MRN CSN Visit_no Visits Age Gender Race Ethnicity Means_of_arrival Triage_Temp Triage_HR Triage_RR Triage_SpO2 Triage_SBP Triage_DBP Triage_acuity CC ED_dispo Hours_to_next_visit Dispo_class_next_visit ED_LOS Hosp_LOS DC_dispo Payor_class Admit_service Dx_ICD9 Dx_ICD10 Dx_name Arrival_time Roomed_time Dispo_time Admit_time Departure_time",
    "orders": "CSN Order_time Order_type Procedure_name Procedure_ID First_admin_time Result_time",
    "labs": "CSN Order_time Result_time Display_name Abnormal Component_name Component_result Component_value Component_units Component_abnormal Component_nml_low Component_nml_high",
    "rads": "CSN Order_time Result_time Study Impression",
    "numerics": "CSN Source Measure Value Time",
}


def at(clock: str) -> str:
    """`09:30` or `09:30:15` of the day all made-up visits take place on."""
    return f"2261-05-04T{clock if clock.count(':') == 2 else clock + ':00'}Z"


def visit(csn: str, mrn: str = "99000001", **other: str) -> dict[str, str]:
    """A visit from 09:00 to 13:00, roomed at 09:20, decided at 12:30."""
    return {
        "CSN": csn,
        "MRN": mrn,
        "Age": "53",
        "Gender": "F",
        "Race": "White",
        "Ethnicity": "Non-Hispanic/Non-Latino",
        "Means_of_arrival": "Self",
        "Triage_acuity": "3-Urgent",
        "CC": "ABDOMINAL PAIN",
        "ED_dispo": "Discharge",
        "Arrival_time": at("09:00"),
        "Roomed_time": at("09:20"),
        "Dispo_time": at("12:30"),
        "Departure_time": at("13:00"),
    } | other


def order(csn: str, kind: str, name: str, time: str, given: str = "") -> dict[str, str]:
    return {"CSN": csn, "Order_type": kind, "Procedure_name": name, "Order_time": at(time)} | (
        {"First_admin_time": at(given)} if given else {}
    )


def lab(csn: str, panel: str, component: str, time: str, **other: str) -> dict[str, str]:
    return {
        "CSN": csn,
        "Display_name": panel,
        "Component_name": component,
        "Result_time": at(time),
        "Component_abnormal": "Normal",
    } | other


def rad(csn: str, study: str, time: str) -> dict[str, str]:
    return {
        "CSN": csn,
        "Study": study,
        "Result_time": at(time),
        "Impression": "1. Nothing.\n2. No.",
    }


def chart(csn: str, measure: str, value: str, time: str, source: str = "Chart") -> dict[str, str]:
    return {"CSN": csn, "Source": source, "Measure": measure, "Value": value, "Time": at(time)}


def write(folder: Path, **tables: list[dict[str, str]]) -> Path:
    """Write all five tables, empty ones where nothing is given."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, header in HEADERS.items():
        with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as stream:
            writer = csv.DictWriter(stream, header.split(" "))
            writer.writeheader()
            writer.writerows(tables.get(name, []))
    return folder


def busy(
    csn: str = "98000001", mrn: str = "99000001", **other: str
) -> dict[str, list[dict[str, str]]]:
    """All tables of one visit in which a little of everything happens."""
    return {
        "visits": [visit(csn, mrn, **other)],
        "orders": [
            order(csn, "Lab", "CBC WITH DIFFERENTIAL", "09:30"),
            order(csn, "Medications", "ondansetron (ZOFRAN) injection 4 mg", "09:30", given="09:45"),
            order(csn, "Imaging", "CT ABDOMEN PELVIS W IV CONTRAST", "10:00"),
        ],
        "labs": [
            lab(csn, "CBC with Differential (CBCD)", "WHITE BLOOD CELLS (WBC)", "10:10"),
            lab(csn, "CBC with Differential (CBCD)", "HEMOGLOBIN (HGB),\nWHOLE", "10:10", Component_abnormal="Low"),
        ],
        "rads": [rad(csn, "CT ABDOMEN PELVIS W IV CONTRAST", "11:40")],
        "numerics": [
            chart(csn, "HR", "80", "09:25:10"),
            chart(csn, "SpO2", "91", "09:25:40"),
            chart(csn, "HR", "81", "09:26:00", source="Monitor"),
        ],
    }  # fmt: skip
