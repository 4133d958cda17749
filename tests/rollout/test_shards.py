"""Long rollouts: killed anywhere they go on, and end with the bytes of an undisturbed run."""

from __future__ import annotations

import functools
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from torch import Tensor

from edsim.errors import BadSimulatorError, BadTableError, OutputError
from edsim.rollout.__main__ import main
from edsim.rollout.decoding import parse_rule
from edsim.rollout.shards import Work, assemble, roll_out_shards
from edsim.rollout.slots import roll_out_fast
from edsim.rollout.work_folder import remove_work_folder
from edsim.tables.known import StayFacts
from edsim.tables.rollouts import RolloutsHeader
from edsim.tables.visits import Launches, Visits
from rollout.simulators import Table, facts_of, launches_of, random_visits, rule_of

HEADER = RolloutsHeader(producer="made up")
ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": os.pathsep.join(str(Path(p).resolve()) for p in sys.path),
}


def load_table(path: Path) -> Table:
    """A simulator out of a file that holds its seed."""
    return Table(seed=int(path.read_text()))


class Slow(Table):
    def propose(self, state: Any, u_time: Tensor) -> Tensor:
        time.sleep(0.02)
        return super().propose(state, u_time)


def load_slow(path: Path) -> Slow:
    return Slow(seed=int(path.read_text()))


class Interrupted(Table):
    """Breaks down after some steps."""

    def __init__(self, steps: int) -> None:
        super().__init__(seed=3)
        self.steps = steps

    def propose(self, state: Any, u_time: Tensor) -> Tensor:
        self.steps -= 1
        if self.steps < 0:
            raise KeyboardInterrupt
        return super().propose(state, u_time)


def not_a_number() -> Table:
    table = Table()
    table.logits *= np.nan
    return table


def leave_at_once() -> Table:
    os._exit(1)


@pytest.fixture
def encoded(tmp_path: Path) -> Path:
    """What a cohort keeps of 20 stays under one vocabulary, and a launch set beside it."""
    visits = random_visits(20)
    directory = tmp_path / "encoded" / "made-up"
    directory.mkdir(parents=True)
    for name in ("tokens", "minutes", "offsets", "start"):
        np.save(directory / f"{name}.npy", getattr(visits, name))
    np.save(directory.parent / "stay_ids.npy", visits.stay_ids)
    np.save(directory.parent / "split.npy", np.zeros(20, np.int8))
    texts, numbers = np.full(20, "x"), np.zeros(20)
    StayFacts(texts, numbers, texts, numbers, texts, numbers, np.zeros(20, np.int32)).save(
        directory.parent
    )
    facts_of().save(directory)
    np.save(tmp_path / "launches.npy", launches_of(visits))
    (tmp_path / "model").write_text("3")
    return directory


@pytest.fixture
def work(encoded: Path, tmp_path: Path) -> Work:
    return Work(
        load=functools.partial(load_table, tmp_path / "model"),
        encoded=encoded,
        launches=np.load(tmp_path / "launches.npy"),
        rule=parse_rule("repetition_penalty=1.2"),
        cap=20,
        seed=7,
        draws=2,
        identity={"producer": ("made up", 1)},
    )


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_the_shards_together_are_the_rollouts(work: Work, tmp_path: Path) -> None:
    roll_out_shards(work, tmp_path / "out", shard_rows=37)
    assert len(list((tmp_path / "out").glob("shard-*"))) > 5
    assert ((tmp_path / "out").stat().st_mode & 0o777) == 0o700
    table = assemble(tmp_path / "out", HEADER)
    whole = roll_out_fast(
        load_table(tmp_path / "model"),
        Visits.open(work.encoded),
        work.launches,
        rule=rule_of("repetition_penalty=1.2"),
        cap=20,
        seed=7,
        draws=2,
    )
    assert table.generated.tokens.tolist() == whole.tokens.tolist()
    assert table.generated.minutes.tolist() == whole.minutes.tolist()
    assert table.generated.offsets.tolist() == whole.offsets.tolist()
    assert table.draw.tolist() == [0, 1] * len(work.launches)
    assert (table.launches == np.repeat(work.launches, 2, axis=0)).all()


def test_launches_in_another_order_give_the_same_table(work: Work, tmp_path: Path) -> None:
    roll_out_shards(work, tmp_path / "out", shard_rows=37)
    mixed: Launches = work.launches[np.random.default_rng(0).permutation(len(work.launches))]
    roll_out_shards(replace(work, launches=mixed), tmp_path / "mixed", shard_rows=50)
    one, other = assemble(tmp_path / "out", HEADER), assemble(tmp_path / "mixed", HEADER)
    assert (one.launches == other.launches).all() and (one.draw == other.draw).all()
    assert one.generated.tokens.tolist() == other.generated.tokens.tolist()
    assert one.generated.minutes.tolist() == other.generated.minutes.tolist()


