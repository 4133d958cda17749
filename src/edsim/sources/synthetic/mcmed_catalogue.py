"""What can be ordered in the second synthetic department, and every number of its process.

Nothing here is calibrated or clinical fact: names and shares only give the MC-MED layout a
plausible shape. One list of orderables, mcmed_catalogue.csv, serves orders, results, medicines and
studies alike.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

LAB, IMAGING, MEDICINE, PLAIN = range(4)
"""What follows an order: a laboratory result, an imaging result, an administration, nothing."""

MINOR, STANDARD, EXTENSIVE = range(3)
"""How much is done for a patient."""

FIRST, AGAIN, BOARDING = range(3)
"""When a set of orders is placed: at first sight, on going back, while waiting for a bed."""

DISPOSITIONS = ("Discharge", "Observation", "Inpatient", "ICU")
TRANSPORTS = ("Self", "EMS")
LEVELS = ("1", "2", "3", "4", "5", None)
ACUITIES = ("1-Resuscitation", "2-Emergent", "3-Urgent", "4-Semi-Urgent", "5-Non-Urgent", None)


@dataclass(frozen=True, slots=True)
class Orderable:
    """One line of the catalogue."""

    follows: int
    order_type: str
    name: str
    result: str
    """How the result is called."""
    shares: tuple[float, float, float]
    """Chance of being in the first set of orders, by amount of care."""
    again: float
    """What the chance is multiplied by in a later set."""
    boarding: float
    """What is added to the chance while waiting for a bed."""
    minutes: float
    """Median from the order to its result or administration."""
    abnormal: float
    """Share of abnormal components."""
    components: tuple[str, ...]


def _orderable(line: dict[str, str]) -> Orderable:
    parts = [part.strip() for part in line["components"].split(";") if part.strip()]
    return Orderable(
        follows=("laboratory", "imaging", "medicine", "nothing").index(line["follows"]),
        order_type=line["order_type"],
        name=line["name"],
        result=line["result"],
        shares=(float(line["minor"]), float(line["standard"]), float(line["extensive"])),
        again=float(line["again"] or 1),
        boarding=float(line["boarding"] or 0),
        minutes=float(line["minutes"] or 0),
        abnormal=float(line["abnormal"] or 0),
        components=tuple(parts),
    )


with (Path(__file__).parent / "mcmed_catalogue.csv").open(encoding="utf-8", newline="") as _lines:
    CATALOGUE = tuple(_orderable(line) for line in csv.DictReader(_lines))
"""Everything that can be ordered; a row's `item` is a place in it."""


class Rates(NamedTuple):
    """What the compiled process is given; "cumulative" tables are read with one uniform."""

    acuity: Floats  # cumulative, [acuity]
    transport: Floats  # cumulative, [acuity, transport]
    care: Floats  # cumulative, [acuity, amount of care]
    disposition: Floats  # cumulative, [amount of care, disposition]
    orders: Floats  # chance of being in a set, [occasion, amount of care, orderable]
    follows: NDArray[np.int64]  # [orderable]
    minutes: Floats  # median to the result, [orderable]
    n_components: NDArray[np.int64]  # [orderable]
    abnormal: Floats  # [orderable]
    workup: Floats  # mean of log minutes to the decision, [amount of care]
    interval: Floats  # median minutes between charted vital signs, [acuity]
    sick: Floats  # chance of abnormal vital signs, [acuity]


def rates() -> Rates:
    """The numbers of the process."""
    first = np.array([o.shares for o in CATALOGUE]).T
    again = 0.40 * first * np.array([o.again for o in CATALOGUE])
    boarding = 0.45 * first + np.array([o.boarding for o in CATALOGUE])
    occasions = np.stack([first, np.minimum(again, 0.9), np.minimum(boarding, 0.9)])
    return Rates(
        acuity=np.cumsum([0.012, 0.235, 0.545, 0.180, 0.020, 0.008]),
        transport=np.cumsum(
            [[0.15, 0.85], [0.62, 0.38], [0.80, 0.20], [0.93, 0.07], [0.95, 0.05], [0.7, 0.3]],
            axis=1,
        ),
        care=np.cumsum(
            [
                [0.04, 0.16, 0.80],
                [0.14, 0.28, 0.58],
                [0.37, 0.32, 0.31],
                [0.90, 0.08, 0.02],
                [0.93, 0.07, 0.00],
                [0.40, 0.40, 0.20],
            ],
            axis=1,
        ),
        disposition=np.cumsum(
            [[0.97, 0.02, 0.01, 0.00], [0.80, 0.09, 0.10, 0.01], [0.38, 0.11, 0.44, 0.07]], axis=1
        ),
        orders=np.ascontiguousarray(occasions),
        follows=np.array([o.follows for o in CATALOGUE], dtype=np.int64),
        minutes=np.array([o.minutes for o in CATALOGUE], dtype=np.float64),
        n_components=np.array([max(1, len(o.components)) for o in CATALOGUE], dtype=np.int64),
        abnormal=np.array([o.abnormal for o in CATALOGUE], dtype=np.float64),
        workup=np.array([4.75, 5.35, 5.55]),
        interval=np.array([18.0, 50.0, 80.0, 120.0, 150.0, 80.0]),
        sick=np.array([0.65, 0.38, 0.22, 0.12, 0.08, 0.25]),
    )
