"""Some stays of the second process as the tables of MC-MED, with every column they have.

What the process did not draw (vital-sign values, results, names, monitors) is drawn here, keyed by
stay and row, and changes no event: read back by the `mcmed` source, the rows are the drawn ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from edsim import seeds
from edsim.sources.mcmed import labels
from edsim.sources.synthetic import SyntheticOptions
from edsim.sources.synthetic.draws import Drawn
from edsim.sources.synthetic.mcmed_catalogue import CATALOGUE
from edsim.sources.synthetic.mcmed_numerics import numerics, waveforms
from edsim.sources.synthetic.mcmed_visits import (
    VisitNumbers,
    describe_stays,
    history,
    home_medicines,
    visits,
)
from edsim.sources.synthetic.reading import places

if TYPE_CHECKING:
    import polars as pl

FILES = {
    "visits": (
        *("MRN", "CSN", "Visit_no", "Visits", "Age", "Gender", "Race", "Ethnicity"),
        *("Means_of_arrival", "Triage_Temp", "Triage_HR", "Triage_RR", "Triage_SpO2"),
        *("Triage_SBP", "Triage_DBP", "Triage_acuity", "CC", "ED_dispo", "Hours_to_next_visit"),
        *("Dispo_class_next_visit", "ED_LOS", "Hosp_LOS", "DC_dispo", "Payor_class"),
        *("Admit_service", "Dx_ICD9", "Dx_ICD10", "Dx_name", "Arrival_time", "Roomed_time"),
        *("Dispo_time", "Admit_time", "Departure_time"),
    ),
    "orders": (
        *("CSN", "Order_time", "Order_type", "Procedure_name", "Procedure_ID"),
        *("First_admin_time", "Result_time"),
    ),
    "labs": (
        *("CSN", "Order_time", "Result_time", "Display_name", "Abnormal", "Component_name"),
        *("Component_result", "Component_value", "Component_units", "Component_abnormal"),
        *("Component_nml_low", "Component_nml_high"),
    ),
    "rads": ("CSN", "Order_time", "Result_time", "Study", "Impression"),
    "meds": (
        *("MRN", "Med_ID", "NDC", "Name", "Generic_name", "Med_class", "Med_subclass", "Active"),
        *("Entry_date", "Start_date", "End_date"),
    ),
    "pmh": ("MRN", "Noted_date", "CodeType", "Code", "Desc10", "CCS", "DescCCS"),
    "numerics": ("CSN", "Source", "Measure", "Value", "Time"),
    "waveform_summary": ("CSN", "Type", "Segments", "Duration"),
}
"""Columns of each file, in its order."""

_IN_WORDS = ("HCG", "SARS", "CULTURE", "DRUG SCREEN", "TYPE AND SCREEN")
"""Results of panels whose name holds one of these are words and not numbers."""
_UNFLAGGED = 0.10
"""Share of numeric components without a flag, to be judged by their range."""
_IMPRESSIONS = (
    "1. No acute cardiopulmonary disease.",
    "1. No acute fracture, dislocation, or foreign body.\n2. Soft tissue swelling.",
    '1. Findings may represent "early" inflammation, correlate clinically.\n2. Otherwise negative.',
    None,
)


def mcmed_tables(
    drawn: Drawn, options: SyntheticOptions, visit_numbers: VisitNumbers
) -> dict[str, pl.DataFrame]:
    """Every file's rows for these stays, by the names of FILES."""
    stays = describe_stays(drawn, options)
    rows = _rows(drawn, stays, options.seed)
    orders = _orders(rows)
    return {
        "visits": visits(drawn, stays, options.seed, visit_numbers),
        "orders": orders,
        "labs": _labs(rows, orders),
        "rads": _rads(rows, orders),
        "meds": home_medicines(stays, options.seed),
        "pmh": history(stays, options.seed),
        "numerics": numerics(rows, stays, options.seed),
        "waveform_summary": waveforms(stays, options.seed),
    }


def _rows(drawn: Drawn, stays: pl.DataFrame, seed: int) -> pl.DataFrame:
    """All rows with their visit, their time, a key of their own, and the place of their order.

    `placed` is the place of the order among all orders of the chunk; it means nothing for rows
    that have none.
    """
    import polars as pl

    counts = np.diff(drawn.offsets)
    stay = np.repeat(np.arange(len(counts)), counts)
    is_order = drawn.rows["activity"] == labels.ACTIVITIES.index(labels.ORDER)
    n_orders = np.bincount(stay[is_order], minlength=len(counts))
    base = np.full(len(stay), seeds.key("synthetic mcmed row", seed), dtype=np.uint64)
    position = np.arange(len(stay)) - drawn.offsets[stay]
    return pl.DataFrame(
        {name: drawn.rows[name] for name in ("activity", "flag", "item", "part")}
        | {
            "stay": stay,
            "second": drawn.rows["second"].astype(np.int64),
            "placed": (np.cumsum(n_orders) - n_orders)[stay] + drawn.rows["order"],
            "key": seeds.combine(seeds.combine(base, drawn.numbers[stay]), position),
            "activity": places(labels.ACTIVITIES, drawn.rows["activity"]),
        }
    ).with_columns(
        stays.select(pl.col("CSN", "arrival").gather(stay)),
        time=pl.Series(stays["arrival"].gather(stay)) + pl.duration(seconds="second"),
    )