@pytest.mark.parametrize("steps", [0, 1, 30, 100])
def test_an_interrupted_run_goes_on_and_ends_with_the_same_bytes(
    work: Work, tmp_path: Path, steps: int
) -> None:
    roll_out_shards(work, tmp_path / "straight", shard_rows=37)
    with pytest.raises(KeyboardInterrupt):
        roll_out_shards(
            replace(work, load=lambda: Interrupted(steps)), tmp_path / "out", shard_rows=37
        )
    before = contents(tmp_path / "out")
    roll_out_shards(work, tmp_path / "out", shard_rows=37)
    after = contents(tmp_path / "out")
    assert after == contents(tmp_path / "straight")
    assert all(after[name] == content for name, content in before.items())


def test_a_finished_folder_is_left_alone_and_its_model_not_loaded(
    work: Work, tmp_path: Path
) -> None:
    roll_out_shards(work, tmp_path / "out", shard_rows=37)
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").iterdir()}
    roll_out_shards(replace(work, load=leave_at_once), tmp_path / "out", shard_rows=99)
    assert before == {path: path.stat().st_mtime_ns for path in (tmp_path / "out").iterdir()}


def test_slots_and_workers_change_no_byte(work: Work, tmp_path: Path) -> None:
    roll_out_shards(work, tmp_path / "one", shard_rows=60)
    roll_out_shards(work, tmp_path / "slots", shard_rows=60, slots=5)
    roll_out_shards(work, tmp_path / "two", shard_rows=60, workers=2)
    assert contents(tmp_path / "one") == contents(tmp_path / "two") == contents(tmp_path / "slots")


def refuse(change: Callable[[Work], Work], work: Work, folder: Path, message: str) -> None:
    before = contents(folder)
    with pytest.raises(OutputError, match=message):
        roll_out_shards(change(work), folder)
    assert contents(folder) == before


def test_a_folder_of_other_work_is_refused_and_kept(work: Work, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    roll_out_shards(work, folder, shard_rows=37)
    refuse(lambda w: replace(w, seed=8), work, folder, "other rollouts: seed differs")
    refuse(lambda w: replace(w, cap=21), work, folder, "cap differs")
    refuse(lambda w: replace(w, draws=3), work, folder, "draws differs")
    refuse(lambda w: replace(w, rule=parse_rule("greedy")), work, folder, "rule differs")
    refuse(lambda w: replace(w, launches=w.launches[::-1]), work, folder, "launches differs")
    refuse(lambda w: replace(w, identity={"producer": "x"}), work, folder, "identity differs")
    tokens = np.load(work.encoded / "tokens.npy")
    tokens[0] = 1 + tokens[0] % 7
    np.save(work.encoded / "tokens.npy", tokens)
    refuse(lambda w: w, work, folder, "visits differs")
    replace(facts_of(), sha256="1" * 64).save(work.encoded)
    refuse(lambda w: w, work, folder, "vocabulary, visits differ")


def test_a_folder_of_something_else_is_refused(work: Work, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "letter.txt").write_text("dear")
    with pytest.raises(OutputError, match="holds something else"):
        roll_out_shards(work, tmp_path / "out")
    assert contents(tmp_path / "out") == {"letter.txt": b"dear"}


def test_unfinished_missing_or_broken_folders_are_named(work: Work, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    with pytest.raises(BadTableError, match="no folder of rollout shards"):
        assemble(folder, HEADER)
    roll_out_shards(work, folder, shard_rows=37)
    shard = folder / "shard-000002.npz"
    shard.write_bytes(shard.read_bytes()[:-30])
    with pytest.raises(BadTableError, match=r"shard-000002\.npz cannot be read .* Remove it"):
        assemble(folder, HEADER)
    shard.unlink()
    with pytest.raises(BadTableError, match=r"1 of \d+ shards are missing, first shard 2"):
        assemble(folder, HEADER)
    roll_out_shards(work, folder)
    assert len(assemble(folder, HEADER)) == 2 * len(work.launches)


def test_what_a_dead_process_left_behind_is_removed(work: Work, tmp_path: Path) -> None:
    roll_out_shards(work, tmp_path / "out")
    dead = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True
    )
    leftover = tmp_path / "out" / f".shard-000000.npz.partial-{int(dead.stdout)}"
    leftover.write_bytes(b"half")
    roll_out_shards(work, tmp_path / "out")
    assert not leftover.exists()


@pytest.mark.parametrize("n_removed", range(6))
def test_a_folder_whose_removal_was_cut_short_is_gone_on_with(
    work: Work, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, n_removed: int
) -> None:
    folder = tmp_path / "out"
    roll_out_shards(work, folder, shard_rows=160)
    whole = contents(folder)
    left, unlink = [n_removed], Path.unlink

    def cut_short(path: Path, missing_ok: bool = False) -> None:
        if not left[0]:
            raise KeyboardInterrupt
        left[0] -= 1
        unlink(path, missing_ok)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "unlink", cut_short)
        with suppress(KeyboardInterrupt):
            remove_work_folder(folder)
    roll_out_shards(work, folder, shard_rows=160)
    assert contents(folder) == whole
    remove_work_folder(folder)
    assert not folder.exists()


