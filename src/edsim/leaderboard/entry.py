"""What an entry of a leaderboard has to be: a score sheet that is whole, plausible and shareable.

Every rule is a function of a sheet that says in sentences what is wrong. A sentence names rows by
number and never by their content: it stands in the open, beside a contribution.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from edsim.errors import BadTableError
from edsim.privacy import SMALLEST_CELL
from edsim.report.material import Material, is_open_loop
from edsim.report.share import rests_on_few
from edsim.report.share import shareable as shareable_material
from edsim.tables.extract import Step
from edsim.tables.from_json import object_from_json
from edsim.tables.scores import ScoreRow, ScoreSheet

MEASURES = (
    "termination",
    "reached_discharge",
    "jsd",
    "jsd_per_rollout",
    "jsd_pairs",
    "jsd_triples",
    "duration_ratio",
    "los_mae",
    "occupancy_mae",
)
"""Everybody is asked all of these: what came out badly cannot be left away."""
ALWAYS_KNOWN = ("termination", "jsd", "occupancy_mae")
"""Those that have a value whatever was generated."""
WITH_FLOOR = ("termination", "jsd", "jsd_pairs", "jsd_triples", "duration_ratio", "occupancy_mae")
WITH_REFERENCE = ("termination", "jsd", "jsd_triples", "occupancy_mae")

SPLITS = ("train", "val", "test")
LONGEST_TEXT = 400
"""Characters of any text."""
MOST_ROWS = 20_000
_LAUNCH_SETS = re.compile(r"all|triage|late|long-prefix|matched-([1-9]\d*)(k?)")
_HASH = re.compile(r"[0-9a-f]{64}")
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_LARGEST = {
    "jsd": math.log(2),
    "termination": 1.0,
    "reached_discharge": 1.0,
    "occupancy_mae": 100.0,
}
"""No value can be above; of `jsd` also of its variants."""
_CLOSE = 1e-6


def shareable(sheet: ScoreSheet) -> ScoreSheet:
    """The sheet as `edsim report --share` would pass it on."""
    return shareable_material(Material(sheets=(sheet,))).sheets[0]


def problems_of(sheet: ScoreSheet) -> list[str]:
    """Everything that keeps a sheet off the board; nothing where it is welcome."""
    try:
        cohort_of(sheet)
    except BadTableError as error:
        return [str(error)]
    if is_open_loop(sheet):
        return ["these are scores of predictions; a board is of rollouts."]
    return [sentence for rule in RULES for sentence in rule(sheet)]


@dataclass(frozen=True, slots=True, kw_only=True)
class PartFacts:
    """How much is in a part of the split."""

    stays: int
    subjects: int
    events: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitFacts:
    """How a cohort was divided."""

    rule: str
    parts: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class CohortFacts:
    """What a sheet may say of its cohort: this and nothing else."""

    id: str
    content_hash: str
    source: str
    restricted: bool
    time_of_day: bool
    n_stays: int
    n_subjects: int
    n_events: int
    cap: int
    split: SplitFacts
    attrition: tuple[Step, ...]
    discharges: tuple[str, ...]


def cohort_of(sheet: ScoreSheet) -> CohortFacts:
    """The cohort of a sheet; a field that is missing, unknown or of another type is refused."""
    facts = object_from_json(CohortFacts, dict(sheet.cohort), "the cohort of the sheet")
    for name, part in facts.split.parts.items():
        if name not in SPLITS:
            raise BadTableError("the cohort of the sheet has a part of the split that is unknown.")
        object_from_json(PartFacts, part, f"part {name} of the split")
    return facts


def _cohort(sheet: ScoreSheet) -> Iterator[str]:
    cohort = cohort_of(sheet)
    if not _HASH.fullmatch(cohort.content_hash):
        yield "the cohort has no content hash of 64 hexadecimal digits."
    elif cohort.id != f"{cohort.source}-{cohort.content_hash[:12]}":
        yield "the cohort's id is not its source and the beginning of its content hash."
    if not 0 < cohort.n_subjects <= cohort.n_stays <= cohort.n_events:
        yield "the cohort has no subjects, more of them than stays, or more stays than events."
    if not _HASH.fullmatch(sheet.vocabulary_sha256):
        yield "the vocabulary has no hash of 64 hexadecimal digits."


def _launches(sheet: ScoreSheet) -> Iterator[str]:
    found = _LAUNCH_SETS.fullmatch(sheet.launches)
    if found is None:
        yield (
            "the launch set is none of the test split that a board knows: all, matched-N, triage, "
            "late, long-prefix."
        )
        return
    row = sheet.find("termination")
    most = int(found[1]) * (1000 if found[2] else 1) if found[1] else None
    if row is not None and most is not None and row.n_launches > most:
        yield f"{row.n_launches:,} launches were scored, and the launch set has at most {most:,}."


def _complete(sheet: ScoreSheet) -> Iterator[str]:
    for metric in MEASURES:
        row = sheet.find(metric)
        if row is None:
            yield f"`{metric}` of all launches is not among the rows: score with all measures."
        elif row.value is None and (metric in ALWAYS_KNOWN or not row.note):
            yield f"`{metric}` of all launches has no value" + (
                "." if metric in ALWAYS_KNOWN else ", and no note says why."
            )
        elif row.value is not None and (row.low is None or row.high is None):
            yield f"`{metric}` of all launches has no interval."


def _floors(sheet: ScoreSheet) -> Iterator[str]:
    for metric in WITH_FLOOR:
        row = sheet.find(metric)
        if row is not None and row.value is not None and row.floor is None and not row.note:
            yield f"`{metric}` has no floor, and no note says why."
        elif row is not None and row.floor is not None and not row.floor_kind:
            yield f"the floor of `{metric}` does not say where it comes from."
    for metric in WITH_REFERENCE:
        row = sheet.find(metric)
        if row is not None and row.value is not None and row.reference is None:
            yield (
                f"`{metric}` has no reference: score where the order-3 model's rollouts are, or "
                "where torch is installed."
            )


def _plausible(sheet: ScoreSheet) -> Iterator[str]:
    if sheet.draws < 1 or sheet.cap < 1:
        yield "the number of draws or the cap is below 1."
    keys = [(row.metric, row.population, row.group, row.at) for row in sheet.rows]
    if len(set(keys)) < len(keys):
        yield f"{len(keys) - len(set(keys))} of {len(keys)} rows repeat another."
    for rule, says in ROW_RULES.items():
        wrong = [i for i, row in enumerate(sheet.rows) if not rule(row)]
        if wrong:
            yield f"{len(wrong)} of {len(keys)} rows {says}, first row {wrong[0]}."


def _counts_fit(row: ScoreRow) -> bool:
    known = [n for n in (row.n_launches, row.n_stays, row.n_subjects) if n]
    return min((row.n_launches, row.n_stays, row.n_subjects)) >= 0 and known == sorted(
        known, reverse=True
    )


def _interval_is_one(row: ScoreRow) -> bool:
    return row.low is None or row.high is None or row.low <= row.high


def _value_is_possible(row: ScoreRow) -> bool:
    if row.value is None:
        return row.loss is None and row.position is None
    largest = _LARGEST.get("jsd" if row.metric.startswith("jsd") else row.metric, math.inf)
    least = 0.0 if math.isfinite(largest) else -math.inf
    return least <= row.value <= largest + _CLOSE


def _loss_fits(row: ScoreRow) -> bool:
    if row.loss is None or row.value is None:
        return True
    return row.loss >= 0 and (row.target != "low" or math.isclose(row.loss, row.value))


def _position_fits(row: ScoreRow) -> bool:
    """Where the loss is the value itself, the position follows from the row alone."""
    if row.position is None or row.target != "low" or row.loss is None:
        return True
    if row.floor is None or row.reference is None or row.reference <= row.floor:
        return False
    expected = (row.loss - row.floor) / (row.reference - row.floor)
    return math.isclose(row.position, expected, rel_tol=_CLOSE, abs_tol=_CLOSE)


ROW_RULES: dict[Callable[[ScoreRow], bool], str] = {
    lambda row: bool(_NAME.fullmatch(row.metric)): "have a measure whose name is none",
    _counts_fit: "count more subjects than stays, or more stays than launches",
    _interval_is_one: "have an interval whose ends are swapped",
    _value_is_possible: "have a value that the measure cannot have",
    _loss_fits: "have a loss that does not fit the value",
    _position_fits: "have a position that does not follow from value, floor and reference",
}


def _private(sheet: ScoreSheet) -> Iterator[str]:
    """Nothing of fewer than ten subjects, and nothing that sharing would have taken out."""
    small = [i for i, row in enumerate(sheet.rows) if rests_on_few(row)]
    if small:
        yield (
            f"{len(small)} of {len(sheet.rows)} rows have a number of fewer than {SMALLEST_CELL} "
            f"subjects, or do not say of how many, first row {small[0]}."
        )
    if shareable(sheet) != sheet:
        yield (
            "it holds what is never shared, such as texts of a recipe, small cells of the split, "
            "or a folder's name. `edsim board add` takes that out."
        )


def _texts(sheet: ScoreSheet) -> Iterator[str]:
    if len(sheet.rows) > MOST_ROWS:
        yield f"it has {len(sheet.rows):,} rows; at most {MOST_ROWS:,} are taken."
    texts = [*_texts_in(asdict(sheet))]
    long = sum(len(text) > LONGEST_TEXT for text in texts)
    if long:
        yield f"{long} texts are longer than {LONGEST_TEXT} characters."
    odd = sum(any(ord(sign) < 32 or ord(sign) == 127 for sign in text) for text in texts)
    if odd:
        yield f"{odd} texts hold control characters."


def _texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, one in value.items():
            yield from _texts_in(name)
            yield from _texts_in(one)
    elif isinstance(value, Sequence):
        for one in value:
            yield from _texts_in(one)


RULES: tuple[Callable[[ScoreSheet], Iterator[str]], ...] = (
    _cohort,
    _launches,
    _complete,
    _floors,
    _plausible,
    _private,
    _texts,
)
