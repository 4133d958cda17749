"""Some drawn stays as the tables of MIMIC-IV-ED, MIMICEL and hosp, with every column they have.

Each table of rows keeps `row`, the place of the row among all rows of the chunk: MIMICEL is these
tables one under the other, ordered by it, so that the two can never disagree.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from edsim import seeds
from edsim.sources.synthetic import SyntheticOptions, calendar, diagnoses, medicines, people, vitals
from edsim.sources.synthetic.calendar import Numbers
from edsim.sources.synthetic.draws import Drawn
from edsim.sources.synthetic.reading import (
    ACTIVITIES,
    ACTIVITY_OF_TOKEN,
    CHECK_CODE,
    CHECK_TOKEN,
    DETAILS,
    DISCHARGE_CODE,
    DISPENSE_CODE,
    ENTER_CODE,
    FLAGS,
    RECONCILE_CODE,
    TRIAGE_CODE,
    Places,
    describe_stays,
    labels,
    places,
)

if TYPE_CHECKING:
    import polars as pl

_SIGNS = vitals.SIGNS
FILES = {
    "ed/edstays": (
        *("subject_id", "hadm_id", "stay_id", "intime", "outtime", "gender", "race"),
        *("arrival_transport", "disposition"),
    ),
    "ed/triage": ("subject_id", "stay_id", *_SIGNS, "pain", "acuity", "chiefcomplaint"),
    "ed/vitalsign": ("subject_id", "stay_id", "charttime", *_SIGNS, "rhythm", "pain"),
    "ed/medrecon": (
        *("subject_id", "stay_id", "charttime", "name", "gsn", "ndc"),
        *("etc_rn", "etccode", "etcdescription"),
    ),
    "ed/pyxis": ("subject_id", "stay_id", "charttime", "med_rn", "name", "gsn_rn", "gsn"),
    "ed/diagnosis": ("subject_id", "stay_id", "seq_num", "icd_code", "icd_version", "icd_title"),
    "hosp/patients": (
        *("subject_id", "gender", "anchor_age", "anchor_year", "anchor_year_group", "dod"),
    ),
    "mimicel": (
        *("stay_id", "subject_id", "hadm_id", "timestamps", "activity", "gender", "race"),
        *("arrival_transport", "disposition", "seq_num", "icd_code", "icd_version", "icd_title"),
        *_SIGNS,
        *("pain", "acuity", "chiefcomplaint", "rhythm", "name", "gsn", "ndc"),
        *("etc_rn", "etccode", "etcdescription", "med_rn", "gsn_rn"),
    ),
}
"""Columns of each file, in its order."""

_ADMITTED_ELSEWHERE = 45_390 / (425_028 - 158_010)
_ADMITTED_WITHOUT = 384 / 158_010


def mimic_tables(drawn: Drawn, options: SyntheticOptions) -> dict[str, pl.DataFrame]:
    """Every file's rows for these stays, by the names of FILES."""
    import polars as pl

    seed = options.seed
    stays = _stays(drawn, options)
    stay = np.repeat(np.arange(len(drawn.numbers)), np.diff(drawn.offsets))
    rows = pl.DataFrame(
        {"row": np.arange(len(stay)), "stay": stay, "second": drawn.rows["second"]}
    ).with_columns(
        stays.select(pl.col("stay_id", "subject_id", "hadm_id", "intime").gather(stay)),
        activity=places(ACTIVITIES, ACTIVITY_OF_TOKEN[drawn.rows["token"]]),
    )
    rows = rows.with_columns(
        timestamps=pl.col("intime") + pl.duration(seconds="second")
    ).with_columns(charttime="timestamps")
    texts = labels(drawn, stays, seed, stay)
    tables = {
        "enter": _of(rows, drawn, ENTER_CODE)[0].with_columns(
            stays.select("gender", "race", "arrival_transport")
        ),
        "ed/triage": _triage(rows, drawn, stays, seed),
        "ed/vitalsign": _checks(rows, drawn, seed),
        "ed/medrecon": _reconciliations(rows, drawn, texts),
        "ed/pyxis": _dispensations(rows, drawn, texts),
        "ed/diagnosis": _discharges(rows, drawn, stays, seed),
    }
    mimicel = pl.concat(tables.values(), how="diagonal").sort("row")
    coded = tables["ed/diagnosis"].filter(pl.col("icd_code").is_not_null())
    del tables["enter"]
    firsts = stays.filter(pl.col("subject") == pl.Series(drawn.numbers))
    return tables | {
        "ed/edstays": stays.with_columns(
            disposition=places(people.DISPOSITIONS, stays["disposition"].to_numpy())
        ),
        "ed/diagnosis": coded,
        "hosp/patients": _patients(firsts, seed),
        "mimicel": mimicel,
    }


def _stays(drawn: Drawn, options: SyntheticOptions) -> pl.DataFrame:
    """One row a stay, named as edstays names it beside `describe_stays`' own columns."""
    import polars as pl

    stays = describe_stays(drawn, options)
    admitted = stays["disposition"].to_numpy() == people.DISPOSITIONS.index("ADMITTED")
    u = calendar.chance("admission", options.seed, drawn.numbers)
    in_hospital = np.where(admitted, u >= _ADMITTED_WITHOUT, u < _ADMITTED_ELSEWHERE)
    hadm_id = pl.Series(drawn.numbers + 20_000_000).cast(pl.String)
    return stays.with_columns(
        intime="arrival",
        outtime=pl.col("arrival") + pl.duration(seconds="seconds"),
        hadm_id=pl.when(pl.Series(in_hospital)).then(hadm_id),
        gender="sex",
        arrival_transport=places(people.TRANSPORTS, stays["transport"].to_numpy()),
    )


