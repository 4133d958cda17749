"""Who trains, who validates, who tests: always whole subjects, never by chance that moves.

A subject's part follows from a keyed hash of its id alone, so adding data moves nobody.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from edsim import seeds
from edsim.errors import BadInputError
from edsim.tables.extract import Step
from edsim.tables.visits import SPLITS

if TYPE_CHECKING:
    import polars as pl

TRAIN_SHARE, VAL_SHARE = 0.70, 0.15
TEMPORAL_TRAIN_SHARE = 0.85
_YEARS = r"^\s*(\d{4})\s*-\s*(\d{4})\s*$"


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitRule:
    """How subjects are divided; `seed` keys the hash.

    `auto`: `given` where the source brings a split of its own, `subject` elsewhere.
    `subject`: 70/15/15. `temporal`: subjects with a stay in a period that ends by `train_until`
    are divided 85/15 into train and validation, stays of others in a period that begins at
    `test_from` or later are the test; the rest is left out. `given`: the source's own split.
    """

    kind: Literal["auto", "subject", "temporal", "given"] = "auto"
    seed: int = 0
    train_until: int = 2013
    test_from: int = 2017

    def __post_init__(self) -> None:
        if self.kind == "temporal" and self.train_until >= self.test_from:
            raise BadInputError(
                f"--train-until {self.train_until} does not lie before --test-from "
                f"{self.test_from}: the training period must end before the test begins."
            )

    def chosen(self, stays: pl.DataFrame) -> SplitRule:
        """The rule with `auto` decided by what the stays bring."""
        if self.kind != "auto":
            return self
        brought = stays["split"].null_count() < stays.height
        return replace(self, kind="given" if brought else "subject")

    def sentence(self) -> str:
        """The rule in words, for the manifest and `show`."""
        return {
            "subject": f"subjects 70/15/15 by keyed hash, seed {self.seed}",
            "temporal": (
                f"train and validation: subjects up to {self.train_until}, 85/15 by keyed hash, "
                f"seed {self.seed}; test: from {self.test_from}"
            ),
            "given": "as given by the source",
            "auto": "as given by the source, or by subject",
        }[self.kind]


def divide(
    stays: pl.DataFrame, events: pl.DataFrame, rule: SplitRule
) -> tuple[pl.DataFrame, pl.DataFrame, tuple[Step, ...]]:
    """Stays with their part, without those the rule leaves out, and the step that counts it."""
    rule = rule.chosen(stays)
    split = {"subject": _by_subject, "temporal": _by_period, "given": _as_given}[rule.kind](
        stays, rule
    )
    stays = stays.with_columns(split.alias("split"))
    kept = split.is_not_null()
    if not kept.all():
        stays, events = _without(stays, events, kept)
    _check_parts(stays, rule)
    steps: tuple[Step, ...] = ()
    if not kept.all() or rule.kind != "subject":
        step = Step(
            rule=f"in a part of the split ({rule.sentence()})",
            n_stays=stays.height,
            n_subjects=stays["subject_id"].n_unique(),
            n_events=events.height,
        )
        steps = (step,)
    return stays, events, steps


def _chance(stays: pl.DataFrame, seed: int) -> NDArray[np.float64]:
    """One number in [0, 1) per stay, the same for all stays of a subject."""
    subjects = stays["subject_id"].unique()
    chance = seeds.uniform(seeds.keys("split", seed, subjects.to_list()))
    row = stays["subject_id"].replace_strict(subjects, np.arange(len(subjects))).to_numpy()
    return np.asarray(chance[row])


def _by_subject(stays: pl.DataFrame, rule: SplitRule) -> pl.Series:
    import polars as pl

    parts = np.digitize(_chance(stays, rule.seed), [TRAIN_SHARE, TRAIN_SHARE + VAL_SHARE])
    return pl.Series(SPLITS).gather(parts)


def _by_period(stays: pl.DataFrame, rule: SplitRule) -> pl.Series:
    """Training subjects never test, even where a later stay of theirs lies in the test period."""
    import polars as pl

    n_unknown = stays.height - int(stays["period"].str.contains(_YEARS).sum())
    if n_unknown == stays.height:
        raise BadInputError(
            "a temporal split needs the calendar period of the stays, and this source gives none. "
            "For MIMIC name the folder of the hosp module with --hosp (it holds patients.csv)."
        )
    years = stays.select(
        pl.col("period").str.extract(_YEARS, 1).cast(pl.Int32).alias("first"),
        pl.col("period").str.extract(_YEARS, 2).cast(pl.Int32).alias("last"),
    )
    early = (years["last"] <= rule.train_until).fill_null(False)
    late = (years["first"] >= rule.test_from).fill_null(False)
    trains = stays["subject_id"].is_in(stays["subject_id"].filter(early).unique().implode())
    validates = pl.Series(_chance(stays, rule.seed) >= TEMPORAL_TRAIN_SHARE)
    return pl.select(
        pl.when(early & validates)
        .then(pl.lit("val"))
        .when(early)
        .then(pl.lit("train"))
        .when(late & ~trains)
        .then(pl.lit("test"))
    ).to_series()


def _as_given(stays: pl.DataFrame, rule: SplitRule) -> pl.Series:
    import polars as pl

    given = stays.filter(pl.col("split").is_not_null())
    if given.is_empty():
        raise BadInputError(
            "--split given needs a split that comes with the data, and none came. That of MC-MED "
            "is read with --splits random or --splits chrono; where there is none, use "
            "--split subject."
        )
    parts = given.group_by("subject_id").agg(pl.col("split").n_unique())
    n_torn = int((parts["split"] > 1).sum())
    if n_torn:
        raise BadInputError(
            f"{n_torn} of {parts.height} subjects are in more than one part of the given split. "
            "A subject belongs to one part: correct the split files or use --split subject."
        )
    return stays["split"]


def _without(
    stays: pl.DataFrame, events: pl.DataFrame, kept: pl.Series
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The kept stays and their events, with stay numbers closed up again."""
    import polars as pl

    stay = events["stay"].to_numpy()
    keeps = kept.to_numpy()
    new_number = (np.cumsum(keeps) - 1).astype(np.uint32)
    inside = keeps[stay]
    events = events.filter(pl.Series(inside)).with_columns(
        pl.Series("stay", new_number[stay[inside]])
    )
    return stays.filter(kept), events


def _check_parts(stays: pl.DataFrame, rule: SplitRule) -> None:
    empty = [part for part in SPLITS if not (stays["split"] == part).any()]
    if empty:
        raise BadInputError(
            f"the split leaves no stay for {' and '.join(empty)} ({stays.height} stays; rule: "
            f"{rule.sentence()}). Use more data, another --split-seed or another --split."
        )
