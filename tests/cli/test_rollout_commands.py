"""The commands that make, show, certify and score rollouts, as a user types them."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from edsim.cli import run
from edsim.tables.rollouts_file import read_rollouts
from last_event import LAST_EVENT

MINE = f"""{LAST_EVENT}

class Broken(LastEvent):
    def commit(self, state, tokens, u_time):
        return state, torch.zeros(len(tokens))

not_a_simulator = 3
"""


@pytest.fixture(scope="module")
def cohort(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cli")
    out = folder / "cohort"
    assert run(["cohort", "build", "synthetic", "--stays", "1500", "--out", str(out)]) == 0
    (folder / "mine.py").write_text(MINE)
    return out


def rolled(cohort: Path, producer: str, *more: str) -> Path:
    out = cohort.parent / f"{producer.replace(':', '-').replace('/', '-')}.rollouts.parquet"
    command = ["rollout", producer, "--cohort", str(cohort), "--launches", "matched-300"]
    assert run([*command, "--out", str(out), "--overwrite", *more]) == 0
    return out


@pytest.mark.parametrize("producer", ["ngram:3", "marginal", "semi_markov", "oracle"])
def test_rollouts_are_made_shown_and_certified(
    cohort: Path, producer: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = rolled(cohort, producer)
    assert run(["rollouts", "show", str(file)]) == 0
    assert "300 launches" in capsys.readouterr().out
    command = ["check", str(file), "--cohort", str(cohort), "--launches", "matched-300"]
    assert run(command) == 0


def test_a_rule_is_recorded_in_the_file(cohort: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = rolled(cohort, "markov", "--rule", "top_k=3+process_mask")
    run(["rollouts", "show", str(file)])
    assert "process_mask+top_k=3" in capsys.readouterr().out


def test_a_rule_that_can_change_nothing_is_made_and_said_to_be_one(
    cohort: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = read_rollouts(rolled(cohort, "ngram:3"))
    capsys.readouterr()
    idle = read_rollouts(rolled(cohort, "ngram:3", "--rule", "top_k=99"))
    assert "note: top_k=99 changes nothing: the vocabulary has" in capsys.readouterr().err
    assert (idle.generated.tokens == plain.generated.tokens).all()
    for meant in (f"top_k={len(plain.header.tokens)}", "top_p=1", "temperature=1", "vanilla"):
        rolled(cohort, "ngram:3", "--rule", meant)
        assert "changes nothing" not in capsys.readouterr().err


def test_batch_changes_nothing(cohort: Path) -> None:
    one = rolled(cohort, "ngram:2").read_bytes()
    assert rolled(cohort, "ngram:2", "--batch", "7").read_bytes() == one


def test_a_simulator_of_ones_own_is_checked_and_rolled_out(cohort: Path) -> None:
    mine = f"{cohort.parent}/mine.py:LastEvent"
    assert run(["check", mine, "--cohort", str(cohort)]) == 0
    rolled(cohort, mine)


def test_a_file_is_named_after_its_producer_where_no_name_is_given(
    cohort: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for producer in ("ngram:2", f"{cohort.parent}/mine.py:LastEvent"):
        command = ["rollout", producer, "--cohort", str(cohort), "--launches", "matched-20"]
        assert run(command) == 0
        assert run(command) == 2  # nothing is replaced unasked
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"ngram-2.rollouts.parquet", "mine.py-LastEvent.rollouts.parquet"}


def test_a_broken_simulator_fails_its_check(
    cohort: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["check", f"{cohort.parent}/mine.py:Broken", "--cohort", str(cohort)]) == 1
    said = capsys.readouterr().out
    assert "history" in said and "FAIL" in said


def test_scores_stand_beside_what_was_observed(
    cohort: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [str(rolled(cohort, producer)) for producer in ("markov", "ngram:3")]
    assert run(["score", *files, "--cohort", str(cohort)]) == 0
    said = capsys.readouterr().out
    assert "markov" in said and "Duration ratio" in said and "best" in said


def test_scoring_nothing_says_what_to_name(
    cohort: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["score", "--cohort", str(cohort)]) == 2
    assert "ngram:3" in capsys.readouterr().err


def test_a_simulator_that_was_changed_is_scored_anew(
    cohort: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = cohort.parent / "changing.py"
    said = []
    for text in (MINE, MINE.replace("-15 *", "-1500 *")):
        mine.write_text(text)
        command = ["score", f"{mine}:LastEvent", "--cohort", str(cohort)]
        assert run([*command, "--launches", "matched-100"]) == 0
        said.append(capsys.readouterr().out)
    assert said[0] != said[1]


def without_header(cohort: Path) -> Path:
    """Rollouts as another tool writes them: rows, and not a word about them."""
    text = cohort.parent / "foreign.csv"
    file = rolled(cohort, "ngram:3")
    assert run(["rollouts", "convert", str(file), str(text), "--cohort", str(cohort)]) == 0
    text.with_name(f"{text.name}.json").unlink()
    return text


def test_rows_of_another_tool_are_scored_on_the_launches_they_hold(
    cohort: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = without_header(cohort)
    capsys.readouterr()
    for file in (rolled(cohort, "ngram:3"), text):
        capsys.readouterr()
        assert run(["score", str(file), "--cohort", str(cohort)]) == 0
    said = capsys.readouterr().out
    assert "foreign.csv" in said
    multiple = next(line for line in said.splitlines() if "times order 3" in line)
    assert multiple.split()[3] == "1"  # its own multiple of the order-3 model, whose rows these are
    lines = text.read_text().splitlines(keepends=True)
    first = lines[1].split(",")[:2]
    text.write_text("".join(line for line in lines if line.split(",")[:2] != first))
    assert run(["score", str(text), "--cohort", str(cohort)]) == 2
    assert "299 launches" in capsys.readouterr().err
    assert run(["check", str(text), "--cohort", str(cohort)]) == 0
    assert "would not be seen" in " ".join(capsys.readouterr().out.split())


def test_a_table_that_lost_rows_is_not_what_it_says(
    cohort: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import polars as pl

    file, cut = rolled(cohort, "ngram:3"), cohort.parent / "cut.rollouts.parquet"
    header = pl.read_parquet_metadata(file)["edsim.rollouts"]
    rows = pl.read_parquet(file)
    rows.head(len(rows) - 1).write_parquet(cut, metadata={"edsim.rollouts": header})
    assert run(["score", str(cut), "--cohort", str(cohort)]) == 2
    assert "matched-300" in capsys.readouterr().err
    assert run(["check", str(cut), "--cohort", str(cohort)]) == 1
    assert "missing_launches" in capsys.readouterr().out


def test_text_and_parquet_are_converted_without_loss(cohort: Path) -> None:
    file, text, back = (
        rolled(cohort, "ngram:3"),
        cohort.parent / "t.csv",
        cohort.parent / "b.parquet",
    )
    for source, target in ((file, text), (text, back)):
        assert run(["rollouts", "convert", str(source), str(target), "--cohort", str(cohort)]) == 0
    assert back.read_bytes() == file.read_bytes()
    (cohort.parent / "t.csv.json").unlink()
    assert run(["check", str(text), "--cohort", str(cohort), "--launches", "matched-300"]) == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ["rollout", "ngram:9"],
        ["rollout", "ngrams"],
        ["rollout", "no.such.module:Thing"],
        ["rollout", "blend:2:markov+ngram:3"],
        ["rollout", "markov", "--rule", "temperature=0"],
        ["rollout", "markov", "--rule", "topk=3"],
        ["rollout", "oracle", "--rule", "greedy"],
        ["rollout", "markov", "--launches", "some"],
        ["rollout", "markov", "--cap", "0"],
        ["rollout", "markov", "--draws", "0"],
        ["rollout", "markov", "--cap", "1000000000000"],
        ["rollout", "oracle", "--cap", "1000000000000"],
        ["rollout", "markov", "--vocabulary", "ed182"],
        ["check", "nothing.csv"],
        ["check", "ngram:0"],
        ["check", "markov", "--cap", "1000000000000"],
        ["check", "markov", "--launches", "triage"],
    ],
)
def test_wrong_use_is_one_message_and_no_file(
    cohort: Path, arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = ["--out", str(tmp_path / "r.rollouts.parquet")] if arguments[0] == "rollout" else []
    code = run([*arguments, "--cohort", str(cohort), *out])
    said = capsys.readouterr()
    assert code in (1, 2)
    assert len(said.err + said.out) > 20 and "fault of edsim" not in said.err
    assert list(tmp_path.iterdir()) == []


def test_what_is_not_used_is_refused_by_its_own_name(
    cohort: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, out = str(rolled(cohort, "ngram:3")), ["--out", str(tmp_path / "r.rollouts.parquet")]
    for command, named in (
        (["check", file, "--cap", "5"], "--cap"),
        (["check", file, "--clock", "median"], "--clock"),
        (["check", "markov", "--launches", "triage"], "--launches"),
        (["rollout", "markov", "--batch", "0", *out], "batch must be"),
    ):
        capsys.readouterr()
        assert run([*command, "--cohort", str(cohort)]) == 2
        assert named in capsys.readouterr().err


def with_header(file: Path, out: Path, **changed: object) -> Path:
    import polars as pl

    header = json.loads(pl.read_parquet_metadata(file)["edsim.rollouts"]) | changed
    pl.read_parquet(file).write_parquet(out, metadata={"edsim.rollouts": json.dumps(header)})
    return out


def test_a_header_with_an_unknown_launch_set_is_a_finding(
    cohort: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = with_header(rolled(cohort, "ngram:3"), tmp_path / "a.parquet", launches="nobody's")
    capsys.readouterr()
    assert run(["check", str(file), "--cohort", str(cohort)]) == 1
    assert "file: launch_set" in capsys.readouterr().out


def test_a_foreign_header_gives_the_terminal_no_commands(
    cohort: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    odd = "mine\x1b[2J\x07\nrule      vanilla"
    file = with_header(rolled(cohort, "ngram:3"), tmp_path / "a.parquet", producer=odd)
    capsys.readouterr()
    assert run(["rollouts", "show", str(file)]) == 0
    said = capsys.readouterr().out
    assert "mine?[2J??rule" in said


def test_what_is_not_a_simulator_is_told_what_it_lacks(
    cohort: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = f"{cohort.parent}/mine.py:not_a_simulator"
    assert run(["check", wrong, "--cohort", str(cohort)]) == 2
    assert "start" in capsys.readouterr().err


def test_files_are_shown_checked_and_scored_without_torch(cohort: Path) -> None:
    file = str(rolled(cohort, "ngram:3"))
    assert run(["score", file, "--cohort", str(cohort)]) == 0  # the reference is there now
    code = "import sys; sys.modules['torch'] = None; from edsim.cli import run; sys.exit(run(sys.argv[1:]))"
    for command in (
        ["rollouts", "show", file],
        ["check", file, "--cohort", str(cohort)],
        ["score", file, "--cohort", str(cohort)],
    ):
        done = subprocess.run(
            [sys.executable, "-c", code, *command], capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr


def test_what_needs_torch_says_how_to_get_it(cohort: Path, tmp_path: Path) -> None:
    code = "import sys; sys.modules['torch'] = None; from edsim.cli import run; sys.exit(run(sys.argv[1:]))"
    command = ["rollout", "markov", "--cohort", str(cohort), "--out", f"{tmp_path}/r.parquet"]
    done = subprocess.run([sys.executable, "-c", code, *command], capture_output=True, text=True)
    assert done.returncode == 2
    assert "edsim-bench[models]" in done.stderr


def test_a_killed_rollout_goes_on_and_ends_with_the_same_bytes(cohort: Path) -> None:
    whole = rolled(cohort, "ngram:3").read_bytes()
    out = cohort.parent / "killed.rollouts.parquet"
    command = [sys.executable, "-m", "edsim", "rollout", "ngram:3", "--cohort", str(cohort)]
    command += ["--launches", "matched-300", "--out", str(out)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    shards = out.with_name(f".{out.name}.shards")
    while process.poll() is None and not shards.exists():
        time.sleep(0.001)
    process.kill()
    process.wait()
    assert (
        subprocess.run(
            [*command, "--workers", "2", "--overwrite"], stdout=subprocess.DEVNULL
        ).returncode
        == 0
    )
    assert out.read_bytes() == whole
    assert not shards.exists()


def test_artifacts_do_not_disturb_the_check_of_the_cohort(cohort: Path) -> None:
    rolled(cohort, "ngram:3")
    assert (cohort / "artifacts" / "models").is_dir()
    assert run(["cohort", "check", str(cohort)]) == 0


def test_a_file_gets_the_ending_by_which_it_is_known(
    cohort: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["rollout", "markov", "--cohort", str(cohort), "--launches", "matched-50"]
    assert run([*command, "--out", str(tmp_path / "R")]) == 0
    file = tmp_path / "R.rollouts.parquet"
    assert [path.name for path in tmp_path.iterdir()] == [file.name]
    assert run(["check", str(file), "--cohort", str(cohort)]) == 0
    assert (
        run(["rollouts", "convert", str(file), str(tmp_path / "T"), "--cohort", str(cohort)]) == 0
    )
    assert run(["check", str(tmp_path / "T"), "--cohort", str(cohort)]) == 0, "MEDS trajectories"
    assert run([*command, "--out", str(tmp_path / "R.csv")]) == 2
    assert "edsim rollouts convert" in capsys.readouterr().err


def test_what_is_not_shown_says_how_it_could_be(
    cohort: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "t.csv").write_text("stay_id\n")
    for path in (tmp_path / "t.csv", tmp_path):
        assert run(["rollouts", "show", str(path)]) == 2
        assert "edsim rollouts convert" in capsys.readouterr().err
