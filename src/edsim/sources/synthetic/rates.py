"""Every number of the process: shares, means and the formulary, as `process` reads them.

Tables that `drift` moves have a leading axis of calendar periods; undrifted, the periods are equal.
Rows by acuity stand in the order 1, 2, 3, 4-5, not recorded.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

N_PERIODS = 4

RECONCILED = ("CARD", "LIPTHR", "ENDO", "CNS", "PAIN", "GI", "RESPOTH")
DISPENSED = ("OPIOID", "NONOP", "ANTIEM", "ABX", "FLUID", "CARD", "RESP", "SEDOTH")
DISPOSITIONS = ("HOME", "ADMIT", "TRANSFER", "LWBS", "ELOPED", "AMA", "OTHEXP")
PATHWAYS = ("pain", "infection", "cardiac", "GI", "psychiatric", "other")

ACUITY = (0.0565, 0.3280, 0.5295, 0.0696, 0.0164)
TRANSPORT = (
    (0.270, 0.700, 0.030),
    (0.470, 0.490, 0.040),
    (0.680, 0.285, 0.035),
    (0.880, 0.080, 0.040),
    (0.620, 0.220, 0.160),
)
DISPOSITION = (
    (0.2150, 0.7220, 0.0200, 0.0010, 0.0040, 0.0030, 0.0350),
    (0.4370, 0.5140, 0.0240, 0.0040, 0.0090, 0.0050, 0.0070),
    (0.6500, 0.3010, 0.0130, 0.0140, 0.0130, 0.0045, 0.0085),
    (0.8650, 0.0400, 0.0060, 0.0400, 0.0330, 0.0030, 0.0130),
    (0.6100, 0.1500, 0.0100, 0.1150, 0.0700, 0.0050, 0.0400),
)
PATHWAY = (
    (0.10, 0.22, 0.25, 0.12, 0.13, 0.18),
    (0.20, 0.18, 0.22, 0.18, 0.08, 0.14),
    (0.32, 0.15, 0.10, 0.25, 0.06, 0.12),
    (0.50, 0.14, 0.02, 0.10, 0.04, 0.20),
    (0.25, 0.15, 0.10, 0.15, 0.15, 0.20),
)
PROFILE = (0.42, 0.20, 0.12, 0.15, 0.11)
WORKUP = (5.157, 5.757, 5.426, 5.258, 5.966)
ICD_CODES = (0.3970, 0.7270, 0.8820, 0.9490, 0.9780, 0.9900, 0.9960, 0.9985, 1.0)

CHECK_INTERVAL = (4.639, 5.303, 5.663, 5.883, 5.633)
ABNORMAL = (0.620, 0.380, 0.240, 0.140, 0.260)

RECONCILES = (0.672, 0.796, 0.761, 0.548, 0.590)
BOOST = (
    (0.7, 0.5, 0.7, 1.1, 1.2, 1.0, 1.0),
    (2.4, 2.2, 0.8, 0.5, 0.5, 0.7, 0.6),
    (1.3, 1.4, 3.2, 0.5, 0.6, 0.6, 0.6),
    (0.4, 0.3, 0.5, 3.0, 2.0, 0.9, 0.6),
    (1.2, 1.0, 0.8, 0.8, 0.7, 1.3, 3.0),
)
SPREAD = 0.422

DISPENSES = (0.890, 0.857, 0.824, 0.627, 0.692)
DISPENSES_AGAIN = (0.817, 0.817, 0.761, 0.576, 0.714)
CLASS_GIVEN_PATHWAY = (
    (0.36, 0.36, 0.10, 0.02, 0.05, 0.02, 0.01, 0.08),
    (0.06, 0.16, 0.06, 0.42, 0.20, 0.03, 0.05, 0.02),
    (0.10, 0.16, 0.04, 0.02, 0.10, 0.46, 0.04, 0.08),
    (0.20, 0.08, 0.34, 0.06, 0.24, 0.02, 0.00, 0.06),
    (0.02, 0.12, 0.04, 0.02, 0.06, 0.06, 0.02, 0.66),
    (0.05, 0.12, 0.06, 0.14, 0.12, 0.09, 0.36, 0.06),
)

_CLASS_LETTERS = "CLENPGR"
"""CARD, LIPTHR, ENDO, CNS, PAIN, GI, RESPOTH: the order of RECONCILED."""
_FORMULARY = (
    "NGPLLGCGGELLLENNRGNRCCNCCNERNNELCCPCLCGCLGNGNPCNNGLNCELCGERN"
    "NNPCELECRCPLGNCGRRNCCRNCGNNEELCGENLPCECCRNENGLNPLNPRCRCPGCEG"
)
_SECOND_CLASS = (
    "3:G 5:P 15:E 19:E 21:N 22:R 23:R 24:R 35:N 41:E 49:G 67:E 77:R 80:R 84:N 85:L 87:L 96:G 98:P "
    "103:L 110:G 111:G 113:N"
)
_POPULARITY = """
0.96 0.87 0.47 0.73 0.13 0.29 1.12 0.12 1.73 0.17 1.59 0.38 1.63 0.91 0.20 2.48 2.95 0.76 0.63 0.70
0.34 2.17 0.50 0.77 0.40 0.46 0.26 2.50 0.70 1.93 0.82 0.43 0.60 0.49 0.81 0.58 0.62 0.23 0.39 3.58
0.44 0.31 1.09 2.86 0.22 0.67 0.46 0.17 1.56 0.79 0.86 0.41 1.22 0.50 0.71 0.30 0.27 2.69 0.51 1.05
0.78 0.54 0.51 1.42 0.62 0.70 0.82 2.33 1.49 1.14 0.49 0.23 1.90 1.93 0.71 1.31 1.63 1.71 1.85 0.54
3.16 0.26 1.75 1.26 1.77 4.38 3.07 0.29 0.18 1.68 0.32 0.80 1.72 0.18 0.12 1.02 0.84 0.65 0.84 0.37
0.21 0.69 0.34 0.18 1.27 0.76 1.16 0.33 0.45 0.33 0.36 0.96 0.40 1.11 1.10 4.99 0.23 1.79 0.74 0.80
"""

POPULARITY: Floats = np.array(_POPULARITY.split(), dtype=np.float64)
FORMULARY_CLASS = np.array([_CLASS_LETTERS.index(c) for c in _FORMULARY], dtype=np.int64)
"""Class of each home medicine, in name order."""
SECOND_CLASS = np.full(len(_FORMULARY), -1, dtype=np.int64)
"""Class of the row that follows at once, -1 where none does. Its list counts medicines from 1."""
for _entry in _SECOND_CLASS.split():
    _number, _letter = _entry.split(":")
    SECOND_CLASS[int(_number) - 1] = _CLASS_LETTERS.index(_letter)


class Rates(NamedTuple):
    """What the compiled process is given; "cumulative" tables are read with one uniform."""

    acuity: Floats  # cumulative, [acuity]
    transport: Floats  # cumulative, [acuity, transport]
    disposition: Floats  # cumulative, [period, acuity, disposition]
    pathway: Floats  # cumulative, [acuity, pathway]
    profile: Floats  # cumulative, [profile]
    workup: Floats  # mean of log minutes, [period, acuity]
    icd_codes: Floats  # cumulative, [codes - 1]
    check_interval: Floats  # mean of log minutes, [period, acuity]
    abnormal: Floats  # [acuity]
    reconciles: Floats  # [acuity]
    home_rate: Floats  # popularity x boost, [profile, medicine]
    medicine_class: NDArray[np.int64]  # [medicine]
    second_class: NDArray[np.int64]  # [medicine]
    spread: Floats  # [period]
    dispenses: Floats  # [acuity]
    dispenses_again: Floats  # [acuity]
    dispensed_class: Floats  # cumulative, [period, pathway, class]


def rates() -> Rates:
    """The undrifted numbers: every period alike."""
    return Rates(
        acuity=np.cumsum(ACUITY),
        transport=np.cumsum(TRANSPORT, axis=-1),
        disposition=by_period(np.cumsum(DISPOSITION, axis=-1)),
        pathway=np.cumsum(PATHWAY, axis=-1),
        profile=np.cumsum(PROFILE),
        workup=by_period(WORKUP),
        icd_codes=np.array(ICD_CODES),
        check_interval=by_period(CHECK_INTERVAL),
        abnormal=np.array(ABNORMAL),
        reconciles=np.array(RECONCILES),
        home_rate=np.ascontiguousarray(POPULARITY * np.array(BOOST)[:, FORMULARY_CLASS]),
        medicine_class=FORMULARY_CLASS,
        second_class=SECOND_CLASS,
        spread=by_period(SPREAD),
        dispenses=np.array(DISPENSES),
        dispenses_again=np.array(DISPENSES_AGAIN),
        dispensed_class=by_period(np.cumsum(CLASS_GIVEN_PATHWAY, axis=-1)),
    )


def by_period(table: object) -> Floats:
    """The same table for each calendar period, [period, ...]."""
    array = np.asarray(table, dtype=np.float64)
    return np.ascontiguousarray(np.broadcast_to(array, (N_PERIODS, *array.shape)))
