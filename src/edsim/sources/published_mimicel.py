"""What is published of MIMICEL 2.1.0, beside the same figures of a cohort with its activities.

The published side comes from the data paper and the data set's own pages; the tolerances are those
a sample of 60,000 stays is held to. Tolerances in per cent are stored as absolute numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from edsim.errors import BadTableError
from edsim.privacy import Cell, without_small_cells
from edsim.tables.published import PublishedRow

if TYPE_CHECKING:
    import polars as pl

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

ACTIVITIES = (
    "Enter the ED",
    "Triage in the ED",
    "Vital sign check",
    "Medicine reconciliation",
    "Medicine dispensations",
    "Discharge from the ED",
)
ENTER, TRIAGE, VITAL, RECON, DISP, DISCHARGE = range(6)
SHORT = ("Enter", "Triage", "Vital", "Recon", "Disp", "Discharge")

LONG_STAY_LENGTH = "rows per stay, 99.9th percentile"
COLLAPSED_SD = "rows per stay collapsed at 2 min, sd"
SYNTHETIC_MISSES = (LONG_STAY_LENGTH, COLLAPSED_SD)
"""What the synthetic emergency department is known not to reproduce."""

TRANSITIONS = (
    (ENTER, TRIAGE, 0.81, 0.01),
    (ENTER, VITAL, 0.19, 0.01),
    (TRIAGE, VITAL, 0.52, 0.02),
    (TRIAGE, RECON, 0.28, 0.02),
    (TRIAGE, DISP, 0.18, 0.02),
    (TRIAGE, DISCHARGE, 0.03, 0.02),
    (VITAL, VITAL, 0.37, 0.02),
    (VITAL, DISCHARGE, 0.24, 0.02),
    (VITAL, DISP, 0.24, 0.02),
    (VITAL, RECON, 0.10, 0.02),
    (VITAL, TRIAGE, 0.06, 0.02),
    (RECON, RECON, 0.44, 0.03),
    (RECON, VITAL, 0.32, 0.03),
    (RECON, DISP, 0.20, 0.03),
    (RECON, DISCHARGE, 0.04, 0.03),
    (DISP, VITAL, 0.52, 0.02),
    (DISP, DISP, 0.34, 0.02),
    (DISP, RECON, 0.06, 0.02),
    (DISP, DISCHARGE, 0.08, 0.02),
)


@dataclass(frozen=True, slots=True)
class Log:
    """The events of a cohort as flat arrays, a stay's rows together and in order."""

    stay: NDArray[np.int32]  # [rows]
    minutes: Floats  # [rows]
    activity: NDArray[np.uint8]  # [rows], place in ACTIVITIES
    subject: NDArray[np.int32]  # [stays], number of the stay's subject

    @property
    def n_stays(self) -> int:
        """Stays, with their events or without."""
        return len(self.subject)

    def per_stay(self, rows: Flags | None = None) -> NDArray[np.int64]:
        """How many rows (of those marked) each stay has."""
        stay = self.stay if rows is None else self.stay[rows]
        return np.bincount(stay, minlength=self.n_stays)

    def subjects_of(self, stays: NDArray[np.generic]) -> int:
        """Subjects of some stays, given by number or as marks."""
        return int(np.count_nonzero(np.bincount(self.subject[stays])))

    def smaller_side(self, marks: Flags) -> int:
        """Subjects of the marked stays or of the others, whichever are fewer."""
        return min(self.subjects_of(marks), self.subjects_of(~marks))


def published_figures(
    stays: pl.LazyFrame, events: pl.LazyFrame, *, known_misses: tuple[str, ...] = ()
) -> list[PublishedRow]:
    """Every published figure beside the cohort's; `nan` where the cohort cannot have it.

    `known_misses` names the quantities that may lie outside their tolerance without being a fault.
    """
    import polars as pl

    people = stays.select(
        "los_minutes",
        "acuity",
        pl.col("subject_id").rank("dense").cast(pl.Int32).alias("subject") - 1,
        *(pl.col(c).cast(pl.String) for c in ("disposition", "transport")),
    ).collect()
    log = _log(events, people["subject"].to_numpy())
    rows = [
        *_lengths(log),
        *_lengths_by_group(log, people),
        *_durations(log, people),
        *_shares(log, people),
        *_bursts(log),
        *_transitions(log),
    ]
    return [
        replace(row, known_miss=row.quantity in known_misses and row.within is False)
        for row in rows
    ]


def _log(events: pl.LazyFrame, subject: NDArray[np.int32]) -> Log:
    import polars as pl

    codes = {name: code for code, name in enumerate(ACTIVITIES)}
    frame = events.select(
        "position",
        "minutes",
        pl.col("activity")
        .cast(pl.String)
        .replace_strict(codes, default=len(ACTIVITIES), return_dtype=pl.UInt8)
        .alias("activity"),
    ).collect(engine="streaming")
    stay = np.cumsum(frame["position"].to_numpy() == 1, dtype=np.int32) - 1
    if len(stay) == 0 or stay[-1] + 1 != len(subject):
        raise BadTableError(
            f"the events table holds {int(stay[-1]) + 1 if len(stay) else 0} stays and the stays "
            f"table {len(subject)}. Run `edsim cohort check` on the cohort."
        )
    return Log(stay, frame["minutes"].to_numpy(), frame["activity"].to_numpy(), subject)


