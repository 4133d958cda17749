"""Codes of the discharge rows, and of the medicines: text with leading zeros where they have them.

The codes name common reasons for a visit and say nothing about the visit they stand on.
"""

from __future__ import annotations

import numpy as np

from edsim.sources.synthetic.calendar import Numbers, chance

CODES = (
    ("7869", "9", "Other symptoms involving respiratory system and chest"),
    ("78650", "9", "CHEST PAIN NOS"),
    ("78900", "9", "ABDOMINAL PAIN UNSPEC SITE"),
    ("4019", "9", "HYPERTENSION NOS"),
    ("25000", "9", "DIABETES UNCOMPL ADULT"),
    ("07070", "9", "HPT C W/O HEPAT COMA NOS"),
    ("0389", "9", "SEPTICEMIA NOS"),
    ("7842", "9", "SWELLING IN HEAD & NECK"),
    ("7295", "9", "PAIN IN LIMB"),
    ("E8889", "9", "FALL NOS"),
    ("V5869", "9", "LONG-TERM USE MEDS NEC"),
    ("R079", "10", "Chest pain, unspecified"),
    ("R109", "10", "Unspecified abdominal pain"),
    ("I10", "10", "Essential (primary) hypertension"),
    ("E119", "10", "Type 2 diabetes mellitus without complications"),
    ("N390", "10", "Urinary tract infection, site not specified"),
    ("R509", "10", "Fever, unspecified"),
    ("R55", "10", "Syncope and collapse"),
    ("M545", "10", "Low back pain"),
    ("R0602", "10", "Shortness of breath"),
    ("W19XXXA", "10", "Unspecified fall, initial encounter"),
    ("Z87891", "10", "Personal history of nicotine dependence"),
)
"""Code, version, title: eleven of each version, a prime number, so that steps never repeat one."""
_A_VERSION = 11
_UNCODED = 1_098 / 425_028 / 0.4
"""Share of the stays with a single discharge row that have no code at all."""


def code_places(
    seed: int, numbers: Numbers, sequence: Numbers, later: np.ndarray, single: np.ndarray
) -> Numbers:
    """Place in CODES of each discharge row, -1 for the row of a stay without any code.

    `numbers` is the stay number of each row, `sequence` its place from 1, `later` whether the
    stay's period codes by ICD-10, `single` whether the row is the only one.
    """
    start = np.floor(_A_VERSION * chance("code", seed, numbers)).astype(np.int64)
    step = 1 + np.floor((_A_VERSION - 1) * chance("code step", seed, numbers)).astype(np.int64)
    place = (start + step * (sequence - 1)) % _A_VERSION + _A_VERSION * later
    uncoded = single & (chance("uncoded", seed, numbers) < _UNCODED)
    return np.where(uncoded, -1, place)
