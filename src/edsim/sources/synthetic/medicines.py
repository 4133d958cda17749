"""What the medicines are called: names of what was dispensed, classes of what is taken at home.

Dispensed names are common generic names of the class that was drawn. The formulary of home
medicines has no real medicine: each has a number and the description of a therapeutic class. The
`ed32` vocabulary gives back the drawn token from either.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from edsim import seeds
from edsim.sources.synthetic.calendar import Numbers
from edsim.sources.synthetic.rates import (
    DISPENSED,
    FORMULARY_CLASS,
    RECONCILED,
    SECOND_CLASS,
)

_DISPENSED_NAMES = {
    "OPIOID": (
        *("Morphine", "Morphine Sulfate", "HYDROmorphone (Dilaudid)", "Fentanyl Citrate"),
        *("OxyCODONE (Immediate Release)", "Oxycodone-Acetaminophen", "TraMADol"),
    ),
    "NONOP": (
        *("Acetaminophen", "Ketorolac", "Ibuprofen", "Acetaminophen IV", "Naproxen"),
        *("Lidocaine 1%", "Cyclobenzaprine"),
    ),
    "ANTIEM": ("Ondansetron", "Ondansetron ODT", "Metoclopramide", "Prochlorperazine"),
    "ABX": (
        *("CefTRIAXone", "Vancomycin", "Levofloxacin", "Piperacillin-Tazobactam", "Azithromycin"),
        *("MetRONIDAZOLE (Flagyl)", "Cephalexin", "CefePIME", "Ciprofloxacin IV", "Acyclovir"),
    ),
    "FLUID": (
        *("Sodium Chloride 0.9%", "Lactated Ringers", "Potassium Chloride", "Magnesium Sulfate"),
        *("Calcium Gluconate", "Dextrose 50%"),
    ),
    "CARD": (
        *("Aspirin", "Metoprolol Tartrate", "Nitroglycerin SL", "Furosemide", "Heparin"),
        *("Labetalol", "Diltiazem", "Lisinopril", "Amlodipine", "Atorvastatin"),
    ),
    "RESP": (
        *("Albuterol 0.083% Neb Soln", "Ipratropium Bromide Neb", "Albuterol Inhaler"),
        *("Benzonatate", "Ipratropium-Albuterol Neb"),
    ),
    "SEDOTH": (
        *("LORazepam", "Diazepam", "Haloperidol", "OLANZapine", "DiphenhydrAMINE", "Midazolam"),
        *("PredniSONE", "Famotidine", "Thiamine", "QUEtiapine Fumarate"),
    ),
}
"""The first of each class most often: the i-th with weight 1 / (i + 1)."""

_CLASS_DESCRIPTIONS = {
    "CARD": (
        *("Beta Blockers Cardiac Selective", "ACE Inhibitors", "Diuretic - Loop"),
        *("Calcium Channel Blockers - Dihydropyridines", "Diuretic - Thiazides and Related"),
        *("Angiotensin II Receptor Blockers (ARBs)", "Digitalis Glycosides"),
    ),
    "LIPTHR": (
        "Antihyperlipidemic - HMG CoA Reductase Inhibitors (statins)",
        *("Platelet Aggregation Inhibitors - Salicylates", "Anticoagulants - Coumarin"),
        "Direct Factor Xa Inhibitors",
    ),
    "ENDO": (
        *("Thyroid Hormones - Synthetic T4 (Thyroxine)", "Insulin Analogs - Long Acting"),
        *("Insulin Response Enhancers - Biguanides", "Glucocorticoids"),
        "Antihyperglycemic - Sulfonylurea Derivatives",
    ),
    "CNS": (
        "Antidepressant - Selective Serotonin Reuptake Inhibitors (SSRIs)",
        *("Anticonvulsant - GABA Analogs", "Antianxiety Agent - Benzodiazepines"),
        *("Bipolar Therapy Agents - Atypical Antipsychotics", "Hypnotics - Melatonin"),
    ),
    "PAIN": (
        *("Analgesic Opioid Agonists", "Analgesic or Antipyretic Non-Opioid"),
        "NSAID Analgesics (COX Non-Specific) - Propionic Acid Derivatives",
    ),
    "GI": (
        "Gastric Acid Secretion Reducing Agents - Proton Pump Inhibitors (PPIs)",
        *("Laxative - Stimulant", "Laxative - Surfactant"),
        "Antiemetic - Selective Serotonin 5-HT3 Antagonists",
    ),
    "RESPOTH": (
        "Asthma/COPD Therapy - Beta 2-Adrenergic Agents, Inhaled, Short Acting",
        *("Vitamins - D Derivatives", "Multivitamins", "Minerals and Electrolytes - Iron"),
        "Antihistamines - 2nd Generation",
    ),
}

N_HOME = len(FORMULARY_CLASS)
HOME_NAMES = tuple(f"formulary {number:03d}" for number in range(1, N_HOME + 1))
NAMES = tuple(name for c in DISPENSED for name in _DISPENSED_NAMES[c])
"""Every dispensed name, class after class."""
DESCRIPTIONS = tuple(text for c in RECONCILED for text in _CLASS_DESCRIPTIONS[c])
"""Every description of a therapeutic class, class after class."""

_DESCRIPTIONS_OF = [
    [DESCRIPTIONS.index(text) for text in _CLASS_DESCRIPTIONS[c]] for c in RECONCILED
]
_NAMES_OF = [(NAMES.index(_DISPENSED_NAMES[c][0]), len(_DISPENSED_NAMES[c])) for c in DISPENSED]


def home_descriptions(*, second: bool) -> Numbers:
    """Place in `DESCRIPTIONS` of each home medicine's class row; of its second one, or -1."""
    classes = SECOND_CLASS if second else FORMULARY_CLASS
    shift = 1 if second else 0
    return np.array(
        [
            _DESCRIPTIONS_OF[c][(medicine + shift) % len(_DESCRIPTIONS_OF[c])] if c >= 0 else -1
            for medicine, c in enumerate(classes)
        ],
        dtype=np.int64,
    )


def name_keys(seed: int, numbers: NDArray[np.integer]) -> seeds.U64Array:
    """The keys of the chance by which the dispensed medicines of stays get their names."""
    base = np.full(len(numbers), seeds.key("synthetic dispensed name", seed), dtype=np.uint64)
    return seeds.combine(base, numbers)


def dispensed_names(keys: seeds.U64Array, items: Numbers, classes: Numbers) -> Numbers:
    """Place in `NAMES` of each dispensed row; rows of one act (key, item) are of one medicine."""
    u = seeds.uniform(seeds.combine(keys, items))
    names = np.zeros(len(keys), dtype=np.int64)
    for code, (begin, n) in enumerate(_NAMES_OF):
        weights = 1.0 / np.arange(1, n + 1)
        rows = classes == code
        upper = np.cumsum(weights / weights.sum())[:-1]
        names[rows] = begin + np.searchsorted(upper, u[rows], side="right")
    return names


def second_rows(items: Numbers) -> np.ndarray:
    """Which reconciliation rows are the second class row of their medicine.

    `items` are the formulary numbers of the rows as drawn: a medicine that has a second row has it
    right after the first.
    """
    paired = np.flatnonzero(SECOND_CLASS[items] >= 0)
    second = np.zeros(len(items), dtype=np.bool_)
    second[paired[1::2]] = True
    return second