def _figure(
    quantity: str, published: float, ours: float, tolerance: float, n_behind: int
) -> PublishedRow:
    return PublishedRow(
        quantity=quantity,
        published=published,
        ours=float(ours),
        tolerance=tolerance,
        n_behind=n_behind,
    )


def _share_of(
    quantity: str, published: float, ours: float, share: float, n_behind: int
) -> PublishedRow:
    """A figure with a tolerance that is a share of the published value."""
    return _figure(quantity, published, ours, share * published, n_behind)


def _mean(values: NDArray[np.generic]) -> float:
    return float(values.mean()) if len(values) else float("nan")


def _lengths(log: Log) -> Iterator[PublishedRow]:
    lengths = log.per_stay()
    everyone = log.subjects_of(lengths >= 0)
    yield _figure("rows per stay", 17.81, lengths.mean(), 0.35, everyone)
    holding = {VITAL: 0.938, RECON: 0.716, DISP: 0.696}
    counts = {a: log.per_stay(log.activity == a) for a in (VITAL, RECON, DISP, DISCHARGE)}
    for activity, published in ((VITAL, 3.350), (RECON, 6.948), (DISP, 3.392), (DISCHARGE, 2.118)):
        name = f"{SHORT[activity].lower()} rows per stay"
        behind = log.subjects_of(counts[activity] > 0)
        yield _share_of(name, published, counts[activity].mean(), 0.03, behind)
    for activity, published in holding.items():
        name = f"share of stays with {SHORT[activity].lower()}"
        holds = counts[activity] > 0
        yield _figure(name, published, holds.mean(), 0.008, log.smaller_side(holds))
    early = (log.minutes <= 0) & (log.activity != ENTER)
    behind = log.subjects_of(log.stay[early])
    yield _figure("rows at or before Enter, share", 0.0106, early.mean(), 0.001, behind)
    long = np.quantile(lengths, 0.999)
    yield _figure(LONG_STAY_LENGTH, 128, long, 10, log.subjects_of(lengths >= long))
    done = log.n_stays / len(log.stay)
    yield _figure(
        "launch prefixes already holding every discharge row", 0.056, done, 0.002, everyone
    )


def _lengths_by_group(log: Log, people: pl.DataFrame) -> Iterator[PublishedRow]:
    acuity = people["acuity"].fill_null(0).to_numpy()
    yield from _mean_lengths(
        log,
        ("acuity 1", acuity == 1, 21.9, 0.05),
        ("acuity 2", acuity == 2, 20.7, 0.05),
        ("acuity 3", acuity == 3, 16.4, 0.05),
        ("acuity 4-5", acuity >= 4, 9.9, 0.05),
        ("acuity missing", acuity == 0, 14.2, 0.05),
    )
    disposition = people["disposition"].fill_null("").to_numpy()
    home, admitted = disposition == "HOME", disposition == "ADMITTED"
    yield from _mean_lengths(
        log,
        ("HOME", home, 15.2, 0.04),
        ("ADMITTED", admitted, 22.0, 0.04),
        ("other disposition", ~home & ~admitted, 15.0, 0.15),
    )


def _mean_lengths(
    log: Log, *groups: tuple[str, NDArray[np.bool_], float, float]
) -> Iterator[PublishedRow]:
    """Rows per stay of groups that together are all stays: name, stays, published, tolerance."""
    lengths = log.per_stay()
    shown = _subjects_of_shown(log, {name: stays for name, stays, _, _ in groups})
    for name, stays, published, share in groups:
        quantity, ours = f"rows per stay, {name}", _mean(lengths[stays])
        yield _share_of(quantity, published, ours, share, shown.get(name, 0))


def _subjects_of_shown(log: Log, groups: Mapping[str, NDArray[np.bool_]]) -> dict[str, int]:
    """Subjects of each group that may be shown: where one is small, the next smallest hides too."""
    cells = [Cell(name, int(m.sum()), log.subjects_of(m)) for name, m in groups.items()]
    return {cell.name: cell.n_subjects for cell in without_small_cells(cells)[0]}


def _durations(log: Log, people: pl.DataFrame) -> Iterator[PublishedRow]:
    hours = people["los_minutes"].to_numpy() / 60
    for name, q, published, share in (
        ("first quartile", 0.25, 3.53, 0.03),
        ("median", 0.50, 5.47, 0.03),
        ("third quartile", 0.75, 8.32, 0.03),
        ("1st percentile", 0.01, 0.77, 0.25),
        ("99th percentile", 0.99, 30.5, 0.12),
    ):
        ours = np.quantile(hours, q)
        behind = log.smaller_side(hours > ours)
        yield _share_of(f"length of stay, {name}, hours", published, ours, share, behind)
    everyone = log.subjects_of(hours >= 0)
    yield _share_of("length of stay, mean, hours", 7.16, hours.mean(), 0.03, everyone)
    yield _share_of("length of stay, sd, hours", 6.63, hours.std(), 0.06, everyone)


