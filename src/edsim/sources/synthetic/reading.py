"""The synthetic visits as a cohort reads them: stays, and events in their drawn order."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from edsim import seeds
from edsim.errors import BadInputError
from edsim.progress import Progress
from edsim.sources.assemble import in_minutes
from edsim.sources.synthetic import SyntheticOptions, calendar, medicines, people
from edsim.sources.synthetic.calendar import Numbers
from edsim.sources.synthetic.draws import Department, Drawn, draw_chunks
from edsim.sources.synthetic.rates import RECONCILED
from edsim.tables.extract import Extract, Step

if TYPE_CHECKING:
    import polars as pl

VERSION = "process 1"
"""Changes whenever the same options give other visits."""

ACTIVITIES = (
    "Enter the ED",
    "Vital sign check",
    "Triage in the ED",
    "Medicine reconciliation",
    "Medicine dispensations",
    "Discharge from the ED",
)
TRIAGE = ACTIVITIES[2]
ENTER_CODE, CHECK_CODE, TRIAGE_CODE, RECONCILE_CODE, DISPENSE_CODE, DISCHARGE_CODE = range(6)
ACTIVITY_OF_TOKEN = np.repeat(
    [ENTER_CODE, TRIAGE_CODE, CHECK_CODE, RECONCILE_CODE, DISPENSE_CODE, DISCHARGE_CODE],
    [3, 4, 2, len(RECONCILED), 8, 7],
).astype(np.uint8)
"""Place in ACTIVITIES of each token of the process."""
CHECK_TOKEN, RECONCILE_TOKEN, DISPENSE_TOKEN = 7, 9, 16

FLAGS = ("normal", "abnormal", *medicines.DESCRIPTIONS)
_GROUPS = (
    people.TRANSPORTS,
    people.LEVELS,
    people.DISPOSITIONS,
    medicines.HOME_NAMES,
    medicines.NAMES,
)
DETAILS = tuple(dict.fromkeys(text for group in _GROUPS for text in group))
_TRANSPORT, _ACUITY, _DISPOSITION, _HOME, _NAME = (
    np.array([DETAILS.index(text) for text in group], dtype=np.uint32) for group in _GROUPS
)

MAX_STAYS = 10_000_000

Places = NDArray[np.uint32]


def read_visits(options: SyntheticOptions, progress: Progress) -> Extract:
    """Draw the visits and describe them."""
    import polars as pl

    check_options(options)
    department = Department(seed=options.seed, drift=options.drift)
    progress.stage("drawing visits", options.stays, "stays")
    stays, events, first = [], [], 0
    for drawn in draw_chunks(department, options.stays):
        described = describe_stays(drawn, options)
        stays.append(described)
        events.append(_events(drawn, described, options.seed, first))
        first += len(drawn.numbers)
        progress.advance(len(drawn.numbers))
    all_stays, all_events = pl.concat(stays), pl.concat(events, rechunk=False)
    return Extract(
        source="synthetic",
        version=VERSION,
        stays=_as_contract(all_stays),
        events=all_events,
        steps=(
            Step(
                rule="visits drawn",
                n_stays=all_stays.height,
                n_subjects=all_stays["subject_id"].n_unique(),
                n_events=all_events.height,
            ),
        ),
        options={
            "stays": options.stays,
            "seed": options.seed,
            "per_day": options.per_day,
            "drift": options.drift,
        },
        notices=("Every visit is drawn from a known process: no row comes from a patient.",),
        triage_activity=TRIAGE,
        cap=128,
    )


def check_options(options: SyntheticOptions) -> None:
    """Refuse what cannot be drawn."""
    if not 1 <= options.stays <= MAX_STAYS:
        raise BadInputError(
            f"--stays {options.stays} cannot be drawn. Give a number from 1 to {MAX_STAYS:,}; from "
            "50 on every split has something in it."
        )
    if options.per_day < 1:
        raise BadInputError(f"--per-day {options.per_day} must be at least 1.")
    if not 0 <= options.drift <= 2:
        raise BadInputError(
            f"--drift {options.drift:g} must lie from 0 (no drift) to 2 (twice what docs/"
            "synthetic.md says)."
        )


def stay_ids(numbers: Numbers) -> Numbers:
    """The eight-digit identifiers of stays: their order as text is that of the numbers."""
    return np.asarray(numbers) + 30_000_000


def stay_numbers(ids: Numbers) -> Numbers:
    """The stay numbers behind identifiers, for whoever wants to branch the process."""
    return np.asarray(ids) - 30_000_000


def subject_ids(subjects: Numbers) -> Numbers:
    """The eight-digit identifiers of subjects, from the number of their first stay."""
    return np.asarray(subjects) + 10_000_000


def describe_stays(drawn: Drawn, options: SyntheticOptions) -> pl.DataFrame:
    """One row a stay with what all readers of the process want to know of it."""
    import polars as pl

    seed, numbers, latent = options.seed, drawn.numbers, drawn.stays
    subjects = calendar.first_stays(seed, numbers)
    days = calendar.arrival_days(seed, numbers, subjects, options.per_day)
    arrival = days.astype("datetime64[us]") + latent["minute"].astype("timedelta64[m]")
    first, second = people.complaints(seed, numbers, latent["pathway"])
    return pl.DataFrame(
        {
            "stay_id": pl.Series(stay_ids(numbers)).cast(pl.String),
            "subject_id": pl.Series(subject_ids(subjects)).cast(pl.String),
            "subject": subjects,
            "arrival": arrival,
            "seconds": latent["departure"].astype(np.int64),
            **label_codes(drawn, seed),
            "sex": places(people.SEXES, people.sexes(seed, subjects)),
            "age": people.ages(seed, subjects, calendar.years(days)),
            "race": places([race for race, _ in people.RACES], people.races(seed, subjects)),
            "period": places(calendar.PERIODS, calendar.subject_periods(seed, subjects)),
            "first": places(people.COMPLAINTS, first),
            "second": places((*people.COMPLAINTS, None), second),
        }
    ).with_columns(
        chief_complaint=pl.concat_str("first", "second", separator=", ", ignore_nulls=True)
    )


def label_codes(drawn: Drawn, seed: int) -> dict[str, Numbers]:
    """What the labels of a stay's rows need to know of the stay: places in `people`'s lists."""
    numbers, latent = drawn.numbers, drawn.stays
    return {
        "acuity": people.acuities(seed, numbers, latent["acuity"]),
        "disposition": people.dispositions(seed, numbers, latent["disposition"]),
        "transport": people.transports(seed, numbers, latent["transport"]),
    }


def places(values: Iterable[str | None], where: NDArray[np.integer]) -> pl.Series:
    """The values at these places, a null among them included; place -1 is the last."""
    import polars as pl

    texts = pl.Series(list(values), dtype=pl.String)
    return texts.gather(np.where(where < 0, len(texts) - 1, where))


def _as_contract(stays: pl.DataFrame) -> pl.DataFrame:
    """The columns of `Extract.stays`; ids are in order already."""
    import polars as pl

    from edsim.sources.mimic.extract import race_group

    return stays.select(
        "stay_id",
        "subject_id",
        pl.col("arrival").cast(pl.Datetime("us")),
        los_minutes=_minutes("seconds"),
        acuity=pl.when(pl.col("acuity") < 5).then(pl.col("acuity") + 1).cast(pl.Int8),
        disposition=places(people.DISPOSITIONS, stays["disposition"].to_numpy()),
        transport=places(people.TRANSPORTS, stays["transport"].to_numpy()),
        sex="sex",
        age=pl.col("age").cast(pl.Int16),
        race_group=race_group(),
        chief_complaint="chief_complaint",
        period="period",
        split=pl.lit(None, dtype=pl.String),
    )


def _events(drawn: Drawn, stays: pl.DataFrame, seed: int, first: int) -> pl.DataFrame:
    """The rows as events; `first` is the place of the chunk's first stay among all stays."""
    stay = np.repeat(np.arange(len(drawn.numbers)), np.diff(drawn.offsets))
    details, flags = labels(drawn, stays, seed, stay)
    return as_events(drawn.rows, stay + first, details, flags)


