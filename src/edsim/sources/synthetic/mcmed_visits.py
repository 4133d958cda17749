"""Who came to the second department: its visits, what they take at home, and how they are split.

Every answer is a function of the seed and the number of the stay or of the subject's first stay,
except what counts visits (`VisitNumbers`) or divides them by date, which depends on how many there
are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from edsim import seeds
from edsim.sources.synthetic import SyntheticOptions, calendar, people, vitals
from edsim.sources.synthetic.draws import Drawn, Numbers
from edsim.sources.synthetic.mcmed_catalogue import ACUITIES, DISPOSITIONS, TRANSPORTS
from edsim.sources.synthetic.mcmed_reading import patient_ids, visit_ids
from edsim.sources.synthetic.reading import places

if TYPE_CHECKING:
    import polars as pl

_RACES = (
    *("White", "Other", "Asian", "Black or African American", "Declines to State"),
    *("Native Hawaiian or Other Pacific Islander", "American Indian or Alaska Native", None),
)
_RACE_UPPER = (0.40, 0.74, 0.90, 0.965, 0.975, 0.985, 0.988)
_ETHNICITIES = ("Non-Hispanic/Non-Latino", "Hispanic/Latino", "Declines to State", None)
_ETHNICITY_UPPER = (0.73, 0.96, 0.99)
_PAYORS = ("Medicare", "Medicaid", None)
_SERVICES = ("Emergency Medicine", "General Medicine", "Surgery", "Cardiology", "Neurology")
_DIAGNOSES = (
    ("786.50", "R07.9", "Chest pain, unspecified type"),
    ("789.00", "R10.9", "Abdominal pain, unspecified abdominal location"),
    ("780.60", "R50.9", "Fever, unspecified fever cause"),
    (None, "S61.419A", "Laceration of hand, initial encounter"),
    (None, None, None),
)
_HOME = (
    ("14113", "69618-066-10", "ASPIRIN 81 MG PO TBEC", "aspirin 81 mg tablet,delayed release"),
    ("20822", "00093-7365-56", "LISINOPRIL 10 MG PO TABS", "lisinopril 10 mg tablet"),
    ("31005", None, "ERGOCALCIFEROL, 50000 UNITS, PO CAPS", "ergocalciferol 1,250 mcg capsule"),
)
_HISTORY = (
    ("I10", "Essential (primary) hypertension", "98.0", "Essential hypertension"),
    ("E11.9", "Type 2 diabetes mellitus without complications", "49.0", "Diabetes mellitus"),
)
_TRIAGE = ("Triage_Temp", "Triage_HR", "Triage_RR", "Triage_SpO2", "Triage_SBP", "Triage_DBP")
_MISSING = (0.04, 0.0, 0.03, 0.02, 0.03, 0.03)


@dataclass(frozen=True, slots=True)
class VisitNumbers:
    """For every stay, which visit of its patient it is, and how many the patient has."""

    visit: Numbers
    of: Numbers

    @classmethod
    def count(cls, subjects: Numbers) -> VisitNumbers:
        """From the subject of every stay, in the order of the stays."""
        _, inverse, of = np.unique(subjects, return_inverse=True, return_counts=True)
        order = np.argsort(inverse, kind="stable")
        begin = np.cumsum(of) - of
        visit = np.empty(len(subjects), dtype=np.int64)
        visit[order] = np.arange(len(subjects)) - begin[inverse[order]] + 1
        return cls(visit, of[inverse])


def describe_stays(drawn: Drawn, options: SyntheticOptions) -> pl.DataFrame:
    """The stays of a chunk: ids, subject, clock times."""
    import polars as pl

    latent = drawn.stays
    subjects = calendar.first_stays(options.seed, drawn.numbers)
    days = calendar.arrival_days(options.seed, drawn.numbers, subjects, options.per_day)
    seconds = latent["minute"].astype(np.int64) * 60 + latent["phase"]
    arrival = pl.Series(days.astype("datetime64[us]") + seconds.astype("timedelta64[s]"))
    after = {name: pl.Series(latent[name].astype(np.int64)) for name in _CLOCKS}
    return pl.DataFrame(
        {"CSN": visit_ids(drawn.numbers), "MRN": patient_ids(subjects), "arrival": arrival}
        | {"number": drawn.numbers, "subject": subjects}
        | {f"{name}_second": second for name, second in after.items()}
    ).with_columns(
        pl.when(pl.col(f"{name}_second") >= 0)
        .then(pl.col("arrival") + pl.duration(seconds=f"{name}_second"))
        .alias(name)
        for name in _CLOCKS
    )


_CLOCKS = ("roomed", "decision", "departure")


def visits(
    drawn: Drawn, stays: pl.DataFrame, seed: int, visit_numbers: VisitNumbers
) -> pl.DataFrame:
    """visits.csv."""
    import polars as pl

    numbers, subjects, latent = drawn.numbers, stays["subject"].to_numpy(), drawn.stays
    race = np.searchsorted(_RACE_UPPER, _chance("race", seed, subjects), side="right")
    ethnic = np.searchsorted(_ETHNICITY_UPPER, _chance("ethnicity", seed, subjects), side="right")
    unknown_sex = _chance("unknown sex", seed, subjects) < 0.0003
    sex = np.where(unknown_sex, 2, people.sexes(seed, subjects))
    first, second = people.complaints(seed, numbers, _pick("pathway", seed, numbers, 6))
    diagnosis = _pick("diagnosis", seed, numbers, len(_DIAGNOSES))
    stayed = latent["disposition"] != DISPOSITIONS.index("Discharge")
    age = 18 + 72 * _chance("age", seed, subjects) ** 1.1 + 4 * _chance("age", seed, numbers) - 2
    return stays.with_columns(
        _triage_values(drawn, seed),
        Visit_no=visit_numbers.visit[numbers],
        Visits=visit_numbers.of[numbers],
        Age=np.clip(age, 18, 90).astype(np.int64),
        Gender=places(("F", "M", "U"), sex),
        Race=places(_RACES, race),
        Ethnicity=places(_ETHNICITIES, ethnic),
        Means_of_arrival=places(TRANSPORTS, latent["transport"]),
        Triage_acuity=places(ACUITIES, latent["acuity"]),
        CC=_complaints(first, second),
        ED_dispo=places(DISPOSITIONS, latent["disposition"]),
        Hours_to_next_visit=pl.lit(None, dtype=pl.Float64),
        Dispo_class_next_visit=pl.lit(None, dtype=pl.String),
        ED_LOS=(pl.col("departure_second") / 3600).round(2),
        Hosp_LOS=pl.when(pl.Series(stayed)).then(_chance("hospital days", seed, numbers) * 9),
        DC_dispo=pl.lit("Home/Work (includes foster care)"),
        Payor_class=places(_PAYORS, _pick("payor", seed, subjects, len(_PAYORS))),
        Admit_service=places((*_SERVICES, None), _service(seed, numbers, stayed)),
        Dx_ICD9=places([code for code, _, _ in _DIAGNOSES], diagnosis),
        Dx_ICD10=places([code for _, code, _ in _DIAGNOSES], diagnosis),
        Dx_name=places([name for _, _, name in _DIAGNOSES], diagnosis),
        Arrival_time="arrival",
        Roomed_time="roomed",
        Dispo_time="decision",
        Admit_time=pl.when(pl.Series(stayed)).then("decision"),
        Departure_time="departure",
    )


def _triage_values(drawn: Drawn, seed: int) -> pl.DataFrame:
    """Six vital signs (temperature in Celsius) that are as normal as the triage row says."""
    import polars as pl

    flag = drawn.rows["flag"][drawn.offsets[:-1] + 1]  # after the arrival
    values = vitals.vital_values(_keys("triage", seed, drawn.numbers), flag == 1, _MISSING)
    degrees = pl.col("temperature").cast(pl.Float64)
    celsius = pl.when(degrees < 50).then(degrees).otherwise((degrees - 32) / 1.8).round(1)
    measured = pl.Series(flag != 2)
    return values.select(
        pl.when(measured).then(celsius if sign == "temperature" else pl.col(sign)).alias(column)
        for sign, column in zip(vitals.SIGNS, _TRIAGE, strict=True)
    )


def _complaints(first: Numbers, second: Numbers) -> pl.Expr:
    import polars as pl

    names = [name.upper() for name in people.COMPLAINTS]
    both = [places(names, first), places([*names, None], second)]
    return pl.concat_str([pl.lit(part) for part in both], separator=",", ignore_nulls=True)


def home_medicines(stays: pl.DataFrame, seed: int) -> pl.DataFrame:
    """meds.csv: what a patient takes at home, with dates only."""
    import polars as pl

    firsts = stays.filter(pl.col("number") == pl.col("subject"))
    item = np.tile(np.arange(len(_HOME)), firsts.height)
    listed = firsts.select("MRN", "subject", "arrival")[np.repeat(np.arange(firsts.height), 3)]
    taken = _chance("home medicine", seed, listed["subject"].to_numpy() * 3 + item) < 0.6
    date = pl.col("arrival").dt.truncate("1d")
    columns = ("Med_ID", "NDC", "Name", "Generic_name")
    return listed.with_columns(
        *(places([h[i] for h in _HOME], item).alias(name) for i, name in enumerate(columns)),
        Med_class=pl.lit("CARDIOVASCULAR AGENTS"),
        Med_subclass=pl.lit(None, dtype=pl.String),
        Active=places(("Y", "N"), item % 2),
        Entry_date=date - pl.duration(days=400),
        Start_date=date - pl.duration(days=400),
        End_date=pl.lit(None, dtype=pl.Datetime("us")),
    ).filter(taken)


def history(stays: pl.DataFrame, seed: int) -> pl.DataFrame:
    """pmh.csv: diagnoses from before the patient's first visit."""
    import polars as pl

    firsts = stays.filter(pl.col("number") == pl.col("subject"))
    subjects = firsts["subject"].to_numpy()
    which = _pick("history", seed, subjects, len(_HISTORY))
    columns = ("Code", "Desc10", "CCS", "DescCCS")
    return firsts.with_columns(
        *(places([h[i] for h in _HISTORY], which).alias(name) for i, name in enumerate(columns)),
        Noted_date=pl.col("arrival").dt.truncate("1d") - pl.duration(days=900),
        CodeType=pl.lit("Dx10"),
    ).filter(_chance("has history", seed, subjects) < 0.5)