DISPOSITIONS = (
    ("HOME", ("HOME",), 0.569),
    ("ADMITTED", ("ADMITTED",), 0.372),
    ("TRANSFER", ("TRANSFER",), 0.017),
    ("LEFT WITHOUT BEING SEEN", ("LEFT WITHOUT BEING SEEN",), 0.015),
    ("ELOPED", ("ELOPED",), 0.013),
    ("LEFT AGAINST MEDICAL ADVICE", ("LEFT AGAINST MEDICAL ADVICE",), 0.004),
    ("OTHER or EXPIRED", ("OTHER", "EXPIRED"), 0.011),
)
TRANSPORTS = (
    ("walk-in", ("WALK IN",), 0.593),
    ("ambulance or helicopter", ("AMBULANCE", "HELICOPTER"), 0.366),
    ("other or unknown", ("OTHER", "UNKNOWN"), 0.041),
)


def _shares(log: Log, people: pl.DataFrame) -> Iterator[PublishedRow]:
    """Shares that add up to one: a small one among them hides the next smallest as well."""
    for column, groups, tolerance in (
        ("disposition", DISPOSITIONS, 0.008),
        ("transport", TRANSPORTS, 0.012),
    ):
        recorded = people[column].fill_null("").to_numpy()
        marks = {name: np.isin(recorded, values) for name, values, _ in groups}
        shown = _subjects_of_shown(log, marks)
        for name, _, published in groups:
            quantity, behind = f"{column} {name}, share of stays", shown.get(name, 0)
            yield _figure(quantity, published, marks[name].mean(), tolerance, behind)


def _bursts(log: Log) -> Iterator[PublishedRow]:
    """Repeats of one activity in short succession, and the lengths once they are collapsed."""
    collapsed = np.zeros(log.n_stays, dtype=np.int64)
    for activity, close, repeating in (
        (ENTER, None, None),
        (TRIAGE, None, None),
        (RECON, (0.889, 0.02), 0.887),
        (DISP, (0.493, 0.02), 0.712),
        (DISCHARGE, (0.528, 0.02), 0.603),
        (VITAL, (0.014, 0.006), 0.022),
    ):
        rows = log.activity == activity
        stay, minutes = log.stay[rows], log.minutes[rows]
        gap = np.where(stay[1:] == stay[:-1], np.diff(minutes), np.inf)
        near = gap <= 2 + 1e-9
        collapsed += np.bincount(stay, minlength=log.n_stays)
        collapsed -= np.bincount(stay[1:][near], minlength=log.n_stays)
        if close is None or repeating is None:
            continue
        name = SHORT[activity].lower()
        share = near.sum() / max(len(stay), 1)
        quantity, behind = f"{name} rows within 2 min of the same, share", stay[1:][near]
        yield _figure(quantity, close[0], share, close[1], log.subjects_of(behind))
        at_once = np.unique(stay[1:][gap <= 61 / 60])
        quantity, behind = f"stays repeating {name} within 61 s, share", log.subjects_of(at_once)
        share = len(at_once) / max(len(np.unique(stay)), 1)
        yield _figure(quantity, repeating, share, 0.03, behind)
    everyone = log.subjects_of(collapsed >= 0)
    for quantity, published, ours in (
        ("rows per stay collapsed at 2 min, mean", 8.79, collapsed.mean()),
        (COLLAPSED_SD, 4.55, collapsed.std()),
    ):
        yield _share_of(quantity, published, ours, 0.03, everyone)
    for name, q, published in (
        ("first quartile", 0.25, 6),
        ("median", 0.5, 8),
        ("third quartile", 0.75, 10),
    ):
        quantity, ours = f"rows per stay collapsed at 2 min, {name}", np.quantile(collapsed, q)
        behind = log.smaller_side(collapsed > ours)
        yield _share_of(quantity, published, ours, 0.03, behind)


def _transitions(log: Log) -> Iterator[PublishedRow]:
    """What follows what once rows of equal stay, time and activity are one.

    Such rows stand next to each other under the tie rule of the MIMIC sources.
    """
    same = (
        (log.stay[1:] == log.stay[:-1])
        & (log.minutes[1:] == log.minutes[:-1])
        & (log.activity[1:] == log.activity[:-1])
    )
    kept = np.concatenate([[True], ~same])
    everyone = log.subjects_of(np.arange(log.n_stays))
    per_stay = kept.sum() / log.n_stays
    yield _share_of("rows per stay, exact repeats removed", 9.58, per_stay, 0.03, everyone)
    stay, activity = log.stay[kept], log.activity[kept].astype(np.int64)
    follows = stay[1:] == stay[:-1]
    first, second, of_stay = activity[:-1][follows], activity[1:][follows], stay[1:][follows]
    for before, after, published, tolerance in TRANSITIONS:
        leaves = first == before
        takes = second[leaves] == after
        behind = min(log.subjects_of(of_stay[leaves][side]) for side in (takes, ~takes))
        quantity = f"{SHORT[before]} to {SHORT[after]}, share"
        yield _figure(quantity, published, _mean(takes), tolerance, behind)