def test_a_partial_file_of_a_living_process_is_left_in_peace(work: Work, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    partial = tmp_path / "out" / f".launches.npy.partial-{os.getppid()}"
    partial.write_bytes(b"half")
    roll_out_shards(work, tmp_path / "out")
    assert partial.exists()


def test_a_launch_of_an_unknown_stay_leaves_no_folder(work: Work, tmp_path: Path) -> None:
    with pytest.raises(BadTableError, match="name a stay"):
        roll_out_shards(replace(work, launches=np.array([[99, 1]], np.int32)), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_full_or_forbidden_disk_is_a_message(work: Work, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="stopped: "):
        roll_out_shards(work, tmp_path / "file" / "out")


def test_a_worker_that_fails_says_why(work: Work, tmp_path: Path) -> None:
    with pytest.raises(BadSimulatorError, match="holds nan"):
        roll_out_shards(replace(work, load=not_a_number), tmp_path / "a", shard_rows=60, workers=2)
    with pytest.raises(BadSimulatorError, match="worker process ended"):
        roll_out_shards(replace(work, load=leave_at_once), tmp_path / "b", shard_rows=60, workers=2)
    assert not list((tmp_path / "a").glob("shard-*"))


def arguments(work: Work, tmp_path: Path, loader: str = "load_table") -> list[str]:
    given = {
        "loader": f"rollout.test_shards:{loader}",
        "model": tmp_path / "model",
        "encoded": work.encoded,
        "launches": tmp_path / "launches.npy",
        "out": tmp_path / "out",
        "rule": "repetition_penalty=1.2",
        "cap": 20,
        "seed": 7,
        "draws": 2,
        "shard-rows": 37,
    }
    return [text for name, value in given.items() for text in (f"--{name}", str(value))]


def test_the_command_gives_the_same_shards_and_says_how_far_it_is(
    work: Work, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments(work, tmp_path)) == 0
    n = 2 * len(work.launches)
    assert f"{n} of {n} rollouts" in capsys.readouterr().out
    roll_out_shards(work, tmp_path / "called", shard_rows=37)
    for name, content in contents(tmp_path / "called").items():
        assert name == "work.json" or content == (tmp_path / "out" / name).read_bytes()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"--loader": "rollout.test_shards:nobody"}, "no loader"),
        ({"--loader": "nowhere"}, "no loader"),
        ({"--rule": "top_q=1"}, "no decoding rule 'top_q'"),
        ({"--model": "/nowhere/model"}, "No such file"),
        ({"--cap": "0"}, "cap must be at least 1"),
    ],
)
def test_the_command_refuses_with_a_message(
    work: Work,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    changed: dict[str, str],
    message: str,
) -> None:
    given = arguments(work, tmp_path)
    for name, value in changed.items():
        given[given.index(name) + 1] = value
    assert main(given) == 2
    assert message in capsys.readouterr().err


def test_the_command_needs_numpy_and_torch_alone(work: Work, tmp_path: Path) -> None:
    blocked = "import sys; [sys.modules.__setitem__(name, None) for name in ('polars', 'pyarrow', 'pandas', 'numba', 'rich', 'cyclopts', 'scipy', 'sklearn')]; "
    run = f"from edsim.rollout.__main__ import main; sys.exit(main({arguments(work, tmp_path)!r}))"
    done = subprocess.run(
        [sys.executable, "-c", blocked + run],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.kill
def test_killed_at_random_times_it_still_ends_with_the_same_bytes(
    work: Work, tmp_path: Path
) -> None:
    command = [sys.executable, "-m", "edsim.rollout", *arguments(work, tmp_path, "load_slow")]
    for seconds in np.random.default_rng().uniform(1.5, 5, size=6):
        process = subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.DEVNULL)
        time.sleep(seconds)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert subprocess.run(command, env=ENVIRONMENT, stdout=subprocess.DEVNULL).returncode == 0
    roll_out_shards(work, tmp_path / "straight", shard_rows=37)
    for name, content in contents(tmp_path / "straight").items():
        assert name == "work.json" or content == (tmp_path / "out" / name).read_bytes()


@pytest.mark.kill
@pytest.mark.parametrize(
    ("there", "seconds"),
    [("work.json", 0.0), ("work.json", 0.3), ("work.json", 1.0), ("shard-*", 0.5)],
)  # while the workers begin, and while they work
def test_ctrl_c_ends_the_workers_at_once_and_without_a_word(
    work: Work, tmp_path: Path, there: str, seconds: float
) -> None:
    """A terminal sends it to all processes; the shards that were finished stay."""
    given = [*arguments(work, tmp_path, "load_slow"), "--workers", "2"]
    script = (
        "import sys; from edsim.rollout.__main__ import main\n"
        "if __name__ == '__main__':\n"
        f"    try: sys.exit(main({given!r}))\n"
        "    except KeyboardInterrupt: sys.exit(130)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        env=ENVIRONMENT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    while not list((tmp_path / "out").glob(there)):
        assert process.poll() is None
        time.sleep(0.01)
    time.sleep(seconds)
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=60)  # until no worker has its standard error open
    assert process.returncode == 130
    assert "Traceback" not in said


def test_work_can_be_handed_to_another_process(work: Work) -> None:
    assert pickle.loads(pickle.dumps(work)).manifest() == work.manifest()
