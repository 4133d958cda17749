"""A study makes what is missing, once, and its folder holds the results of nothing else."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from edsim.errors import BadCohortError, BadInputError, OutputError
from edsim.lab.build import build_cohort
from edsim.sources import SOURCES
from edsim.studies.cost import cost_of
from edsim.studies.engine import Force
from edsim.studies.study_file import StudyFile, read_study
from edsim.studies.study_folder import StudyFolder
from edsim.studies.study_run import StudyResults, run_study
from edsim.studies.study_state import state_of
from edsim.tables.comparisons import read_comparisons
from edsim.tables.scores import read_sheet

STUDY = """
title = "Small"
cohort = "C"
launches = "matched-60"
models = ["ngram:2", {name = "markov", rules = ["vanilla", "top_k=3"]}]
metrics = ["termination", "jsd", "duration_ratio"]
resamples = 20
comparisons = [["markov", "ngram:2"]]
"""
BROKEN = '''
"""A simulator that cannot be made."""

def simulator(facts):
    raise ValueError("with a row of the data")
'''


@pytest.fixture(scope="session")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("study") / "C"
    build_cohort(SOURCES["synthetic"], SOURCES["synthetic"].options(stays=400), folder)
    return folder


@pytest.fixture()
def study(drawn: Path, tmp_path: Path) -> Callable[[str], StudyFile]:
    """Write a study beside a cohort of its own."""
    shutil.copytree(drawn, tmp_path / "C")

    def write(text: str = STUDY, name: str = "small.toml") -> StudyFile:
        (tmp_path / name).write_text(text)
        return read_study(tmp_path / name)

    return write


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def stores(file: StudyFile) -> dict[str, int]:
    artifacts = (file.cohort / "artifacts").rglob("*")
    return {path.name: path.stat().st_mtime_ns for path in artifacts if path.is_file()}


def run(file: StudyFile, **more: object) -> StudyResults:
    return run_study(file, **more)  # type: ignore[arg-type]


def test_the_folder_holds_a_sheet_for_each_run(study: Callable[..., StudyFile]) -> None:
    file = study()
    results = run(file)
    assert results.failures == [] and list(results.arms) == ["ngram:2", "markov", "markov top_k=3"]
    names = sorted(path.name for path in file.results.iterdir())
    assert names == [
        "comparisons.json",
        "markov-top_k=3.scores.json",
        "markov.scores.json",
        "ngram-2.scores.json",
        "study.json",
    ]
    sheet = read_sheet(file.results / "markov-top_k=3.scores.json")
    assert (sheet.producer, sheet.rule) == ("markov", "top_k=3")
    shared = sheet.find("duration_ratio_shared")
    assert shared is not None and 0 < shared.n_launches <= 60
    comparisons = read_comparisons(file.results / "comparisons.json")
    assert [(one.a, one.b) for one in comparisons.comparisons] == [("markov", "ngram:2")]


def test_what_is_done_is_not_done_again(study: Callable[..., StudyFile]) -> None:
    file = study()
    run(file)
    kept, before = stores(file), contents(file.results)
    again = run(file)
    assert again.n_made == 0 and stores(file) == kept and contents(file.results) == before
    shutil.rmtree(file.results)
    assert run(file).n_made == 0 and contents(file.results) == before


def test_one_more_model_costs_one_more_model(study: Callable[..., StudyFile]) -> None:
    file = study()
    run(file)
    kept = stores(file)
    more = study(STUDY.replace('"ngram:2", {', '"marginal", "ngram:2", {'))
    assert run(more).n_made == 4, "its counts, rollouts, sheet, and durations shared with others"
    assert kept.items() <= stores(file).items()


def test_several_processes_give_what_one_gives(study: Callable[..., StudyFile]) -> None:
    file = study()
    run(file)
    before = contents(file.results)
    shutil.rmtree(file.cohort / "artifacts")
    shutil.rmtree(file.results)
    assert run(file, force=Force(workers=2)).n_made > 0
    assert contents(file.results) == before


TRAINED = """
cohort = "C"
launches = "matched-60"
models = [
  {name = "gru[width=8,epochs=1]", label = "gru", clocks = ["median", "sampled"]},
  "markov",
]
seeds = [1, 2]
metrics = ["termination", "duration_ratio"]
resamples = 20
"""


def test_a_network_is_trained_once_for_each_seed_and_rolled_out_by_each_clock(
    study: Callable[..., StudyFile],
) -> None:
    file = study(TRAINED)
    results = run(file)
    assert results.failures == []
    assert {name: len(sheets) for name, sheets in results.arms.items()} == {
        "gru median": 2,
        "gru sampled": 2,
        "markov": 1,
    }
    assert len(list((file.cohort / "artifacts" / "runs").glob("*.npz"))) == 2
    sheets = [
        read_sheet(file.results / f"gru-{clock}-1.scores.json") for clock in ("median", "sampled")
    ]
    assert [sheet.clock for sheet in sheets] == ["median", "sampled"]
    assert sheets[0].find("duration_ratio") != sheets[1].find("duration_ratio")
    before = contents(file.results)
    shutil.rmtree(file.cohort / "artifacts")
    assert run(file, force=Force(workers=2)).n_made > 0
    assert contents(file.results) == before, "who trains decides no digit"


def test_a_gpu_that_is_not_there_is_said_before_anything_is_made(
    study: Callable[..., StudyFile],
) -> None:
    import torch

    if torch.cuda.is_available():
        pytest.skip("there is a GPU here")
    file = study(TRAINED.replace("[1, 2]", '[1, 2]\ndevice = "cuda"'))
    with pytest.raises(BadInputError, match="this machine has no CUDA device"):
        run(file)
    assert not (file.cohort / "artifacts").exists() and not file.results.exists()
    counts = study(STUDY + 'device = "cuda"\n', "counts.toml")
    assert run(counts).failures == [], "count models run on the CPU whatever is asked for"


def test_what_fails_does_not_stop_the_others(
    study: Callable[..., StudyFile], tmp_path: Path
) -> None:
    (tmp_path / "broken.py").write_text(BROKEN)
    name = f"{tmp_path / 'broken.py'}:simulator"
    file = study(STUDY.replace('"ngram:2", {', f'"{name}", "ngram:2", {{'))
    results = run(file)
    (failure,) = results.failures
    assert failure.title.startswith("rollouts of") and failure.n_lacking == 2
    assert "could not be made" in failure.message and "raised ValueError" in failure.message
    assert "row of" not in failure.message
    assert [len(sheets) for sheets in results.arms.values()] == [0, 1, 1, 1]
    state = state_of(file.results)
    failed = [piece for piece in state.pieces if piece.state == "failed"]
    assert [piece.message for piece in failed] == [failure.message]
    assert all(piece.seconds and piece.peak_mib for piece in failed), "what the attempt took"
    waiting = [piece.title for piece in state.pieces if piece.state == "waiting"]
    assert any("scores of" in title for title in waiting)


def test_the_state_says_what_is_there_and_what_it_took(study: Callable[..., StudyFile]) -> None:
    file = study()
    before = state_of(file.path)
    assert {piece.state for piece in before.pieces} == {"waiting"}
    run(file)
    after = state_of(file.path)
    assert not before.of_another_cohort and not after.of_another_cohort
    assert {piece.state for piece in after.pieces} == {"done"}
    assert all(piece.seconds is not None and piece.peak_mib for piece in after.pieces)
    assert len(after.pieces) == len(before.pieces)


def test_a_dry_run_makes_nothing_and_knows_what_work_takes(
    study: Callable[..., StudyFile],
) -> None:
    file = study()
    cost = cost_of(file)
    assert cost.n_runs == 3 and cost.unknown == sum(line.n_pieces for line in cost.lines)
    assert not (file.cohort / "artifacts").exists() and not file.results.exists()
    run(file)
    assert cost_of(file).seconds == 0 and all(one.n_done for one in cost_of(file).lines)
    more = study(STUDY.replace('"ngram:2", {', '"ngram:4", "ngram:2", {'))
    cost = cost_of(more)
    left = {line.counted: line for line in cost.lines if line.n_pieces > line.n_done}
    assert left["ngram:4"].seconds is not None and not left["ngram:4"].alike
    assert cost.unknown == 0 and 0 < cost.longest_seconds <= cost.seconds


def test_a_synthetic_cohort_is_drawn_where_it_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(STUDY + "[synthetic]\nstays = 300\n")
    file = read_study(tmp_path / "s.toml")
    assert cost_of(file).to_draw == 300 and state_of(file.path).to_draw
    assert run(file).failures == []
    (tmp_path / "s.toml").write_text(STUDY + "[synthetic]\nstays = 301\n")
    with pytest.raises(BadCohortError, match=r"not the one that `synthetic` of s\.toml asks for"):
        run(read_study(tmp_path / "s.toml"))


def test_a_cohort_that_changed_between_runs_is_refused(study: Callable[..., StudyFile]) -> None:
    file = study()
    run(file)
    before = contents(file.results)
    shutil.rmtree(file.cohort)
    build_cohort(SOURCES["synthetic"], SOURCES["synthetic"].options(stays=401), file.cohort)
    with pytest.raises(BadCohortError, match="content has changed since"):
        run(file)
    assert contents(file.results) == before
    state = state_of(file.results)
    assert state.of_another_cohort and {piece.state for piece in state.pieces} == {"waiting"}


def test_a_folder_of_another_study_is_refused(study: Callable[..., StudyFile]) -> None:
    first = study()
    run(first)
    other = study(STUDY, "other.toml")
    with pytest.raises(OutputError, match=r"holds the results of another study, small\.toml"):
        run(other, out=first.results)
    (other.path.parent / "letters").mkdir()
    (other.path.parent / "letters" / "letter").write_text("Dear")
    with pytest.raises(OutputError, match="holds something else"):
        run(other, out=other.path.parent / "letters")


def test_a_study_of_the_same_file_name_elsewhere_is_another_study(
    study: Callable[..., StudyFile],
) -> None:
    first = study()
    run(first)
    before = contents(first.results)
    (first.path.parent / "b").mkdir()
    other = study(STUDY.replace('"C"', '"../C"'), "b/small.toml")
    with pytest.raises(OutputError, match=r"holds the results of another study, \.\./small\.toml"):
        run(other, out=first.results)
    assert contents(first.results) == before


def test_a_folder_that_was_moved_with_its_study_is_recognised(
    study: Callable[..., StudyFile], tmp_path: Path
) -> None:
    first = study()
    run(first)
    (tmp_path / "there").mkdir()
    for name in ("C", "small.toml", "small"):
        shutil.move(tmp_path / name, tmp_path / "there" / name)
    moved = read_study(tmp_path / "there" / "small.toml")
    before = contents(moved.results)
    assert run(moved).n_made == 0 and contents(moved.results) == before


def test_two_studies_never_write_to_one_folder_at_once(study: Callable[..., StudyFile]) -> None:
    file = study()
    with StudyFolder(file.results).held(), pytest.raises(OutputError, match="another process"):
        run(file)
    assert run(file).failures == []


def test_sheets_of_a_model_that_was_taken_out_are_removed(study: Callable[..., StudyFile]) -> None:
    file = study()
    run(file)
    run(study(STUDY.replace('"ngram:2", {', "{").replace('[["markov", "ngram:2"]]', "[]")))
    names = sorted(path.name for path in file.results.iterdir())
    assert names == ["markov-top_k=3.scores.json", "markov.scores.json", "study.json"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('vocabulary = "ed33"', "Did you mean 'ed32'?"),
        ('launches = "latte"', "did you mean 'late'?"),
    ],
)
def test_what_the_cohort_does_not_have_is_refused(
    study: Callable[..., StudyFile], line: str, said: str
) -> None:
    text = STUDY.replace('launches = "matched-60"', "") if "launches" in line else STUDY
    file = study(f"{line}\n{text}")
    with pytest.raises(BadInputError) as refusal:
        run(file)
    assert said in str(refusal.value) and not (file.results / "study.json").exists()


def test_force_that_cannot_be_is_refused() -> None:
    for bad in ({"workers": 0}, {"memory_gib": 0.0}, {"ray": "auto", "workers": 2}):
        with pytest.raises(BadInputError):
            Force(**bad)  # type: ignore[arg-type]


def test_without_the_flag_ray_is_not_imported(study: Callable[..., StudyFile]) -> None:
    file = study(STUDY.replace('"ngram:2", {', "{").replace('[["markov", "ngram:2"]]', "[]"))
    code = (
        "import sys; from edsim.cli import run; "
        "code = run(['study', 'run', sys.argv[1]]); sys.exit(code or 9 * ('ray' in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code, str(file.path)], capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    assert list(file.results.glob("*.scores.json"))


def test_a_full_disk_stops_a_study_with_one_sentence(
    study: Callable[..., StudyFile], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a real disk that is full: the device that always is, in place of what is written."""
    file = study()
    begun = os.open

    def full(path: object, *rest: int, **more: int) -> int:
        name = Path(os.fspath(path)).name if isinstance(path, str | Path) else ""
        return begun(
            "/dev/full" if ".rollouts.parquet" in name and "lock" not in name else path,
            *rest,
            **more,
        )  # type: ignore[arg-type]

    monkeypatch.setattr(os, "open", full)
    with pytest.raises(OutputError, match="no space left for"):
        run(file)
    monkeypatch.undo()
    assert not list((file.cohort / "artifacts" / "rollouts").glob("*.parquet"))
    assert run(file).failures == []


def test_a_folder_without_a_study_has_no_state(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="holds no results of a study"):
        state_of(tmp_path)
    (tmp_path / "study.json").write_text(json.dumps({}))
    with pytest.raises(BadInputError, match="cannot be read"):
        state_of(tmp_path)
