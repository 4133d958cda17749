"""Which cohorts are the paper's, which may stand beside which, and what is said of their numbers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from edsim.cli import run
from edsim.cohort.splits import SplitRule
from edsim.errors import BadCohortError
from edsim.lab.build import CohortSettings, build_cohort
from edsim.lab.cohort import Cohort, open_cohort
from edsim.lab.related import is_of_the_papers_years, is_temporal, refuse_unrelated
from edsim.sources import SOURCES
from edsim.studies.paper.book import Book
from edsim.studies.paper.entry import Entry
from edsim.studies.paper.making import is_the_papers, make_table
from edsim.studies.paper.scales import FULL, LAPTOP
from edsim.studies.results import Results
from edsim.studies.runs import Role
from edsim.tables.extract import Step
from edsim.tables.paper import Panel, PaperCell

STAYS, AWAY = 425_028, 105_378
"""As sec:data prints them."""


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A synthetic cohort by subject, C, and by time, T."""
    folder = tmp_path_factory.mktemp("cohorts")
    source = SOURCES["synthetic"]
    build_cohort(source, source.options(stays=300), folder / "C")
    build_cohort(
        source,
        source.options(stays=400),
        folder / "T",
        settings=CohortSettings(split=SplitRule(kind="temporal"), vocabularies=("ed32",)),
    )
    return folder


def real(cohort: Cohort, source: str = "mimic", stays: int = STAYS, **more: object) -> Cohort:
    said = replace(cohort.manifest, source=source, restricted=True, n_stays=stays, **more)  # type: ignore[arg-type]
    return Cohort(cohort.directory, said)


def split_by_time(cohort: Cohort, divided: int, **years: int) -> Cohort:
    """A real cohort by time, of which many stays lie between the periods."""
    rule = SplitRule(kind="temporal", **years)  # type: ignore[arg-type]
    steps = tuple(
        Step(rule=r, n_stays=n, n_subjects=n, n_events=n)
        for r, n in (("in", divided), ("split", 9))
    )
    split = {**cohort.manifest.split, "rule": rule.sentence()}
    return real(cohort, stays=250_000, split=split, attrition=steps)


def test_the_papers_temporal_cohort_is_of_its_size_and_split_by_its_years(drawn: Path) -> None:
    cohort = open_cohort(drawn / "C")
    assert is_the_papers(real(cohort), "main")
    assert not is_the_papers(real(cohort), "temporal"), "split by subject"
    assert is_the_papers(split_by_time(cohort, STAYS), "temporal")
    assert is_the_papers(split_by_time(cohort, STAYS, seed=4), "temporal")
    assert not is_the_papers(split_by_time(cohort, STAYS), "main"), "split by time"
    assert not is_the_papers(split_by_time(cohort, 900), "temporal")
    assert not is_the_papers(split_by_time(cohort, STAYS, train_until=2010), "temporal")
    assert is_the_papers(real(cohort, "mcmed", AWAY), "external")


def test_a_split_by_time_is_known_by_its_sentence(drawn: Path) -> None:
    by_subject, by_time = open_cohort(drawn / "C"), open_cohort(drawn / "T")
    assert (is_temporal(by_subject), is_temporal(by_time)) == (False, True)
    assert is_of_the_papers_years(by_time) and not is_of_the_papers_years(by_subject)


def table_of(book: Book, cohort: Role, *beside: Role) -> str:
    cells = (PaperCell(row="r", column="c", ours=(1.0,)),)
    entry = Entry(
        label="t", title="T", panels=lambda _: [Panel(cells=cells)], cohort=cohort, beside=beside
    )
    table = make_table(entry, book)
    assert table.comparable == ("held against its numbers" in table.data)
    return table.data


def test_numbers_are_compared_only_where_every_cohort_of_the_table_is_the_papers(
    drawn: Path,
) -> None:
    cohort = open_cohort(drawn / "C")
    good = Results(
        real(cohort), temporal=split_by_time(cohort, STAYS), external=real(cohort, "mcmed", AWAY)
    )
    bad = Results(real(cohort), temporal=real(cohort), external=real(cohort, "mcmed", 5_000))
    for cohorts in (("main",), ("temporal", "main"), ("main", "external"), ("external",)):
        assert "held against its numbers" in table_of(Book(good, FULL), *cohorts)  # type: ignore[arg-type]
        assert "only the pattern" in table_of(Book(good, LAPTOP), *cohorts)  # type: ignore[arg-type]
    assert "held against" in table_of(Book(bad, FULL), "main")
    beside = table_of(Book(bad, FULL), "main", "external")
    assert "Beside them stands another external cohort than the paper's" in beside
    assert "not the paper's data" in table_of(Book(bad, FULL), "temporal", "main")
    alone = Results(real(cohort))
    assert "held against" in table_of(Book(alone, FULL), "main", "external"), "it has no number"


def test_cohorts_that_cannot_stand_beside_the_main_one_are_refused(drawn: Path) -> None:
    main, later = open_cohort(drawn / "C"), open_cohort(drawn / "T")
    refuse_unrelated(main, None, None)
    refuse_unrelated(main, later, None)
    with pytest.raises(
        BadCohortError, match=r"--temporal was not split by time .*Leave --temporal"
    ):
        refuse_unrelated(main, main, None)
    with pytest.raises(
        BadCohortError,
        match=r"of the source 'synthetic' and that of --cohort of 'mimic'.*--split temporal --out TEMPORAL",
    ):
        refuse_unrelated(real(main), later, None)
    with pytest.raises(BadCohortError, match="--external is that of --cohort"):
        refuse_unrelated(main, None, main)


def test_the_command_refuses_them_before_anything_is_made(
    drawn: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = str(drawn / "C")
    for flag in ("--temporal", "--external"):
        given = ["paper", "coverage", "--cohort", home, flag, home, "--out", str(tmp_path / "out")]
        assert run(given) == 2
        assert f"the cohort of {flag}" in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "out").exists()
