"""What docs/rollouts-from-anywhere.md shows works, from the prefixes to a checked table."""

from __future__ import annotations

import csv
import importlib.util
import io
import itertools
import random
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from small_rollouts import same

from edsim.lab.build import build_cohort
from edsim.lab.cohort import Cohort, open_cohort
from edsim.lab.export import export_meds, write_prefixes
from edsim.lab.rollouts_files import read_any, write_any
from edsim.sources import SOURCES
from edsim.tables.facts import VocabularyFacts
from edsim.tables.rollouts import Rollouts, RolloutsHeader
from edsim.tables.rollouts_check import checked
from edsim.tables.rollouts_csv import read_csv_rows
from edsim.tables.rollouts_rows import Expected
from places import ROOT

PAGE = ROOT / "docs" / "rollouts-from-anywhere.md"
EXAMPLES = ROOT / "docs" / "examples"
LAUNCH_SET = "matched-200"


@pytest.fixture(scope="module")
def cohort(tmp_path_factory: pytest.TempPathFactory) -> Cohort:
    """A small synthetic cohort with ed7, whose names the examples use."""
    directory = tmp_path_factory.mktemp("examples") / "C"
    source = SOURCES["synthetic"]
    build_cohort(source, source.options(stays=400), directory)
    return open_cohort(directory)


@pytest.fixture(scope="module")
def prefixes(cohort: Cohort) -> Path:
    path = cohort.directory.parent / "prefixes.csv"
    write_prefixes(cohort, LAUNCH_SET, path, vocabulary="ed7")
    return path


def run(example: str, *arguments: str | Path) -> None:
    """Run an example as its reader would, without this project on the path."""
    subprocess.run(
        [sys.executable, "-I", str(EXAMPLES / example), *map(str, arguments)], check=True
    )


def read(path: Path, cohort: Cohort) -> Rollouts:
    """The table, checked against all that the cohort and the launch set promise."""
    facts = VocabularyFacts.open(cohort.encoded("ed7"))
    expected = Expected.of(
        cohort.visits("ed7"),
        facts,
        cohort_id=cohort.manifest.cohort_id,
        content_hash=cohort.manifest.content_hash,
        launches=np.asarray(cohort.launches(LAUNCH_SET)),
    )
    header = RolloutsHeader(producer=path.name, cap=cohort.manifest.cap, tokens=facts.tokens)
    return checked(read_csv_rows(path, header), expected)


def test_plain_python_continues_every_prefix(
    tmp_path: Path, cohort: Cohort, prefixes: Path
) -> None:
    run("plain_python.py", prefixes, tmp_path / "rollouts.csv")
    rollouts = read(tmp_path / "rollouts.csv", cohort)
    assert len(rollouts) == 200
    assert rollouts.terminated().mean() > 0.9


def test_the_simpy_department_continues_every_prefix_as_often_as_asked(
    tmp_path: Path, cohort: Cohort, prefixes: Path
) -> None:
    pytest.importorskip("simpy", reason="the SimPy example needs simpy")
    run("simpy_department.py", prefixes, tmp_path / "a.csv", "--draws", "2")
    rollouts = read(tmp_path / "a.csv", cohort)
    assert (len(rollouts), rollouts.header.draws) == (400, 2)
    assert rollouts.terminated().all()
    run("simpy_department.py", prefixes, tmp_path / "b.csv", "--draws", "2")
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    run("simpy_department.py", prefixes, tmp_path / "c.csv", "--draws", "2", "--seed", "1")
    assert (tmp_path / "a.csv").read_bytes() != (tmp_path / "c.csv").read_bytes()


def test_the_simpy_department_really_goes_on_from_the_prefix(
    tmp_path: Path, prefixes: Path
) -> None:
    pytest.importorskip("simpy", reason="the SimPy example needs simpy")
    run("simpy_department.py", prefixes, tmp_path / "rollouts.csv")
    seen, followed = defaultdict(list), defaultdict(list)
    for rows, into in ((prefixes, seen), (tmp_path / "rollouts.csv", followed)):
        for row in csv.DictReader(io.StringIO(rows.read_text())):
            into[row["stay_id"], row["prefix_length"]].append(row)
    assert seen.keys() == followed.keys()
    for launch, events in seen.items():
        before = {event["activity"] for event in events}
        after = [event["activity"] for event in followed[launch]]
        assert after.count("Triage in the ED") == ("Triage in the ED" not in before)
        assert after.count("Discharge from the ED") == ("Discharge from the ED" not in before)
        assert after[-2:] in (["Discharge from the ED", "END"], ["END"])


