"""The words of the harmonised MC-MED stream: what an event is called, and what stands first.

`ACTIVITIES` is also the tie rule: events of the same second stand in this order, and rows of one
activity in the order of their file. Every activity comes from one file only.
"""

from __future__ import annotations

import re

ARRIVAL = "Arrival"
TRIAGE = "Triage"
ROOMED = "Roomed"
VITALS = "Vital signs charted"
ORDER = "Order"
MEDICATION = "Medication given"
LAB = "Lab result"
IMAGING = "Imaging result"
DECISION = "Disposition decision"
DEPARTURE = "Departure"

ACTIVITIES = (
    ARRIVAL,
    TRIAGE,
    ROOMED,
    VITALS,
    ORDER,
    MEDICATION,
    LAB,
    IMAGING,
    DECISION,
    DEPARTURE,
)
"""In the order of the tie rule."""

NORMAL, ABNORMAL = "normal", "abnormal"

ORDER_KINDS = {
    "laboratory": r"lab|micro|patholog|poc\b|point of care|blood bank",
    "imaging": r"imag|radiol|ultrasound",
    "medication": r"medication|immuniz|pharmacy|iv\b",
    "cardiac": r"ecg|ekg|echo|cardi",
    "nursing": r"nurs|diet|nutrition|isolation|precaution|restraint|activity|vital",
    "consult": r"(e-|inpatient )?consult|(outpatient )?referral|[po]t\b|physical|occupational",
    "procedure": r"procedure|respiratory|pft|transfus|blood admin|neurolog",
    "admission": r"admi|adt\b|bed\b|transfer|discharge|code status",
}
"""The kinds of orders, and how the names of their order types begin. Only `Lab` and
`Medication...` are documented; the rest are usual in hospitals with this kind of record system."""

OTHER_ORDER = "other"
"""The kind of an order whose type begins otherwise; such types are reported."""


def order_kind(order_type: str | None) -> str:
    """The kind of an order, from how its type begins; capitals make no difference.

    >>> order_kind("Lab"), order_kind("MEDICATIONS"), order_kind(None)
    ('laboratory', 'medication', 'other')
    """
    words = (order_type or "").strip().lower()
    for kind, beginnings in ORDER_KINDS.items():
        if re.match(beginnings, words):
            return kind
    return OTHER_ORDER
