"""Rollouts of a cohort compared pairwise; what cannot be compared is refused with the reason."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from edsim.cli import run
from edsim.errors import BadInputError
from edsim.lab.build import build_cohort
from edsim.lab.cohort import Cohort, open_cohort
from edsim.lab.compare import compare
from edsim.lab.references import kept_rollouts
from edsim.metrics.registry import HEADLINE
from edsim.sources import SOURCES
from edsim.tables.comparisons import read_comparisons
from edsim.tables.rollouts import Rollouts


@pytest.fixture(scope="module")
def cohort(tmp_path_factory: pytest.TempPathFactory) -> Cohort:
    source, directory = SOURCES["synthetic"], tmp_path_factory.mktemp("compare") / "C"
    build_cohort(source, source.options(stays=400), directory)
    return open_cohort(directory)


def rollouts(cohort: Cohort, name: str, **settings: object) -> Rollouts:
    return kept_rollouts(cohort, name, **{"launches": "matched-200", **settings})  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def pair(cohort: Cohort) -> tuple[Rollouts, Rollouts]:
    return rollouts(cohort, "ngram:3"), rollouts(cohort, "marginal")


def test_every_headline_measure_of_a_pair_is_there_or_says_why_not(
    cohort: Cohort, pair: tuple[Rollouts, Rollouts]
) -> None:
    found = compare(pair, cohort, resamples=50, exchanges=500)
    (one,) = found.comparisons
    assert (one.a, one.b, one.n_launches) == ("ngram:3", "marginal", 200)
    assert [row.metric for row in one.rows] == list(HEADLINE)
    assert all(
        (row.difference is None) == bool(row.note) for row in one.rows if row.low != row.high
    )
    jsd = next(row for row in one.rows if row.metric == "jsd_triples")
    assert jsd.better == "a" and jsd.p_holm is not None and jsd.p_value is not None
    assert jsd.p_holm >= jsd.p_value
    assert "draws" in next(row.note for row in one.rows if row.metric == "crps")


def test_three_producers_make_three_pairs(cohort: Cohort, pair: tuple[Rollouts, Rollouts]) -> None:
    found = compare([*pair, pair[0]], cohort, metrics=["jsd"], resamples=10, exchanges=10)
    assert [(one.a, one.b) for one in found.comparisons] == [
        ("ngram:3", "marginal"),
        ("ngram:3", "ngram:3 (2)"),
        ("marginal", "ngram:3 (2)"),
    ]


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"cap": 64}, "cap \\(128 and 64\\)"),
        ({"draws": 2}, "number of draws \\(1 and 2\\)"),
        ({"launches": "matched-100"}, "launch set"),
        ({"vocabulary": "ed7"}, "vocabulary"),
    ],
)
def test_what_was_rolled_out_otherwise_is_refused(
    cohort: Cohort, pair: tuple[Rollouts, Rollouts], settings: dict[str, object], says: str
) -> None:
    other = rollouts(cohort, "marginal", **settings)
    with pytest.raises(BadInputError, match=says):
        compare([pair[0], other], cohort)


def seed_of(table: Rollouts, seed: int) -> Rollouts:
    return replace(table, header=replace(table.header, producer=f"gru@{seed}"))


def test_groups_of_seeds_are_named_by_their_recipe(
    cohort: Cohort, pair: tuple[Rollouts, Rollouts]
) -> None:
    seeds = [[seed_of(one, k) for k in (1, 2, 3)] for one in pair]
    found = compare(seeds, cohort, metrics=["jsd"], resamples=10)
    (one,) = found.comparisons
    assert (one.a, one.b) == ("gru x 3", "gru x 3 (2)")
    assert one.producers_a == ("gru@1", "gru@2", "gru@3")
    assert one.rows == () and one.seeds[0].between_a == pytest.approx(0, abs=1e-12)


def test_two_seeds_a_side_are_too_few(cohort: Cohort, pair: tuple[Rollouts, Rollouts]) -> None:
    for sides in ([pair, pair], [[*pair, pair[0]], pair[0]]):
        with pytest.raises(BadInputError, match="at least 3 seeds"):
            compare(sides, cohort)
    with pytest.raises(BadInputError, match="at least two"):
        compare([pair[0]], cohort)


def test_the_command_prints_and_writes_what_it_found(
    cohort: Cohort, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = ["--cohort", str(cohort.directory), "--launches", "matched-200"]
    few = ["--resamples", "20", "--permutations", "200"]
    assert run(["compare", "ngram:3", "marginal", *said, *few, "--json", f"{tmp_path}/x.json"]) == 0
    printed = capsys.readouterr().out
    assert "ngram:3 against marginal" in printed and "JSD triples" in printed
    assert read_comparisons(tmp_path / "x.json").permutations == 200
    assert run(["compare", "ngram:3", "marginal", *said, "--json", f"{tmp_path}/x.json"]) == 2
    assert "--overwrite" in capsys.readouterr().err
    assert run(["compare", "ngram:3", *said]) == 2
    assert run(["compare", "ngram:3", "marginal", *said, "--metrics", "jsdd"]) == 2
    assert "did you mean 'jsd'" in capsys.readouterr().err