def test_who_has_no_bed_waits_for_one_and_who_has_one_does_not() -> None:
    pytest.importorskip("simpy", reason="the SimPy example needs simpy")
    specification = importlib.util.spec_from_file_location(
        "department", EXAMPLES / "simpy_department.py"
    )
    assert specification is not None and specification.loader is not None
    example = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(example)

    def mean_first_gap(prefix: list[str], beds: int) -> float:
        example.BEDS = beds
        visits = (
            example.continue_visit([(event, 1.0) for event in prefix], random.Random(i), 128)
            for i in range(300)
        )
        return sum(visit[0][1] for visit in visits) / 300

    waiting = ["Enter the ED", "Triage in the ED"]
    assert mean_first_gap(waiting, beds=2) > mean_first_gap(waiting, beds=40) + 20
    in_bed = [*waiting, "Vital sign check"]
    assert abs(mean_first_gap(in_bed, beds=2) - mean_first_gap(in_bed, beds=40)) < 15


@pytest.mark.filterwarnings("error")
def test_a_table_goes_through_every_form_of_file(
    tmp_path: Path, cohort: Cohort, prefixes: Path
) -> None:
    run("plain_python.py", prefixes, tmp_path / "a.csv")
    first = read_any(tmp_path / "a.csv", cohort, "ed7")
    for before, after in itertools.pairwise(["a.csv", "b.rollouts.parquet", "c", "d.csv.gz"]):
        write_any(read_any(tmp_path / before, cohort, "ed7"), tmp_path / after, cohort)
    last = read_any(tmp_path / "d.csv.gz", cohort, "ed7")
    assert same(first, last)


def test_trajectories_are_timed_as_the_meds_export_of_the_cohort(
    tmp_path: Path, cohort: Cohort, prefixes: Path
) -> None:
    run("plain_python.py", prefixes, tmp_path / "a.csv")
    write_any(read_any(tmp_path / "a.csv", cohort, "ed7"), tmp_path / "trajectories", cohort)
    export_meds(cohort, tmp_path / "meds")
    events = pl.read_parquet(tmp_path / "meds" / "data" / "**" / "*.parquet")
    launches = pl.read_parquet(tmp_path / "trajectories" / "draw-*" / "*.parquet").unique(
        ["stay_id", "prefix_length"]
    )
    joined = launches.join(
        events.filter(pl.col("position").is_not_null()),
        left_on=["subject_id", "stay_id", "prefix_length"],
        right_on=["subject_id", "stay_id", "position"],
    )
    assert joined.height == 200
    assert (joined["prediction_time"] == joined["time_right"]).all()


def test_chance_belongs_to_the_launch_and_not_to_its_place_in_the_file(
    tmp_path: Path, prefixes: Path
) -> None:
    pytest.importorskip("simpy", reason="the SimPy example needs simpy")
    lines = prefixes.read_text().splitlines(keepends=True)
    launch = lines[-1].split(",")[:2]
    (tmp_path / "last.csv").write_text(
        "".join(line for line in lines if line.split(",")[:2] == launch or line == lines[0])
    )
    for example in ("plain_python.py", "simpy_department.py"):
        run(example, prefixes, tmp_path / "all_out.csv")
        run(example, tmp_path / "last.csv", tmp_path / "last_out.csv")
        alone = (tmp_path / "last_out.csv").read_text().splitlines()[1:]
        assert alone
        assert (tmp_path / "all_out.csv").read_text().splitlines()[-len(alone) :] == alone


def test_the_rows_that_the_page_shows_are_a_rollout(tmp_path: Path, cohort: Cohort) -> None:
    shown = PAGE.read_text().split("```csv\n")[1].split("```")[0]
    (tmp_path / "shown.csv").write_text(shown)
    tokens = VocabularyFacts.open(cohort.encoded("ed7")).tokens
    rows = read_csv_rows(tmp_path / "shown.csv", RolloutsHeader(producer="page", tokens=tokens))
    assert checked(rows).terminated().tolist() == [True]


def test_the_page_names_every_example_and_every_column() -> None:
    page = PAGE.read_text()
    for example in EXAMPLES.iterdir():
        if example.suffix in (".py", ".R"):
            assert f"](examples/{example.name})" in page
    for column in ("stay_id", "prefix_length", "draw", "tokens", "minutes", "stop"):
        assert f"| `{column}` |" in page
