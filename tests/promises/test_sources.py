"""What every source promises, whatever it reads. Runs over the dictionary of sources."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from edsim.cli import run
from edsim.cohort.content import content_hash
from edsim.cohort.contract import check_extract
from edsim.encoding.vocabulary import load
from edsim.lab.build import build_cohort
from edsim.lab.check import check_cohort
from edsim.lab.cohort import open_cohort
from edsim.progress import silent
from edsim.sources import SOURCES
from edsim.sources.source import Source
from edsim.tables.extract import Extract
from promises.examples import EXAMPLES


@dataclass
class Example:
    source: Source
    folder: Path
    options: Any
    extract: Extract
    cohort: Path


@pytest.fixture(scope="module", params=list(SOURCES))
def example(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Example:
    source = SOURCES[request.param]
    folder = tmp_path_factory.mktemp(request.param)
    options = source.options(**EXAMPLES[request.param](folder))
    out = tmp_path_factory.mktemp("built") / "cohort"
    build_cohort(source, options, out)
    return Example(source, folder, options, source.read(options, silent), out)


def test_every_source_has_an_example() -> None:
    assert EXAMPLES.keys() == SOURCES.keys()


def test_stays_and_events_keep_the_contract(example: Example) -> None:
    check_extract(example.extract)
    stays, events = example.extract.stays, example.extract.events
    assert stays.schema["stay_id"] == stays.schema["subject_id"] == pl.String
    assert stays.schema["arrival"] == pl.Datetime("us")
    assert events.schema["stay"] == pl.UInt32 and events.schema["minutes"] == pl.Float64


def test_reading_twice_gives_the_same_content(example: Example) -> None:
    again = example.source.read(example.options, silent)
    assert content_hash(again.stays, again.events) == content_hash(
        example.extract.stays, example.extract.events
    )


def test_times_are_whole_microseconds_in_minutes(example: Example) -> None:
    minutes = example.extract.events["minutes"].to_numpy()
    microseconds = (minutes * 60_000_000).round()
    assert (microseconds / 60_000_000 == minutes).all()


def test_the_last_step_of_the_attrition_is_what_came_out(example: Example) -> None:
    last = example.extract.steps[-1]
    stays, events = example.extract.stays, example.extract.events
    assert (last.n_stays, last.n_events) == (stays.height, events.height)
    assert last.n_subjects == stays["subject_id"].n_unique()


def test_steps_never_gain(example: Example) -> None:
    counts = [(step.n_stays, step.n_subjects) for step in example.extract.steps]
    assert counts == sorted(counts, reverse=True)


def test_nothing_that_is_said_holds_an_identifier_or_a_folder(example: Example) -> None:
    extract = example.extract
    said = json.dumps(
        [list(extract.notices), extract.version, dict(extract.options)]
        + [asdict(step) for step in extract.steps]
        + [asdict(file) for file in extract.raw_files]
    )
    assert str(example.folder) not in said
    for column in ("stay_id", "subject_id"):
        assert not [i for i in extract.stays[column].to_list() if len(i) > 5 and i in said]


def test_the_default_vocabularies_cover_every_event(example: Example) -> None:
    kinds = (
        example.extract.events.select("activity", "detail", "flag")
        .cast(pl.String)
        .group_by(pl.all())
        .len("n")
    )
    for name in example.source.vocabularies:
        assigned = load(name).resolve(kinds, discharges=example.extract.discharges).assign(kinds)
        assert (assigned["token"] > 0).all()


def test_the_built_cohort_passes_every_check(example: Example) -> None:
    findings = check_cohort(example.cohort)
    assert all(finding.passed for finding in findings), findings


def test_restriction_follows_the_source_and_closes_the_files(example: Example) -> None:
    manifest = open_cohort(example.cohort).manifest
    assert manifest.restricted == example.source.restricted
    open_files = [p for p in example.cohort.rglob("*") if p.stat().st_mode & 0o077]
    assert (not open_files) == manifest.restricted


def test_show_prints_no_identifier(example: Example, capsys: pytest.CaptureFixture[str]) -> None:
    name = example.source.vocabularies[0]
    assert run(["cohort", "show", str(example.cohort), "--vocabulary", name]) == 0
    shown = capsys.readouterr().out
    assert "Launch sets" in shown
    for column in ("stay_id", "subject_id"):
        assert not [i for i in example.extract.stays[column].to_list() if len(i) > 5 and i in shown]


def test_a_discharge_is_known_where_there_is_one(example: Example) -> None:
    cohort = open_cohort(example.cohort)
    vocabulary = cohort.vocabulary()
    assert vocabulary.discharges
    visits = cohort.visits()
    last = visits.tokens[visits.offsets[1:] - 2]
    assert pl.Series(last).is_in(list(vocabulary.discharges)).mean() > 0.9  # type: ignore[operator]


@pytest.mark.parametrize("name", list(SOURCES))
def test_reading_needs_no_torch_and_importing_nothing_heavy(name: str) -> None:
    code = (
        "import sys; from edsim.sources import SOURCES; SOURCES[sys.argv[1]]; "
        "heavy = {'torch', 'polars', 'pyarrow', 'numba', 'r4pm', 'pandas'} & set(sys.modules); "
        "sys.exit(f'imported {heavy}' if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code, name], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", list(SOURCES))
def test_help_tells_every_flag(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    from dataclasses import fields

    assert run(["cohort", "build", name, "--help"]) == 0
    shown = capsys.readouterr().out
    for field in fields(SOURCES[name].options):
        assert f"--{field.name.replace('_', '-')}" in shown
