"""What is said of a rollouts table as a whole, and not launch by launch: the classifier's test, and
how far apart two samples of real suffixes of its size are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from edsim.lab.beside_truth import beside_truth
from edsim.lab.cohort import Cohort
from edsim.lab.references import REFERENCE, kept_rollouts
from edsim.metrics.composition import composition_jsd
from edsim.metrics.figures import Group
from edsim.metrics.real_vs_real import yardstick_rows
from edsim.metrics.registry import FULL_TEST, METRICS
from edsim.metrics.score_rows import ZERO_REFERENCE, group_rows
from edsim.metrics.small_cells import SMALL
from edsim.metrics.two_sample_rows import two_sample_rows
from edsim.privacy import small
from edsim.progress import Progress, silent
from edsim.tables.scores import ScoreRow

ALL_LAUNCHES = "all"
NO_FULL_TEST = (
    "the order-3 model's rollouts of all test launches are not there: run the same `edsim score "
    "FILE --cohort DIR --slow` once where torch is installed, which keeps them with the cohort"
)


def told_apart(group: Group, cohort: Cohort, vocabulary: str) -> list[ScoreRow]:
    """Rows of the classifier two-sample test on the launches of a group."""
    prefixes = cohort.visits(vocabulary).prefixes(group.rollouts().launches)
    return two_sample_rows(group, prefixes)


def real_vs_real(
    group: Group, cohort: Cohort, vocabulary: str, asked: Sequence[tuple[str, Sequence[str]]]
) -> list[ScoreRow]:
    """Rows of yardsticks; `asked` are names of divergences, each with its kinds of yardstick."""
    if group.restricted and small(group.counts["n_subjects"]):
        return [
            ScoreRow(metric=f"{name}_{kind}", value=None, note=SMALL)
            for name, kinds in asked
            for kind in kinds
        ]
    launches = np.asarray(cohort.launches(ALL_LAUNCHES))
    population = cohort.visits(vocabulary).suffixes(launches), launches
    scored = group.rollouts().observed, group.rollouts().launches
    return [
        row
        for name, kinds in asked
        for row in yardstick_rows(METRICS[name], kinds, population, scored, group.facts)
    ]


def times_full_test(
    group: Group, cohort: Cohort, vocabulary: str, progress: Progress = silent
) -> ScoreRow:
    """The divergence over the order-3 model's on all test launches, as the paper's seed audit has
    it; that is one number, so the interval is the divergence's own."""
    ours = group_rows(group, [METRICS["jsd"]])[0]
    empty = replace(
        ours, metric=FULL_TEST, value=None, corrected=None, low=None, high=None, floor=None
    )
    empty = replace(empty, floor_kind="", reference=None, loss=None, position=None, unit="times")
    empty = replace(empty, bias=None, excess=None)
    if ours.value is None:
        return empty
    cap = group.rollouts().cap
    try:
        kept = kept_rollouts(
            cohort, REFERENCE, launches=ALL_LAUNCHES, vocabulary=vocabulary, cap=cap,
            progress=progress,
        )  # fmt: skip
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        return replace(empty, note=NO_FULL_TEST)
    whole = composition_jsd(beside_truth(kept, cohort))
    if not whole > 0:
        return replace(empty, note=ZERO_REFERENCE)

    def times(value: float | None) -> float | None:
        return None if value is None else value / whole

    return replace(
        empty,
        value=times(ours.value),
        corrected=times(ours.corrected),
        low=times(ours.low),
        high=times(ours.high),
        loss=times(ours.value),
        reference=times(ours.reference),
        note="",
    )
