"""Who came: sex, age, race, complaint and the exact transport, acuity and disposition.

Drawn after the stay, each from a stream of its own purpose, keyed by the stay or by the subject.
Nothing here changes an event's token. Answers are places in the tuples of this module.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from edsim import seeds
from edsim.sources.synthetic.calendar import Numbers, anchor_years, chance

Codes = NDArray[np.int16]
"""A latent of the process, as `process.STAY` keeps it."""

SEXES = ("F", "M")
_FEMALE = 0.54

TRANSPORTS = ("WALK IN", "AMBULANCE", "HELICOPTER", "OTHER", "UNKNOWN")
_HELICOPTER = 868 / (155_752 + 868)
_UNKNOWN = 15_352 / (15_352 + 1_266)

DISPOSITIONS = (
    "HOME",
    "ADMITTED",
    "TRANSFER",
    "LEFT WITHOUT BEING SEEN",
    "ELOPED",
    "LEFT AGAINST MEDICAL ADVICE",
    "OTHER",
    "EXPIRED",
)
_EXPIRED = 377 / (4_297 + 377)

LEVELS = ("1", "2", "3", "4", "5")
ACUITIES = (*LEVELS, None)
_ACUITY_5 = 0.037

RACES = (
    ("WHITE", 53.0),
    ("WHITE - OTHER EUROPEAN", 2.2),
    ("WHITE - RUSSIAN", 1.5),
    ("WHITE - EASTERN EUROPEAN", 0.3),
    ("WHITE - BRAZILIAN", 0.3),
    ("PORTUGUESE", 0.4),
    ("BLACK/AFRICAN AMERICAN", 17.0),
    ("BLACK/CAPE VERDEAN", 2.6),
    ("BLACK/CARIBBEAN ISLAND", 1.0),
    ("BLACK/AFRICAN", 0.8),
    ("HISPANIC/LATINO - PUERTO RICAN", 2.7),
    ("HISPANIC/LATINO - DOMINICAN", 2.0),
    ("HISPANIC OR LATINO", 1.3),
    ("HISPANIC/LATINO - GUATEMALAN", 0.7),
    ("HISPANIC/LATINO - SALVADORAN", 0.5),
    ("HISPANIC/LATINO - COLUMBIAN", 0.4),
    ("HISPANIC/LATINO - MEXICAN", 0.3),
    ("HISPANIC/LATINO - HONDURAN", 0.3),
    ("HISPANIC/LATINO - CUBAN", 0.2),
    ("HISPANIC/LATINO - CENTRAL AMERICAN", 0.2),
    ("SOUTH AMERICAN", 0.3),
    ("ASIAN", 1.9),
    ("ASIAN - CHINESE", 1.7),
    ("ASIAN - SOUTH EAST ASIAN", 0.5),
    ("ASIAN - ASIAN INDIAN", 0.4),
    ("ASIAN - KOREAN", 0.2),
    ("OTHER", 3.6),
    ("MULTIPLE RACE/ETHNICITY", 0.2),
    ("AMERICAN INDIAN/ALASKA NATIVE", 0.3),
    ("NATIVE HAWAIIAN OR OTHER PACIFIC ISLANDER", 0.2),
    ("UNKNOWN", 1.6),
    ("UNABLE TO OBTAIN", 0.7),
    ("PATIENT DECLINED TO ANSWER", 0.7),
)
"""As recorded, with a made-up share in per cent."""

_AGES = (18, 24, 33, 45, 56, 66, 76, 84, 92)
_AGE_SHARES = (0.0, 0.10, 0.27, 0.43, 0.60, 0.76, 0.89, 0.96, 1.0)

COMPLAINTS = (
    *("Back pain", "Leg pain", "s/p Fall", "Headache", "L Shoulder pain", "R Ankle injury"),
    *("Fever", "Cough", "Dysuria", "Wound eval", "Chills", "Cellulitis"),
    *("Chest pain", "Palpitations", "Syncope", "Dyspnea on exertion", "Hypertension", "Dizziness"),
    *("Abd pain", "N/V", "Diarrhea", "n/v/d", "BRBPR", "Abdominal distention"),
    *("SI", "Psych eval", "ETOH", "Anxiety", "Altered mental status", "Hallucinations"),
    *("Dyspnea", "Asthma exacerbation", "Weakness", "Allergic reaction", "Abnormal labs", "Rash"),
)
"""Six of each pathway, in the order of `rates.PATHWAYS`."""
_A_PATHWAY = 6


def sexes(seed: int, subjects: Numbers) -> Numbers:
    """Place in `SEXES`."""
    return (chance("sex", seed, subjects) >= _FEMALE).astype(np.int64)


def races(seed: int, subjects: Numbers) -> Numbers:
    """Place in `RACES`."""
    shares = np.array([share for _, share in RACES])
    upper = np.cumsum(shares / shares.sum())[:-1]
    return np.searchsorted(upper, chance("race", seed, subjects), side="right")


def anchor_ages(seed: int, subjects: Numbers) -> Numbers:
    """Age in the anchor year; over 89 it is 91, as MIMIC-IV stores it."""
    ages = np.interp(chance("age", seed, subjects), _AGE_SHARES, _AGES).astype(np.int64)
    return np.where(ages > 89, 91, ages)


def ages(seed: int, subjects: Numbers, arrival_years: Numbers) -> Numbers:
    """Age at the visit, as it follows from the anchor."""
    return anchor_ages(seed, subjects) + arrival_years - anchor_years(seed, subjects)


def transports(seed: int, numbers: Numbers, drawn: Codes) -> Numbers:
    """Place in `TRANSPORTS` of the process's WALK, AMBU, OTHER."""
    u = chance("transport", seed, numbers)
    ambulance = np.where(u < _HELICOPTER, 2, 1)
    other = np.where(u < _UNKNOWN, 4, 3)
    return np.choose(drawn, [np.zeros_like(ambulance), ambulance, other])


def dispositions(seed: int, numbers: Numbers, drawn: Codes) -> Numbers:
    """Place in `DISPOSITIONS` of the process's seven."""
    expired = (drawn == 6) & (chance("expired", seed, numbers) < _EXPIRED)
    return np.asarray(np.add(drawn, expired, dtype=np.int64))


def acuities(seed: int, numbers: Numbers, drawn: Codes) -> Numbers:
    """Place in `ACUITIES` of the process's 1, 2, 3, 4-5, not recorded."""
    fifth = (drawn == 3) & (chance("acuity", seed, numbers) < _ACUITY_5)
    return np.asarray(np.add(drawn, fifth, dtype=np.int64) + (drawn == 4))


def complaints(seed: int, numbers: Numbers, pathways: Numbers) -> tuple[Numbers, Numbers]:
    """Places in `COMPLAINTS` of the first and the second complaint; the second may be -1."""
    base = np.full(len(numbers), seeds.key("synthetic complaint", seed), dtype=np.uint64)
    words = seeds.combine(base, numbers)
    u = [seeds.uniform(seeds.combine(words, np.full_like(numbers, i))) for i in range(3)]
    first = np.floor(_A_PATHWAY * u[0] ** 1.5).astype(np.int64)
    second = (first + 1 + np.floor((_A_PATHWAY - 1) * u[1]).astype(np.int64)) % _A_PATHWAY
    begin = pathways.astype(np.int64) * _A_PATHWAY
    return begin + first, np.where(u[2] < 0.35, begin + second, -1)