def _orders(rows: pl.DataFrame) -> pl.DataFrame:
    """Orders with the time of what followed them: first administration or result."""
    import polars as pl

    placed = rows.filter(activity=labels.ORDER)
    first = pl.col("time").min()
    given = rows.filter(activity=labels.MEDICATION).group_by("placed").agg(First_admin_time=first)
    results = rows.filter(pl.col("activity").is_in([labels.LAB, labels.IMAGING]))
    results = results.group_by("placed").agg(Result_time=first)
    followed = placed.join(given, on="placed", how="left", maintain_order="left").join(
        results, on="placed", how="left", maintain_order="left"
    )
    item = followed["item"].to_numpy()
    return followed.with_columns(
        Order_time="time",
        Order_type=places([o.order_type for o in CATALOGUE], item),
        Procedure_name=places([o.name for o in CATALOGUE], item),
        Procedure_ID=places(
            [f"{o.order_type[:3].upper()}{i:04d}" for i, o in enumerate(CATALOGUE)], item
        ),
    )


def _labs(rows: pl.DataFrame, orders: pl.DataFrame) -> pl.DataFrame:
    """One row a component. Numbers lie in or out of their range as the flag says."""
    import polars as pl

    results = rows.filter(activity=labels.LAB)
    item, part = results["item"].to_numpy(), results["part"].to_numpy()
    abnormal = results["flag"].to_numpy() == 1
    u, v, w = (_chance(results, i) for i in range(3))
    wordy = np.array([any(word in o.name for word in _IN_WORDS) for o in CATALOGUE])[item]
    low = 3.0 + 7.0 * (part % 5)
    high = low + 5.0
    outside = np.where(v < 0.5, low - 0.5 - 2 * u, high + 0.5 + 9 * u)
    number = np.round(np.where(abnormal, outside, low + 5.0 * u), 1)
    said = np.where(abnormal, np.where(wordy, 1, np.where(v < 0.5, 2, 3)), 0)
    said = np.where(~wordy & (w < _UNFLAGGED), 4, said)
    first = np.cumsum([0, *(len(o.components) for o in CATALOGUE)])
    names = [name for o in CATALOGUE for name in o.components]
    numeric = pl.Series(~wordy)
    return results.with_columns(
        _order_times(results, orders),
        Result_time="time",
        Display_name=places([o.result for o in CATALOGUE], item),
        Abnormal=pl.Series(abnormal),
        Component_name=places(names, first[item] + part),
        value=pl.Series(number),
        word=places(("Negative", "Positive"), abnormal.astype(np.int64)),
        Component_abnormal=places(("Normal", "Abnormal", "Low", "High", None), said),
        Component_units=pl.when(numeric).then(pl.lit("mmol/L")),
        Component_nml_low=pl.when(numeric).then(pl.Series(low)),
        Component_nml_high=pl.when(numeric).then(pl.Series(high)),
    ).with_columns(
        Abnormal=pl.when(pl.col("Abnormal").any().over("placed")).then(pl.lit("Abnormal")),
        Component_value=pl.when(numeric).then(pl.col("value").cast(pl.String)),
        Component_result=pl.when(numeric).then(pl.col("value").cast(pl.String)).otherwise("word"),
    )


def _rads(rows: pl.DataFrame, orders: pl.DataFrame) -> pl.DataFrame:
    results = rows.filter(activity=labels.IMAGING)
    u = _chance(results, 0)
    return results.with_columns(
        _order_times(results, orders),
        Result_time="time",
        Study=places([o.result for o in CATALOGUE], results["item"].to_numpy()),
        Impression=places(_IMPRESSIONS, (len(_IMPRESSIONS) * u).astype(np.int64)),
    )


def _order_times(results: pl.DataFrame, orders: pl.DataFrame) -> pl.Series:
    return orders["Order_time"].gather(results["placed"])


def _chance(rows: pl.DataFrame, i: int) -> NDArray[np.float64]:
    """The i-th number in [0, 1) of each row."""
    keys = rows["key"].to_numpy()
    return seeds.uniform(seeds.combine(keys, np.full(len(keys), i)))
