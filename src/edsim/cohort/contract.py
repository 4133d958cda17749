"""The contract between a source and the cohort, checked before anything is written.

A source of ours that breaks it has a bug; a source of yours learns here what is expected.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from edsim.errors import BadTableError
from edsim.tables.extract import EVENT_COLUMNS, STAY_COLUMNS, Extract
from edsim.tables.visits import SPLITS

if TYPE_CHECKING:
    import polars as pl


def check_extract(extract: Extract) -> None:
    """Raise `BadTableError` unless stays and events keep the contract of `tables.extract`."""
    _check_columns("stays", extract.stays, STAY_COLUMNS)
    _check_columns("events", extract.events, EVENT_COLUMNS)
    if extract.stays.is_empty():
        raise BadTableError(
            "no stay is left after the eligibility rules, so there is no cohort to build."
        )
    _check_stays(extract.stays)
    _check_events(extract.events, extract.stays.height)


def _check_columns(name: str, frame: pl.DataFrame, columns: tuple[str, ...]) -> None:
    missing = [column for column in columns if column not in frame.columns]
    if missing:
        raise BadTableError(
            f"the {name} table has no column {', '.join(missing)}. Every source returns "
            f"{', '.join(columns)}: see docs/tables.md."
        )


def _check_stays(stays: pl.DataFrame) -> None:
    for column in ("stay_id", "subject_id", "arrival"):
        n_null = stays[column].null_count()
        if n_null:
            raise BadTableError(f"{n_null} of {stays.height} stays have no {column}.")
    if not stays["stay_id"].is_sorted() or stays["stay_id"].n_unique() != stays.height:
        raise BadTableError("the stays are not sorted by stay_id as text, or hold one twice.")
    los = stays["los_minutes"]
    bad = int((los.is_nan() | los.is_infinite() | (los < 0)).sum())
    if bad:
        raise BadTableError(
            f"{bad} of {stays.height} stays have a negative or non-finite length of stay."
        )
    given = stays["split"].drop_nulls()
    unknown = int((~given.is_in(list(SPLITS))).sum())
    if unknown:
        raise BadTableError(
            f"{unknown} of {stays.height} stays name a split other than {', '.join(SPLITS)}."
        )


def _check_events(events: pl.DataFrame, n_stays: int) -> None:
    stay = events["stay"].to_numpy()
    minutes = events["minutes"].to_numpy()
    if events["activity"].null_count():
        raise BadTableError(f"{events['activity'].null_count()} events have no activity.")
    if stay.size and int(stay.max()) >= n_stays:
        raise BadTableError("some events belong to a stay that is not among the stays.")
    if (np.diff(stay.astype(np.int64)) < 0).any():
        raise BadTableError("the events are not sorted by stay.")
    without = n_stays - np.unique(stay).size
    if without:
        raise BadTableError(
            f"{without} of {n_stays} stays have no event. Leave them out with a step of their own."
        )
    if not np.isfinite(minutes).all():
        raise BadTableError(f"{(~np.isfinite(minutes)).sum()} events have no finite time.")
    backwards = 1 + np.flatnonzero((stay[1:] == stay[:-1]) & (np.diff(minutes) < 0))
    if backwards.size:
        raise BadTableError(
            f"{backwards.size} of {len(minutes)} events come before the event they follow, first "
            f"in row {backwards[0]}. Sort each stay by time before computing `minutes`."
        )