def _of(rows: pl.DataFrame, drawn: Drawn, activity: int) -> tuple[pl.DataFrame, Numbers]:
    """The rows of one activity, and their places."""
    at = np.flatnonzero(ACTIVITY_OF_TOKEN[drawn.rows["token"]] == activity)
    return rows[at], at


def _triage(rows: pl.DataFrame, drawn: Drawn, stays: pl.DataFrame, seed: int) -> pl.DataFrame:
    triage, _ = _of(rows, drawn, TRIAGE_CODE)
    keys = _row_keys("triage values", seed, drawn.numbers, np.zeros_like(drawn.numbers))
    never = np.zeros(len(triage), dtype=np.bool_)
    values = vitals.vital_values(keys, never, vitals.MISSING_AT_TRIAGE).drop("rhythm")
    return triage.with_columns(
        values,
        acuity=places(people.ACUITIES, stays["acuity"].to_numpy()),
        chiefcomplaint=stays["chief_complaint"],
    )


def _checks(rows: pl.DataFrame, drawn: Drawn, seed: int) -> pl.DataFrame:
    checks, at = _of(rows, drawn, CHECK_CODE)
    stay = checks["stay"].to_numpy()
    keys = _row_keys("check values", seed, drawn.numbers[stay], at - drawn.offsets[stay])
    abnormal = drawn.rows["token"][at] == CHECK_TOKEN + 1
    return checks.with_columns(vitals.vital_values(keys, abnormal, vitals.MISSING_AT_CHECK))


def _reconciliations(
    rows: pl.DataFrame, drawn: Drawn, texts: tuple[Places, Places]
) -> pl.DataFrame:
    """gsn and ndc belong to the medicine, the code to its class; one medicine in 13 has no ndc."""
    recon, at = _of(rows, drawn, RECONCILE_CODE)
    medicine, flag = drawn.rows["item"][at].astype(np.int64), texts[1][at]
    gsn = [f"{1_009 * m + 117:06d}" for m in range(medicines.N_HOME)]
    ndc = ["0" if m % 13 == 5 else f"{90_909_091 * m + 10_019:011d}" for m in range(120)]
    codes = [f"{9_000 + place:08d}" for place in range(len(FLAGS))]
    return recon.with_columns(
        name=places(DETAILS, texts[0][at]),
        gsn=places(gsn, medicine),
        ndc=places(ndc, medicine),
        etc_rn=1 + medicines.second_rows(medicine).astype(np.int64),
        etccode=places(codes, flag),
        etcdescription=places(FLAGS, flag),
    )


def _dispensations(rows: pl.DataFrame, drawn: Drawn, texts: tuple[Places, Places]) -> pl.DataFrame:
    """med_rn counts the acts of a stay, gsn_rn the rows of an act, each with a code of its own."""
    import polars as pl

    given, at = _of(rows, drawn, DISPENSE_CODE)
    item, detail = drawn.rows["item"][at].astype(np.int64), texts[0][at].astype(np.int64)
    stay = given["stay"].to_numpy()
    new = np.ones(len(at), dtype=np.bool_)
    new[1:] = (stay[1:] != stay[:-1]) | (item[1:] != item[:-1])
    gsn_rn = 1 + np.arange(len(at)) - np.maximum.accumulate(np.where(new, np.arange(len(at)), 0))
    gsn = pl.Series(1_000 + 7 * detail + 997 * gsn_rn).cast(pl.String).str.zfill(6)
    return given.with_columns(name=places(DETAILS, detail), med_rn=item + 1, gsn_rn=gsn_rn, gsn=gsn)


def _discharges(rows: pl.DataFrame, drawn: Drawn, stays: pl.DataFrame, seed: int) -> pl.DataFrame:
    """One row a code; a stay without any has one row with the code left empty."""
    gone, at = _of(rows, drawn, DISCHARGE_CODE)
    stay = gone["stay"].to_numpy()
    n_codes = np.bincount(stay, minlength=len(drawn.numbers))
    sequence = at - (drawn.offsets[1:] - n_codes)[stay] + 1
    later = (stays["period"].to_numpy() >= calendar.PERIODS[2])[stay].astype(np.int64)
    where = diagnoses.code_places(seed, drawn.numbers[stay], sequence, later, n_codes[stay] == 1)
    columns = {
        name: places([*(code[i] for code in diagnoses.CODES), None], where)
        for i, name in enumerate(("icd_code", "icd_version", "icd_title"))
    }
    numbers = places([*(str(n) for n in range(1, 10)), None], np.where(where < 0, -1, sequence - 1))
    disposition = places(people.DISPOSITIONS, stays["disposition"].to_numpy()[stay])
    return gone.with_columns(seq_num=numbers, disposition=disposition, **columns)


def _patients(firsts: pl.DataFrame, seed: int) -> pl.DataFrame:
    """One row a subject, at the subject's first stay."""
    import polars as pl

    subjects = firsts["subject"].to_numpy()
    return firsts.select(
        "subject_id",
        "gender",
        anchor_age=people.anchor_ages(seed, subjects),
        anchor_year=calendar.anchor_years(seed, subjects),
        anchor_year_group="period",
        dod=pl.lit(None, dtype=pl.String),
    )


def _row_keys(purpose: str, seed: int, numbers: Numbers, position: Numbers) -> seeds.U64Array:
    """A key for each row, by stay number and place within the stay."""
    base = np.full(len(numbers), seeds.key(f"synthetic {purpose}", seed), dtype=np.uint64)
    return seeds.combine(seeds.combine(base, numbers), position)