def as_events(rows: NDArray[Any], stay: Numbers, details: Places, flags: Places) -> pl.DataFrame:
    """Rows of the process with their labels in the form of `Extract.events`."""
    import polars as pl

    return pl.DataFrame(
        {
            "stay": stay.astype(np.uint32),
            "second": rows["second"],
            "activity": _enum(ACTIVITIES, ACTIVITY_OF_TOKEN[rows["token"]]),
            "detail": _enum(DETAILS, details),
            "flag": _enum(FLAGS, flags),
        }
    ).select("stay", _minutes("second").alias("minutes"), "activity", "detail", "flag")


def _minutes(seconds: str) -> pl.Expr:
    """Minutes with the very bits that the sources of files give the same event."""
    import polars as pl

    return in_minutes(pl.col(seconds).cast(pl.Int64) * 1_000_000)


def _enum(values: tuple[str, ...], where: NDArray[np.integer]) -> pl.Series:
    """Values by their place, null where the place is after the last."""
    import polars as pl

    return pl.Series([*values, None], dtype=pl.Enum(values)).gather(where)


def labels(
    drawn: Drawn,
    stays: pl.DataFrame,
    seed: int,
    stay: Numbers,
    names: seeds.U64Array | None = None,
) -> tuple[Places, Places]:
    """Places in DETAILS and FLAGS of each row, one past the end where there is none.

    `stay` is the place of each row's stay in the chunk; `stays` holds `label_codes`. `names` are
    the keys, one a row, of the names of dispensed medicines: each stay's own where not given.
    """
    rows = drawn.rows
    token, item = rows["token"], rows["item"].astype(np.int64)
    activity = ACTIVITY_OF_TOKEN[token]
    details = np.full(len(rows), len(DETAILS), dtype=np.uint32)
    flags = np.full(len(rows), len(FLAGS), dtype=np.uint32)

    at = np.flatnonzero(activity == ENTER_CODE)
    details[at] = _TRANSPORT[stays["transport"].to_numpy()[stay[at]]]
    at = np.flatnonzero(activity == TRIAGE_CODE)
    details[at] = np.append(_ACUITY, len(DETAILS))[stays["acuity"].to_numpy()[stay[at]]]
    at = np.flatnonzero(activity == DISCHARGE_CODE)
    details[at] = _DISPOSITION[stays["disposition"].to_numpy()[stay[at]]]
    at = np.flatnonzero(activity == CHECK_CODE)
    flags[at] = token[at] - CHECK_TOKEN
    at = np.flatnonzero(activity == RECONCILE_CODE)
    details[at] = _HOME[item[at]]
    flags[at] = 2 + np.where(
        medicines.second_rows(item[at]),
        medicines.home_descriptions(second=True)[item[at]],
        medicines.home_descriptions(second=False)[item[at]],
    )
    at = np.flatnonzero(activity == DISPENSE_CODE)
    classes = token[at].astype(np.int64) - DISPENSE_TOKEN
    own = medicines.name_keys(seed, drawn.numbers)[stay[at]] if names is None else names[at]
    details[at] = _NAME[medicines.dispensed_names(own, item[at], classes)]
    return details, flags
