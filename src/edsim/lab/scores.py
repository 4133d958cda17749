"""Scores of rollouts: every measure beside the truth, the order-3 model and the oracle.

Reference and oracle rollouts are artifacts of the cohort: found there, or made where torch is
installed. Without them every measure is still scored, and what needs them says how to get them.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edsim import __version__
from edsim.cohort.manifest import Manifest
from edsim.errors import BadInputError
from edsim.lab.beside_truth import beside_truth, check_draws, ensemble_of
from edsim.lab.cohort import Cohort, subjects_of
from edsim.lab.diagnose import diagnose
from edsim.lab.launch_sets import launch_set_of
from edsim.lab.oracle import PRODUCER as ORACLE
from edsim.lab.populations import NOBODY, POPULATIONS, launch_facts
from edsim.lab.references import REFERENCE, has_oracle, kept_rollouts
from edsim.lab.scoring_facts import scoring_facts
from edsim.lab.whole_tables import real_vs_real, times_full_test, told_apart
from edsim.metrics.figures import Group, Table, part_of
from edsim.metrics.measure import Measure
from edsim.metrics.registry import (
    BEYOND,
    BY_GROUP,
    FULL_TEST,
    METRICS,
    OF_YARDSTICKS,
    SHARED,
    SLOW,
    measures_named,
)
from edsim.metrics.resampling import RESAMPLES, resample_weights, stays_of
from edsim.metrics.score_rows import group_rows
from edsim.metrics.two_sample import TWO_SAMPLE
from edsim.privacy import Cell, hidden_parts, without_small_cells, without_small_steps
from edsim.progress import Progress, silent
from edsim.tables.rollouts import Rollouts
from edsim.tables.scores import ScoreRow, ScoreSheet
from edsim.tables.verdicts import Verdict

AT_A_TIME = 2
"""Measures that are worked on side by side; more would take more memory."""
EVERY = "every"
"""In place of names of populations: all of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreSettings:
    """What is to be scored."""

    metrics: Sequence[str] | None = None
    """Names of measures; all but the slow ones where None."""
    populations: Sequence[str] = ()
    resamples: int = RESAMPLES
    slow: bool = False
    """Whether slow measures count among all."""

    def __post_init__(self) -> None:
        unknown = [name for name in self.populations if name not in (*POPULATIONS, EVERY)]
        if unknown:
            close = difflib.get_close_matches(unknown[0], [*POPULATIONS, EVERY], n=1)
            hint = f" Did you mean '{close[0]}'?" if close else ""
            raise BadInputError(
                f"there is no population '{unknown[0]}'.{hint} Known: {', '.join(POPULATIONS)}; or "
                f"'{EVERY}' for all of them."
            )
        if self.resamples < 2:
            raise BadInputError("an interval needs at least 2 resamples.")
        self.measures()

    def measures(self) -> list[Measure]:
        """What is said of all launches."""
        if self.metrics is not None:
            return measures_named([name for name in self.metrics if name not in BEYOND])
        return [measure for measure in METRICS.values() if self.slow or not measure.slow]

    def beyond(self) -> list[str]:
        """What is said of the table as a whole, names of BEYOND."""
        if self.metrics is not None:
            return [name for name in BEYOND if name in self.metrics]
        return [name for name in BEYOND if self.slow or name not in SLOW]

    def measures_of_groups(self) -> list[Measure]:
        """What is said of the groups of a population: the few that fit, or what was asked for."""
        return [
            measure
            for measure in self.measures()
            if not measure.by_token and (self.metrics is not None or measure.name in BY_GROUP)
        ]

    def chosen_populations(self) -> list[str]:
        """Names of POPULATIONS, in its order."""
        return [name for name in POPULATIONS if {name, EVERY} & set(self.populations)]


def score(
    rollouts: Rollouts,
    cohort: Cohort,
    *,
    metrics: Sequence[str] | None = None,
    resamples: int = RESAMPLES,
    populations: Sequence[str] = (),
    slow: bool = False,
    progress: Progress = silent,
) -> ScoreSheet:
    """Everything that can be said about one table of rollouts."""
    settings = ScoreSettings(
        metrics=metrics, resamples=resamples, populations=populations, slow=slow
    )
    return score_all([rollouts], cohort, settings, progress)[0]


