"""From a source's own frames to the contract of `tables.extract`: ids, clocks, order.

The one place where stays are numbered, times become minutes since arrival, events of unknown
stays are refused and same-time events are put in their final order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from edsim.errors import BadInputError
from edsim.tables.extract import EVENT_COLUMNS, MICROSECONDS_A_MINUTE, STAY_COLUMNS

if TYPE_CHECKING:
    import polars as pl


def number_stays(stays: pl.DataFrame, *, name: str) -> pl.DataFrame:
    """Stays sorted by id as text, with every column of the contract; doubles are refused.

    `name` is what the message calls the table, a file name as a rule.
    """
    import polars as pl

    n_null = stays["stay_id"].null_count()
    if n_null:
        raise BadInputError(f"{n_null} of {stays.height} rows of {name} have no stay id.")
    n_double = stays.height - stays["stay_id"].n_unique()
    if n_double:
        first = int(stays["stay_id"].is_duplicated().arg_true()[0])
        raise BadInputError(
            f"{name} holds {n_double} stays more than once, first in data row {first + 1}. "
            "Every stay has one row."
        )
    types: dict[str, pl.DataType | type[pl.DataType]] = {
        "arrival": pl.Datetime("us"),
        "los_minutes": pl.Float64,
        "acuity": pl.Int8,
        "age": pl.Int16,
    }
    columns = [
        (pl.col(c) if c in stays.columns else pl.lit(None)).cast(types.get(c, pl.String)).alias(c)
        for c in STAY_COLUMNS
    ]
    return stays.sort("stay_id").select(columns)


def stay_numbers(ids: pl.Series, stay_ids: pl.Series) -> pl.Series:
    """The row of each id in `stay_ids`, which holds every stay once; null where it is not there.

    >>> import polars as pl
    >>> stay_numbers(pl.Series(["12", "7", "00012"]), pl.Series(["00012", "12"])).to_list()
    [1, None, 0]
    """
    import polars as pl

    return ids.cast(pl.Enum(stay_ids), strict=False).to_physical().cast(pl.UInt32)


def order_events(
    events: pl.DataFrame, stays: pl.DataFrame, *, ties: Sequence[str], name: str
) -> pl.DataFrame:
    """Events with stay numbers and minutes, sorted by stay, time, `ties`, then the order given.

    `events` has stay_id, time (datetime[us]), activity, detail, flag and the columns of `ties`;
    `stays` is the result of `number_stays`. An event of a stay that `stays` does not hold is an
    error: a source that leaves stays out leaves their events out first.
    """
    numbers = stay_numbers(events["stay_id"], stays["stay_id"])
    n_unknown = numbers.null_count()
    if n_unknown:
        first = int(numbers.is_null().arg_true()[0])
        raise BadInputError(
            f"{n_unknown} of {events.height} events of {name} belong to a stay that is not among "
            f"the stays, first in row {first + 1}."
        )
    numbered = events.drop("stay_id").with_columns(numbers.alias("stay"))
    return order_numbered(numbered, stays, ties=ties)


def order_numbered(
    events: pl.DataFrame, stays: pl.DataFrame, *, ties: Sequence[str]
) -> pl.DataFrame:
    """Like `order_events`, of events that have the number of their stay, `stay`, already."""
    import polars as pl

    arrival = stays["arrival"].gather(events["stay"])
    gap = (pl.col("time") - arrival).dt.total_microseconds()
    return (
        events.with_columns(minutes=in_minutes(gap))
        .sort("stay", "time", *ties, maintain_order=True)
        .select(EVENT_COLUMNS)
    )


def in_minutes(microseconds: pl.Expr) -> pl.Expr:
    """Whole microseconds divided by 60,000,000, rounded once as the contract has it.

    numpy divides; polars multiplies by the reciprocal, which can differ in the last bit.
    """
    import polars as pl

    return microseconds.map_batches(_divided, return_dtype=pl.Float64, is_elementwise=True)


def _divided(microseconds: pl.Series) -> pl.Series:
    import polars as pl

    missing = microseconds.is_null()
    minutes = microseconds.fill_null(0).to_numpy() / MICROSECONDS_A_MINUTE
    return pl.Series(microseconds.name, minutes).set(missing, None)
