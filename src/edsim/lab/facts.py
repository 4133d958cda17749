"""What is stored beside the encoded visits so that models and rollout need numpy alone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from edsim.encoding.vocabulary import Vocabulary
from edsim.lab.launching import first_triage_prefix
from edsim.tables.facts import VocabularyFacts
from edsim.tables.known import StayFacts
from edsim.tables.visits import SPLITS, Visits

if TYPE_CHECKING:
    import polars as pl


def write_stay_arrays(
    directory: Path,
    stays: pl.DataFrame,
    events: pl.DataFrame,
    *,
    triage_activity: str | None,
    time_of_day: bool,
) -> None:
    """Write ids, split and known facts of the stays into `encoded/`."""
    np.save(directory / "stay_ids.npy", stay_ids(stays), allow_pickle=False)
    np.save(directory / "split.npy", split_places(stays), allow_pickle=False)
    stay_facts(stays, events, triage_activity=triage_activity, time_of_day=time_of_day).save(
        directory
    )


def stay_ids(stays: pl.DataFrame) -> NDArray[np.bytes_]:
    """The ids as UTF-8 bytes of one width."""
    return np.array([name.encode() for name in stays["stay_id"].to_list()], dtype=np.bytes_)


def split_places(stays: pl.DataFrame) -> NDArray[np.int8]:
    """The place of each stay's part in SPLITS."""
    split = stays["split"].to_numpy()
    return np.select([split == part for part in SPLITS], np.arange(3), -1).astype(np.int8)


def stay_facts(
    stays: pl.DataFrame, events: pl.DataFrame, *, triage_activity: str | None, time_of_day: bool
) -> StayFacts:
    """What may be known at launch; the arrival hour only where the clock means anything."""
    import polars as pl

    def text(name: str) -> NDArray[np.str_]:
        return np.array(stays[name].fill_null("").to_list(), dtype=np.str_)

    def number(name: str) -> NDArray[np.float64]:
        return stays[name].cast(pl.Float64).fill_null(float("nan")).to_numpy()

    arrival = stays["arrival"]
    hour = (arrival.dt.hour() + arrival.dt.minute() / 60).to_numpy()
    triage = np.zeros(stays.height, dtype=np.int32)
    if triage_activity is not None:
        triage = first_triage_prefix(stays, events, triage_activity).astype(np.int32)
    return StayFacts(
        sex=text("sex"),
        age=number("age"),
        transport=text("transport"),
        arrival_hour=hour if time_of_day else np.full(stays.height, np.nan),
        complaint_group=text("chief_complaint_group"),
        acuity=number("acuity"),
        triage_length=triage,
    )


def vocabulary_facts(
    vocabulary: Vocabulary, visits: Visits, trains: NDArray[np.bool_]
) -> VocabularyFacts:
    """Names, discharges and the first-order transitions of the training split, END included."""
    n = len(vocabulary.tokens)
    inside = np.ones(len(visits.tokens), dtype=np.bool_)
    inside[visits.offsets[1:] - 1] = False  # nothing follows an END
    inside &= np.repeat(trains, np.diff(visits.offsets))
    first = np.flatnonzero(inside)
    pairs = visits.tokens[first].astype(np.int64) * n + visits.tokens[first + 1]
    return VocabularyFacts(
        name=vocabulary.name,
        sha256=vocabulary.sha256,
        tokens=vocabulary.tokens,
        discharges=vocabulary.discharges,
        transitions=np.bincount(pairs, minlength=n * n).reshape(n, n),
    )