def split_parts(kind: str, seed: int, subjects: Numbers) -> Numbers:
    """0, 1, 2 for train, val, test of every stay; no subject in two of them.

    `random` divides subjects by chance, 80/10/10; `chrono` by the date of their first visit.
    """
    if kind == "random":
        return np.searchsorted([0.8, 0.9], _chance("split", seed, subjects), side="right")
    return np.searchsorted(np.array([0.66, 0.83]) * len(subjects), subjects, side="right")


def _service(seed: int, numbers: Numbers, stayed: NDArray[np.bool_]) -> Numbers:
    return np.where(stayed, _pick("service", seed, numbers, len(_SERVICES)), -1)


def _chance(purpose: str, seed: int, numbers: Numbers) -> NDArray[np.float64]:
    return calendar.chance(f"mcmed {purpose}", seed, numbers)


def _pick(purpose: str, seed: int, numbers: Numbers, n: int) -> Numbers:
    """A place among `n`, all alike."""
    return np.floor(n * _chance(purpose, seed, numbers)).astype(np.int64)


def _keys(purpose: str, seed: int, numbers: Numbers) -> seeds.U64Array:
    base = np.full(len(numbers), seeds.key(f"synthetic mcmed {purpose}", seed), dtype=np.uint64)
    return seeds.combine(base, numbers)