def score_all(
    tables: Sequence[Rollouts],
    cohort: Cohort,
    settings: ScoreSettings | None = None,
    progress: Progress = silent,
) -> list[ScoreSheet]:
    """A sheet for each table; where several are of the same launches, durations are compared on
    those where all of them end."""
    settings = settings or ScoreSettings()
    shared = _shared_launches(tables)
    return [_sheet(rollouts, cohort, settings, shared, progress) for rollouts in tables]


def _shared_launches(tables: Sequence[Rollouts]) -> NDArray[np.bool_] | None:
    """Which launches end in all tables, where there are several of the same launches."""
    first = [table.launches[table.draw == 0] for table in tables]
    if len(tables) < 2 or not all(np.array_equal(first[0], one) for one in first):
        return None
    ended = [table.terminated()[table.draw == 0] for table in tables]
    return np.asarray(reduce(np.logical_and, ended))


def _sheet(
    rollouts: Rollouts,
    cohort: Cohort,
    settings: ScoreSettings,
    shared: NDArray[np.bool_] | None,
    progress: Progress,
) -> ScoreSheet:
    group = scored_group(rollouts, cohort, resamples=settings.resamples, progress=progress)
    measures, of_groups = settings.measures(), settings.measures_of_groups()
    chosen = settings.chosen_populations()
    n_parts = len(measures) + len(chosen) + len(settings.beyond())
    progress.stage(f"scoring {rollouts.header.producer}", n_parts, "measures")
    rows: list[ScoreRow] = []
    batches = _of_the_same_sums(measures)
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        made = pool.map(lambda batch: group_rows(group, batch), batches)
        for batch, found in zip(batches, made, strict=True):
            rows += found
            progress.advance(len(batch))
    if shared is not None:
        rows += _on_shared(group, shared, measures)
    for name in chosen:
        rows += population_rows(group, cohort, rollouts.header.vocabulary, name, of_groups)
        progress.advance(1)
    rows += _beyond_rows(group, cohort, rollouts.header.vocabulary, settings.beyond(), progress)
    return _with_header(rollouts, cohort, rows, diagnose(rollouts, cohort))


def _of_the_same_sums(measures: Sequence[Measure]) -> list[list[Measure]]:
    """Measures that are made of the same sums stand together, so that these are made once."""
    batches: dict[Any, list[Measure]] = {}
    for measure in measures:
        batches.setdefault(measure.sums, []).append(measure)
    return list(batches.values())


def _beyond_rows(
    group: Group, cohort: Cohort, vocabulary: str, names: Sequence[str], progress: Progress
) -> list[ScoreRow]:
    """What is said of the table as a whole. All rows of a test are there where one was wanted."""
    asked: dict[str, list[str]] = {}
    for name in [name for name in names if name in OF_YARDSTICKS]:
        of, kind = OF_YARDSTICKS[name]
        asked.setdefault(of, []).append(kind)
    rows = real_vs_real(group, cohort, vocabulary, list(asked.items()))
    if FULL_TEST in names:
        rows.append(times_full_test(group, cohort, vocabulary, progress))
    if set(names) & TWO_SAMPLE.keys():
        rows += told_apart(group, cohort, vocabulary)
    progress.advance(len(names))
    return rows


def scored_group(
    rollouts: Rollouts,
    cohort: Cohort,
    *,
    resamples: int = RESAMPLES,
    progress: Progress = silent,
) -> Group:
    """All launches of a table beside the truth, the reference and the oracle."""
    header = rollouts.header
    launches = launch_set_of(rollouts, cohort)
    reference = _kept(REFERENCE, rollouts, cohort, launches, progress)
    oracle = _kept(ORACLE, rollouts, cohort, launches, progress) if has_oracle(cohort) else None
    table = table_of(rollouts, cohort)
    stays, _ = stays_of(table.first.launches)
    return Group(
        table=table,
        facts=scoring_facts(cohort, header.vocabulary),
        weights=resample_weights(len(stays), resamples),
        subject_of_stay=subjects_of(cohort)[stays],
        reference=reference,
        no_reference=(
            "the order-3 model's rollouts are not there: run the same `edsim score FILE --cohort "
            "DIR` once where torch is installed, which keeps them with the cohort"
        ),
        oracle=oracle,
        restricted=cohort.manifest.restricted,
    )


