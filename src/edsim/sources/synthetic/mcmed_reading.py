"""Rows of the second process as harmonised events: the words the `mcmed` source gives back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from edsim.sources.assemble import in_minutes
from edsim.sources.mcmed import labels
from edsim.sources.synthetic.draws import Drawn, Numbers
from edsim.sources.synthetic.mcmed_catalogue import (
    CATALOGUE,
    DISPOSITIONS,
    LEVELS,
    TRANSPORTS,
)
from edsim.sources.synthetic.reading import places

if TYPE_CHECKING:
    import polars as pl

Words = tuple[Sequence[str | None], NDArray[Any]]
"""Words, and the place among them of every row (that of other activities may mean nothing)."""

_IDS, _LOWEST_ID, _START = 90_000_000, 10_000_000, 58_979_323
_VISIT_STEP, _PATIENT_STEP = 61_803_397, 38_196_601
"""Without a common factor with _IDS, so that ids are all different."""


def visit_ids(numbers: Numbers) -> pl.Series:
    """Eight digits that look drawn at random (CSN), from the number of the stay."""
    return _ids(numbers, _VISIT_STEP)


def patient_ids(subjects: Numbers) -> pl.Series:
    """Eight digits that look drawn at random (MRN), from the number of the subject's first stay."""
    return _ids(subjects, _PATIENT_STEP)


def stay_numbers(visit_ids: Numbers) -> Numbers:
    """The stay numbers behind visit ids, for whoever wants to branch the process."""
    back = pow(_VISIT_STEP, -1, _IDS)
    return (np.asarray(visit_ids, dtype=np.int64) - _LOWEST_ID - _START) * back % _IDS


def harmonised(drawn: Drawn) -> pl.DataFrame:
    """stay_id, minutes, activity, detail and flag of every row, in drawn order."""
    import polars as pl

    from edsim.sources.synthetic import mcmed_process as process

    rows, item, flag = drawn.rows, drawn.rows["item"], drawn.rows["flag"]
    stay = np.repeat(np.arange(len(drawn.numbers)), np.diff(drawn.offsets))
    names = [o.name for o in CATALOGUE]
    results = [o.result for o in CATALOGUE]
    kinds = [labels.order_kind(o.order_type) for o in CATALOGUE]
    judged = ([labels.NORMAL, labels.ABNORMAL, None], flag)
    details: dict[int, Words] = {
        process.ARRIVAL: (TRANSPORTS, item),
        process.TRIAGE: (LEVELS, drawn.stays["acuity"][stay]),
        process.ORDER: (names, item),
        process.GIVEN: (names, item),
        process.RESULT: (results, item),
        process.IMAGE: (results, item),
        process.DEPARTURE: (DISPOSITIONS, item),
    }
    flags: dict[int, Words] = {
        process.TRIAGE: judged,
        process.VITALS: judged,
        process.ORDER: (kinds, item),
        process.RESULT: judged,
    }
    return pl.DataFrame(
        {
            "stay_id": visit_ids(drawn.numbers).gather(stay),
            "microseconds": rows["second"].astype(np.int64) * 1_000_000,
            "activity": places(labels.ACTIVITIES, rows["activity"]),
            "detail": _of_activity(rows["activity"], details),
            "flag": _of_activity(rows["activity"], flags),
        }
    ).select(
        "stay_id",
        in_minutes(pl.col("microseconds")).alias("minutes"),
        "activity",
        "detail",
        "flag",
    )


def _of_activity(activity: NDArray[np.uint8], words: Mapping[int, Words]) -> pl.Series:
    """For each row the word of its activity, null where the activity has none."""
    texts: list[str | None] = [None]
    where = np.zeros(len(activity), dtype=np.int64)
    for code, (known, place) in words.items():
        at = np.flatnonzero(activity == code)
        where[at] = len(texts) + place[at]
        texts.extend(known)
    return places(texts, where)


def _ids(numbers: Numbers, step: int) -> pl.Series:
    import polars as pl

    ids = _LOWEST_ID + (np.asarray(numbers, dtype=np.int64) * step + _START) % _IDS
    return pl.Series(ids).cast(pl.String)
