"""Scores of a cohort's rollouts: which launches have a floor, and producers that are no good."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import edsim
from edsim.cli import run
from edsim.errors import BadInputError, BadTableError
from edsim.lab.beside_truth import expected_of
from edsim.lab.build import build_cohort
from edsim.lab.cohort import Cohort, open_cohort
from edsim.lab.compare import compare
from edsim.lab.populations import POPULATIONS
from edsim.lab.references import kept_rollouts
from edsim.lab.scores import ScoreSettings, score, score_all
from edsim.metrics.registry import METRICS, OF_YARDSTICKS, SHARED
from edsim.sources import SOURCES
from edsim.tables.rollouts import Rollouts
from edsim.tables.rollouts_check import checked
from edsim.tables.rollouts_file import read_rows
from edsim.tables.scores import ScoreRow, ScoreSheet, read_sheet
from edsim.tables.visits import Suffixes

LAUNCHES = "matched-200"
ON_OUTCOME = "selected on the outcome"


@pytest.fixture(scope="module")
def cohort(tmp_path_factory: pytest.TempPathFactory) -> Cohort:
    directory = tmp_path_factory.mktemp("scores") / "C"
    source = SOURCES["synthetic"]
    build_cohort(source, source.options(stays=500), directory)
    return open_cohort(directory)


@pytest.fixture(scope="module")
def good(cohort: Cohort) -> Rollouts:
    return kept_rollouts(cohort, "markov", launches=LAUNCHES)


def with_events(table: Rollouts, rows: list[tuple[list[int], list[float]]]) -> Rollouts:
    tokens, minutes = ([x for row in rows for x in row[k]] for k in (0, 1))
    offsets = np.concatenate([[0], np.cumsum([len(row[0]) for row in rows])])
    made = Suffixes(np.array(tokens, np.int16), np.array(minutes, np.float32), offsets)
    return replace(table, generated=made)


def never_ending(table: Rollouts, some: slice = slice(None)) -> Rollouts:
    """The same event until the cap, in some of the rows."""
    cap, generated = table.header.cap, table.generated
    rows = []
    for i in range(len(table)):
        part = slice(generated.offsets[i], generated.offsets[i + 1])
        rows.append((generated.tokens[part].tolist(), generated.minutes[part].tolist()))
    for i in range(len(table))[some]:
        rows[i] = ([1] * cap, [5.0] * cap)
    return with_events(table, rows)


def constant_clock(table: Rollouts) -> Rollouts:
    minutes = np.full_like(table.generated.minutes, 0)
    return replace(table, generated=replace(table.generated, minutes=minutes))


def sheet_of(cohort: Cohort, table: Rollouts, **more: object) -> ScoreSheet:
    return score(table, cohort, resamples=20, **more)  # type: ignore[arg-type]


def row_of(sheet: ScoreSheet, name: str) -> ScoreRow:
    return next(row for row in sheet.rows if row.metric == name)


def test_launches_where_all_end_are_selected_on_the_outcome(cohort: Cohort, good: Rollouts) -> None:
    settings = ScoreSettings(metrics=["duration_ratio"], resamples=20)
    whole = score_all([good, good], cohort, settings)[0].find(SHARED)
    assert whole is not None and good.terminated().all()
    assert whole.floor_kind == "oracle" and whole.n_launches == 200
    cut = never_ending(good, slice(0, 50))
    for sheet in score_all([good, cut], cohort, settings):
        some = sheet.find(SHARED)
        assert some is not None and some.n_launches == 150
        assert (some.floor, some.position) == (None, None) and ON_OUTCOME in some.note


def test_groups_have_a_floor_where_they_are_known_at_launch(cohort: Cohort, good: Rollouts) -> None:
    names = ["termination", "jsd", "duration_ratio", "occupancy_mae"]
    sheet = sheet_of(cohort, good, metrics=names, populations=["every"])
    held = {row.population for row in sheet.rows}
    assert held == {"all", *POPULATIONS}
    for row in sheet.rows:
        if row.population == "all" or row.value is None or row.metric == "xf":
            continue
        on_outcome = POPULATIONS[row.population].on_outcome
        assert (row.floor is None) == on_outcome, (row.population, row.metric)
        assert (ON_OUTCOME in row.note) == on_outcome
    chosen = {name for name, one in POPULATIONS.items() if one.on_outcome}
    assert chosen == {"length quartile", "completion", "late"}


def launches_of(sheet: ScoreSheet, population: str) -> int:
    rows = [r for r in sheet.rows if r.population == population and r.metric == "termination"]
    return sum(row.n_launches for row in rows)


def test_groups_part_the_launches(cohort: Cohort, good: Rollouts) -> None:
    sheet = sheet_of(cohort, good, metrics=["termination"], populations=["every"])
    for name in (
        "acuity",
        "transport",
        "complaint",
        "sex",
        "race",
        "length quartile",
        "completion",
    ):
        assert launches_of(sheet, name) == 200, name
    assert 0 < launches_of(sheet, "late") < 200 and 0 < launches_of(sheet, "long prefix") < 200


@pytest.mark.parametrize("name", ["never ends", "takes no time", "one launch", "ends at once"])
def test_a_producer_that_is_no_good_gets_numbers_or_reasons(
    cohort: Cohort, good: Rollouts, name: str
) -> None:
    """Null with a reason in words; never 0, nan, or a crash."""
    table = {
        "never ends": lambda: never_ending(good),
        "takes no time": lambda: constant_clock(good),
        "one launch": lambda: kept_rollouts(cohort, "markov", launches="matched-1"),
        "ends at once": lambda: with_events(good, [([0], [0.0])] * len(good)),
    }[name]()
    sheet = sheet_of(cohort, table, slow=True, populations=["acuity", "completion"])
    said = {row.metric for row in sheet.rows}
    assert said >= {one.name for one in METRICS.values()} | OF_YARDSTICKS.keys()
    for row in sheet.rows:
        numbers = (row.value, row.low, row.high, row.corrected, row.floor, row.loss, row.position)
        assert all(number is None or np.isfinite(number) for number in numbers), row
        assert row.value is not None or len(row.note.split()) >= 3, row
    nulls = {row.metric for row in sheet.rows if row.value is None and row.population == "all"}
    assert (
        nulls
        >= {
            "never ends": {one.name for one in METRICS.values() if one.ended_only},
            "takes no time": {"los_rank_correlation", "crps"},
            "one launch": {"los_rank_correlation", "step_jsd", "c2st", "c2st_logit"},
            "ends at once": {"los_rank_correlation", "jsd_pairs", "share_tail_10"},
        }[name]
    )
    assert not nulls & {"termination", "reached_discharge", "jsd", "occupancy_mae"}
    assert len(sheet.verdicts) >= 1


def test_the_multiple_of_the_order_3_model_on_all_launches(cohort: Cohort, good: Rollouts) -> None:
    (jsd, _, times) = sheet_of(cohort, good, metrics=["jsd", "xf_full_test"]).rows
    whole = sheet_of(cohort, kept_rollouts(cohort, "ngram:3", launches="all"), metrics=["jsd"])
    below = row_of(whole, "jsd").value
    assert jsd.value is not None and below is not None and times.metric == "xf_full_test"
    assert times.value == pytest.approx(jsd.value / below)
    assert times.low == pytest.approx((jsd.low or 0) / below)
    assert times.reference == pytest.approx((jsd.reference or 0) / below) and times.floor is None
    assert "xf_full_test" not in {row.metric for row in sheet_of(cohort, good).rows}


@pytest.mark.parametrize("population", ["race", "complaint", "triage", "transport"])
def test_restricted_data_show_no_group_of_few_people(
    cohort: Cohort, good: Rollouts, population: str
) -> None:
    """Nor one more that the total would give away."""
    asked = {"metrics": ["termination", "jsd"], "populations": [population]}
    people = {
        row.group: row.n_subjects
        for row in sheet_of(cohort, good, **asked).rows
        if row.population == population
    }
    assert min(people.values()) < 10
    restricted = replace(cohort, manifest=replace(cohort.manifest, restricted=True))
    found = [r for r in sheet_of(restricted, good, **asked).rows if r.population == population]
    hidden = {row.group for row in found if row.value is None}
    assert hidden >= {name for name, n in people.items() if n < 10}
    assert len(hidden) >= 2
    for row in found:
        if row.group in hidden:
            assert (row.low, row.floor, row.loss, row.n_launches, row.n_stays) == (None,) * 3 + (
                0,
                0,
            )
            assert "10 subjects" in row.note


Spoil = Callable[[pl.DataFrame], pl.DataFrame]

SPOILT: dict[str, tuple[Spoil, str]] = {
    "launches missing": (lambda rows: rows.head(len(rows) - 3), "it has 197, and not all"),
    "another launch": (
        lambda rows: pl.concat(
            [rows, rows.tail(1).with_columns(prefix_length=pl.col("prefix_length") + 1)]
        ),
        "prefix_length|it has 201",
    ),
    "a draw twice": (lambda rows: pl.concat([rows, rows.tail(1)]), "repeat the"),
    "another draw": (
        lambda rows: pl.concat(
            [rows, rows.tail(1).with_columns(draw=pl.col("draw") + 1)],
        ),
        "draw",
    ),
}


@pytest.fixture(scope="module")
def good_file(cohort: Cohort, good: Rollouts, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("files") / "good.rollouts.parquet"
    stay_ids = cohort.visits().stay_ids
    assert stay_ids is not None
    edsim.write_rollouts(good, file, stay_ids)
    return file


@pytest.mark.parametrize("name", list(SPOILT))
def test_rollouts_of_other_launches_or_draws_are_refused_with_the_reason(
    cohort: Cohort, good_file: Path, tmp_path: Path, name: str
) -> None:
    spoil, says = SPOILT[name]
    header = pl.read_parquet_metadata(good_file)["edsim.rollouts"]
    file = tmp_path / "spoilt.rollouts.parquet"
    spoil(pl.read_parquet(good_file)).write_parquet(file, metadata={"edsim.rollouts": header})
    with pytest.raises(BadTableError, match=says):
        edsim.score(edsim.read_rollouts(file, cohort), cohort)


@pytest.mark.parametrize(
    ("field", "says"), [("content_hash", "another cohort"), ("vocabulary_sha256", "vocabulary")]
)
def test_rollouts_of_another_cohort_or_vocabulary_are_refused(
    cohort: Cohort, good_file: Path, field: str, says: str
) -> None:
    rows = read_rows(good_file)
    other = replace(rows, header=replace(rows.header, **{field: "0" * 64}))
    with pytest.raises(BadTableError, match=says):
        checked(other, expected_of(cohort, None))


def test_a_file_is_scored_from_python(cohort: Cohort, good: Rollouts, good_file: Path) -> None:
    names = ["jsd", "termination"]
    read = edsim.read_rollouts(good_file, cohort)
    frame = edsim.score(read, cohort, metrics=names, resamples=20)
    assert set(frame["metric"]) == {"jsd", "termination", "xf"}
    assert frame.equals(edsim.score(good, cohort, metrics=names, resamples=20))
    assert {"producer", "value", "low", "high", "floor", "reference", "note"} <= set(frame.columns)
    with pytest.raises(BadTableError, match="read_rollouts\\(FILE, cohort\\)"):
        edsim.score(edsim.read_rollouts(good_file), cohort)


def test_draws_that_are_missing_are_told_before_anything_is_scored(cohort: Cohort) -> None:
    whole = kept_rollouts(cohort, "markov", launches="matched-20", draws=3)
    for lacking in ([4], [5, 7], [1, 2]):
        rows = np.delete(np.arange(len(whole)), lacking)
        some = Rollouts(
            whole.header, whole.launches[rows], whole.draw[rows], whole.generated.take(rows)
        )
        with pytest.raises(BadTableError, match="do not have 3 draws of every launch"):
            edsim.score(some, cohort)
        with pytest.raises(BadTableError, match="do not have 3 draws of every launch"):
            compare([some, whole], cohort)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        (SHARED, "--metrics duration_ratio"),
        ("c2st", "edsim score --metrics c2st"),
        ("jsd_halves_by_stay", "edsim score --metrics jsd_halves_by_stay"),
        ("accuracy", "edsim predict"),
        ("jsdd", "did you mean 'jsd'"),
    ],
)
def test_a_measure_that_is_elsewhere_is_said_to_be_there(
    cohort: Cohort, good: Rollouts, name: str, says: str
) -> None:
    with pytest.raises(BadInputError, match=says):
        compare([good, good], cohort, metrics=[name])
    if name not in ("c2st", "jsd_halves_by_stay"):
        with pytest.raises(BadInputError, match=says):
            ScoreSettings(metrics=[name])


def in_a_process(code: str, *arguments: Path | str, **environment: str) -> str:
    found = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stderr
    return found.stdout


def test_a_sheet_is_the_same_however_names_are_hashed(cohort: Cohort, good_file: Path) -> None:
    code = (
        "import sys; from edsim.cli import run; "
        "sys.exit(run(['score', *sys.argv[1:3], '--json', sys.argv[3], '--cohort', sys.argv[4], "
        "'--metrics', sys.argv[5], '--resamples', '5']))"
    )
    names = ",".join(name for name, (of, _) in OF_YARDSTICKS.items() if of == "jsd")
    sheets = []
    for seed in ("1", "2"):
        sheet = good_file.with_name(f"hashed-{seed}.scores.json")
        arguments = (good_file, "--overwrite", sheet, cohort.directory, names)
        in_a_process(code, *arguments, PYTHONHASHSEED=seed)
        sheets.append(sheet.read_bytes())
    assert sheets[0] == sheets[1]


def test_what_is_lacking_without_torch_is_there_after_the_command_that_is_named(
    cohort: Cohort, tmp_path: Path
) -> None:
    """Of a file with draws, a cap and a vocabulary of its own."""
    file = tmp_path / "other.rollouts.parquet"
    other = edsim.RolloutSettings(launches="matched-30", draws=2, cap=64, vocabulary="ed7")
    edsim.write_rollouts(
        edsim.roll_out(cohort, "markov", other), file, cohort.visits("ed7").stay_ids
    )
    command = ["score", str(file), "--cohort", str(cohort.directory), "--slow", "--overwrite"]
    command += ["--resamples", "5", "--json"]
    without = (
        "import sys; sys.modules['torch'] = None; from edsim.cli import run; "
        "sys.exit(run(sys.argv[1:]))"
    )

    def multiples(name: str) -> list[ScoreRow]:
        sheet = read_sheet(tmp_path / name)
        return [row for row in sheet.rows if row.metric in ("xf", "xf_full_test")]

    in_a_process(without, *command, tmp_path / "before.scores.json")
    before = multiples("before.scores.json")
    assert [row.value for row in before] == [None, None]
    assert "`edsim score FILE --cohort DIR` once where torch" in before[0].note
    assert "`edsim score FILE --cohort DIR --slow` once where torch" in before[1].note
    assert run([*command, str(tmp_path / "made.scores.json")]) == 0
    in_a_process(without, *command, tmp_path / "after.scores.json")
    after = multiples("after.scores.json")
    assert None not in [row.value for row in after]
    assert after == multiples("made.scores.json")