def _kept(
    producer: str, rollouts: Rollouts, cohort: Cohort, launches: str, progress: Progress
) -> Table | None:
    """Rollouts of the cohort's own on the same launches, with as many draws; None without torch."""
    header = rollouts.header
    try:
        found = kept_rollouts(
            cohort,
            producer,
            launches=launches,
            vocabulary=header.vocabulary,
            cap=header.cap,
            draws=header.draws,
            progress=progress,
        )
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        return None
    return table_of(found, cohort)


def table_of(rollouts: Rollouts, cohort: Cohort) -> Table:
    """The rollouts beside what was observed, all draws of them where there are several."""
    check_draws(rollouts)
    every = ensemble_of(rollouts, cohort) if rollouts.header.draws > 1 else None
    return Table(beside_truth(rollouts, cohort), every)


def _on_shared(
    group: Group, shared: NDArray[np.bool_], measures: Sequence[Measure]
) -> list[ScoreRow]:
    ratio = METRICS["duration_ratio"]
    if ratio not in measures:
        return []
    rows = group_rows(part_of(group, shared, on_outcome=not shared.all()), [ratio])
    return [replace(row, metric=SHARED) for row in rows]


def population_rows(
    group: Group, cohort: Cohort, vocabulary: str, name: str, measures: Sequence[Measure]
) -> list[ScoreRow]:
    """The rows of each group of a population; of restricted data none that is of few people."""
    population = POPULATIONS[name]
    launches = group.table.first.launches
    labels = population.labels(launch_facts(cohort, launches, vocabulary))
    _, stay = stays_of(launches)
    subjects = group.subject_of_stay[stay]
    found = [label for label in np.unique(labels) if label != NOBODY]
    cells = [
        Cell(label, int((labels == label).sum()), len(np.unique(subjects[labels == label])))
        for label in found
    ]
    shown = {cell.name for cell in without_small_cells(cells)[0]} if group.restricted else found
    rows: list[ScoreRow] = []
    for label in found:
        some = part_of(
            group,
            labels == label,
            population=name,
            label=str(label),
            on_outcome=population.on_outcome,
            hidden=label not in shown,
        )
        rows += group_rows(some, measures)
    return rows


def _with_header(
    rollouts: Rollouts, cohort: Cohort, rows: Sequence[ScoreRow], verdicts: Sequence[Verdict]
) -> ScoreSheet:
    header = rollouts.header
    return ScoreSheet(
        producer=header.producer,
        producer_version=header.producer_version,
        recipe=header.recipe,
        training_seed=header.training_seed,
        rule=header.rule,
        clock=header.clock,
        launches=launch_set_of(rollouts, cohort),
        cap=header.cap,
        draws=header.draws,
        rollout_seed=header.seed,
        privileged=header.privileged,
        vocabulary=header.vocabulary,
        vocabulary_sha256=header.vocabulary_sha256,
        tokens=header.tokens,
        cohort=cohort_facts(cohort, header.vocabulary),
        code_version=__version__,
        rows=tuple(rows),
        verdicts=tuple(verdicts),
    )


def cohort_facts(cohort: Cohort, vocabulary: str) -> dict[str, Any]:
    """What a reader of the scores has to know of the data."""
    manifest, resolved = cohort.manifest, cohort.vocabulary(vocabulary)
    steps = manifest.attrition
    return {
        "id": manifest.cohort_id,
        "content_hash": manifest.content_hash,
        "source": manifest.source,
        "restricted": manifest.restricted,
        "time_of_day": manifest.time_of_day,
        "n_stays": manifest.n_stays,
        "n_subjects": manifest.n_subjects,
        "n_events": manifest.n_events,
        "cap": manifest.cap,
        "split": _split(manifest),
        "attrition": [
            asdict(step) for step in (without_small_steps(steps) if manifest.restricted else steps)
        ],
        "discharges": [resolved.tokens[token] for token in resolved.discharges],
    }


def _split(manifest: Manifest) -> dict[str, Any]:
    """The rule of the split and what is in its parts; of restricted data no part of few people."""
    parts = manifest.split["parts"]
    hidden = hidden_parts(parts, restricted=manifest.restricted)
    shown = {part: dict(counts) for part, counts in parts.items() if part not in hidden}
    return {**manifest.split, "parts": shown}
