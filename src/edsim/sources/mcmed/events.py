"""The event files of MC-MED as one harmonised stream, still with every event of every visit.

Each function returns frames of `visit` (number in visits.csv), `time`, `activity`, `detail` and
`flag`, in the order of the file. What these say is written in the package's docstring.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from edsim.sources.mcmed import labels
from edsim.sources.mcmed.clock import instant, is_bad_time, refuse_bad_times
from edsim.sources.mcmed.rows import Events
from edsim.sources.vital_limits import Limits, is_abnormal, number, with_measured

if TYPE_CHECKING:
    import polars as pl

ORDERS = ("CSN", "Order_time", "Order_type", "Procedure_name", "First_admin_time")
LABS = (
    "CSN",
    "Result_time",
    "Display_name",
    "Component_value",
    "Component_abnormal",
    "Component_nml_low",
    "Component_nml_high",
)
RADS = ("CSN", "Result_time", "Study")
NUMERICS = ("CSN", "Source", "Measure", "Value", "Time")

_MEASURES = {
    "Temp": "temperature",
    "HR": "heartrate",
    "RR": "resprate",
    "SpO2": "o2sat",
    "SBP": "sbp",
    "DBP": "dbp",
}
"""Measures of numerics.csv that have limits; the others (pain, oxygen flow) are never abnormal."""

SMALL = 10
"""Values found in the records of fewer patients are counted and not named."""


def of_visits(visits: pl.DataFrame) -> list[pl.DataFrame]:
    """Arrival, triage (which has no time of its own), rooming, decision and departure."""
    import polars as pl

    acuity = pl.col("acuity").cast(pl.String)
    parts = (
        (labels.ARRIVAL, "arrival", pl.col("transport"), None),
        (labels.TRIAGE, "arrival", acuity, pl.col("triage_flag")),
        (labels.ROOMED, "roomed", None, None),
        (labels.DECISION, "decision", None, None),
        (labels.DEPARTURE, "departure", pl.col("disposition"), None),
    )
    return [
        _events(visits, activity, time=clock, detail=detail, flag=flag)
        for activity, clock, detail, flag in parts
    ]


def of_orders(files: Events) -> list[pl.DataFrame]:
    """Orders where they were placed, and medicines where they were first given."""
    import polars as pl

    texts = pl.col("Order_type", "Procedure_name").cast(pl.Categorical)
    clocks = ("Order_time", "First_admin_time")
    rows = files.rows("orders", columns=ORDERS, clocks=clocks, keep=[texts])
    rows = rows.with_columns(kind=_order_kinds(rows["Order_type"]))
    _report_other_orders(rows, files)
    given = rows.filter(pl.col("kind") == "medication")
    detail = pl.col("Procedure_name")
    return [
        _events(rows, labels.ORDER, time="Order_time", detail=detail, flag=pl.col("kind")),
        _events(given, labels.MEDICATION, time="First_admin_time", detail=detail),
    ]


def of_labs(files: Events, grain: Literal["component", "panel"]) -> list[pl.DataFrame]:
    """Laboratory results: one a component, or one for all components of a panel at one time."""
    import polars as pl

    keep = [pl.col("Display_name").cast(pl.Categorical), _component_is_abnormal().alias("abnormal")]
    rows = files.rows("labs", columns=LABS, clocks=("Result_time",), keep=keep)
    if grain == "panel":
        together = ("visit", "Result_time", "Display_name")
        rows = rows.group_by(together).agg(pl.col("row").min(), pl.col("abnormal").any())
        rows = rows.sort("row")
    detail, flag = pl.col("Display_name"), _flag("abnormal")
    return [_events(rows, labels.LAB, time="Result_time", detail=detail, flag=flag)]


def of_rads(files: Events) -> list[pl.DataFrame]:
    """Imaging results; what they say is free text and is not read."""
    import polars as pl

    keep = [pl.col("Study").cast(pl.Categorical)]
    rows = files.rows("rads", columns=RADS, clocks=("Result_time",), keep=keep)
    return [_events(rows, labels.IMAGING, time="Result_time", detail=pl.col("Study"))]


def of_numerics(files: Events, limits: Mapping[str, Limits]) -> list[pl.DataFrame]:
    """Charted vital signs: one event for everything a nurse charted within a minute.

    The file is large and mostly the monitors' stream, so rows are filtered and grouped while they
    are read, and only the charting acts are held in memory.
    """
    import polars as pl

    chart = pl.col("Source") == "Chart"
    columns = [
        pl.when(pl.col("Measure") == measure).then("Value").alias(vital)
        for measure, vital in _MEASURES.items()
    ]
    found = {
        "time": instant("Time"),
        "bad": is_bad_time("Time"),
        "abnormal": is_abnormal(limits),
        "n_rows": pl.lit(1, dtype=pl.UInt32),
    }

    def convert(piece: pl.DataFrame) -> pl.DataFrame:
        wide = with_measured(piece.filter(chart).with_columns(columns), limits)
        return _charting_acts(wide.select("row", "CSN", **found))

    pieces, file = files.folder.rows("numerics", NUMERICS, convert)
    acts = _charting_acts(pieces)  # a minute may lie across two pieces
    _check_times(acts, file, files)
    numbered = files.number(acts, file, pl.col("n_rows").sum())
    return [_events(numbered, labels.VITALS, time="time", flag=_flag("abnormal"))]


def _check_times(acts: pl.DataFrame, file: str, files: Events) -> None:
    """Refuse times that are none; report charted rows without a time, and a file without any."""
    import polars as pl

    n_rows = int(acts["n_rows"].sum())
    bad = acts.filter("bad").select(pl.col("n_rows").sum(), pl.col("row").min().fill_null(0))
    refuse_bad_times(bad["n_rows"][0], n_rows, bad["row"][0], "Time", file)
    n_missing = int(acts.filter(pl.col("time").is_null())["n_rows"].sum())
    if n_missing:
        files.folder.notices.append(
            f"{n_missing} of {n_rows} charted rows of {file} have no Time and make no event of it."
        )
    if not n_rows:
        files.folder.notices.append(
            f"{file} has no row whose Source is Chart, so there are no charted vital signs."
        )


def _charting_acts(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows of one visit and minute as one: the first of them, and whether any is outside."""
    import polars as pl

    minute = pl.col("time").dt.truncate("1m").alias("minute")
    return (
        rows.group_by("CSN", minute, "bad")
        .agg(
            pl.col("row").min(),
            pl.col("time").min(),
            pl.col("abnormal").any(),
            pl.col("n_rows").sum(),
        )
        .drop("minute")
    )


def _events(
    rows: pl.DataFrame,
    activity: str,
    *,
    time: str,
    detail: pl.Expr | None = None,
    flag: pl.Expr | None = None,
) -> pl.DataFrame:
    """Rows that have a time as events of one activity."""
    import polars as pl

    return rows.filter(pl.col(time).is_not_null()).select(
        pl.col("visit").cast(pl.UInt32),
        pl.col(time).alias("time"),
        pl.lit(activity, dtype=pl.Enum(labels.ACTIVITIES)).alias("activity"),
        (pl.lit(None) if detail is None else detail).cast(pl.Categorical).alias("detail"),
        (pl.lit(None) if flag is None else flag).cast(pl.Categorical).alias("flag"),
    )


def _order_kinds(types: pl.Series) -> pl.Series:
    import polars as pl

    known = types.cast(pl.String).unique().to_list()
    kinds = [labels.order_kind(name) for name in known]
    return types.cast(pl.String).replace_strict(known, kinds, return_dtype=pl.Categorical)


def _component_is_abnormal() -> pl.Expr:
    """As flagged by the laboratory; where it says nothing, by the component's own normal range."""
    import polars as pl

    said = pl.col("Component_abnormal").str.to_lowercase()
    columns = ("Component_value", "Component_nml_low", "Component_nml_high")
    value, low, high = (number(column) for column in columns)
    outside = (value < low).fill_null(False) | (value > high).fill_null(False)
    return pl.when(said.is_null()).then(outside).otherwise(~said.str.starts_with("normal"))


def _flag(is_abnormal: str) -> pl.Expr:
    import polars as pl

    return pl.when(is_abnormal).then(pl.lit(labels.ABNORMAL)).otherwise(pl.lit(labels.NORMAL))


def _report_other_orders(rows: pl.DataFrame, files: Events) -> None:
    """Name the order types that fell to `other`, except those that could point to a person."""
    import polars as pl

    other = rows.filter(pl.col("kind").cast(pl.String) == labels.OTHER_ORDER)
    if other.is_empty():
        return
    types = (
        other.join(files.visits.select("visit", "subject_id"), on="visit")
        .group_by(pl.col("Order_type").cast(pl.String))
        .agg(pl.col("subject_id").n_unique().alias("n_patients"))
        .sort(["n_patients", "Order_type"], descending=[True, False])
    )
    words = types.filter(pl.col("n_patients") >= SMALL)["Order_type"].fill_null("no type").to_list()
    if len(words) < types.height:
        words.append(f"{types.height - len(words)} of fewer than {SMALL} patients each")
    files.folder.notices.append(
        f"{other.height} of {rows.height} orders have a type that no known beginning fits and are "
        f"of kind '{labels.OTHER_ORDER}': {', '.join(words)}."
    )
