"""Simulators of other people: found by file, module or entry point, and refused where they fail."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from edsim.cli import run
from edsim.errors import BadInputError
from edsim.lab.cohort import Cohort, open_cohort
from edsim.lab.foreign import entry_point_names
from edsim.lab.rollouts import RolloutSettings, roll_out
from last_event import LAST_EVENT

pytest.importorskip("torch")

BROKEN = LAST_EVENT.replace(
    "        return self.log_probs[state]", "        raise ValueError('patient 10014729')"
)
PROCESS = """
import numpy as np
from edsim.tables.visits import Suffixes

def rows_of(tokens, minutes, lacking=0):
    def simulate(prefixes, *, cap, draws, seed):
        n = len(prefixes) * draws - lacking
        return Suffixes(
            np.tile(np.array(tokens, dtype=np.int16), n),
            np.tile(np.array(minutes, dtype=np.float32), n),
            np.arange(n + 1, dtype=np.int64) * len(tokens),
        )
    return simulate

good = rows_of([5, 0], [1, 0])
goes_on_after_end = rows_of([0, 5], [1, 0])
forgets_a_row = rows_of([5, 0], [1, 0], lacking=1)
goes_back_in_time = rows_of([5, 0], [-1, 0])
makes_up_events = rows_of([99, 0], [1, 0])
stops_early = rows_of([5, 5], [1, 0])

def nothing(prefixes, *, cap, draws, seed):
    return None

def raises(prefixes, *, cap, draws, seed):
    raise RuntimeError("patient 10014729")

def leaves(prefixes, *, cap, draws, seed):
    raise SystemExit(0)
"""
TEN = RolloutSettings(launches="matched-10")


@pytest.fixture(scope="module")
def cohort(tmp_path_factory: pytest.TempPathFactory) -> Cohort:
    out = tmp_path_factory.mktemp("foreign") / "C"
    assert run(["cohort", "build", "synthetic", "--stays", "300", "--out", str(out)]) == 0
    return open_cohort(out)


def install(folder: Path, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    """What an installed package leaves behind: its module and the names it makes known."""
    (folder / "anothers_package.py").write_text(LAST_EVENT)
    metadata = folder / "anothers_package-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: anothers-package\nVersion: 1\n"
    )
    (metadata / "entry_points.txt").write_text(f"[edsim.simulators]\nlast_event = {value}\n")
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, "anothers_package", raising=False)


def test_an_installed_package_makes_a_simulator_known_by_name(
    cohort: Cohort, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, monkeypatch, "anothers_package:LastEvent")
    assert entry_point_names() == ["last_event"]
    (tmp_path / "mine.py").write_text(LAST_EVENT)
    by_name = roll_out(cohort, "last_event", TEN)
    by_file = roll_out(cohort, f"{tmp_path}/mine.py:LastEvent", TEN)
    assert by_name.header.producer == "last_event"
    assert (by_name.generated.tokens == by_file.generated.tokens).all()
    with pytest.raises(BadInputError, match="last_event"):
        roll_out(cohort, "last_evnt", TEN)


def test_a_package_whose_entry_point_is_broken_is_told(
    cohort: Cohort, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, monkeypatch, "anothers_package:NoSuchThing")
    with pytest.raises(BadInputError, match="'last_event' cannot be imported"):
        roll_out(cohort, "last_event", TEN)


def test_a_file_may_be_called_like_any_module_and_import_what_lies_beside_it(
    cohort: Cohort, tmp_path: Path
) -> None:
    import random

    (tmp_path / "lies_beside.py").write_text(LAST_EVENT)
    (tmp_path / "random.py").write_text("from lies_beside import LastEvent\n")
    assert len(roll_out(cohort, f"{tmp_path}/random.py:LastEvent", TEN)) == 10
    assert sys.modules["random"] is random


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import no_such_thing", "module 'no_such_thing' is not found"),
        ("1 / 0", "raised ZeroDivisionError in mine.py, line 1"),
        ("raise SystemExit(0)", "raised SystemExit in mine.py, line 1"),
        ("x = (", "raised SyntaxError"),
        ("def Mine(facts): raise ValueError('patient 10014729')", "raised ValueError in mine.py"),
    ],
)
def test_a_module_that_cannot_be_run_is_told_with_its_line(
    cohort: Cohort, tmp_path: Path, code: str, said: str
) -> None:
    (tmp_path / "mine.py").write_text(code)
    with pytest.raises(BadInputError) as refused:
        roll_out(cohort, f"{tmp_path}/mine.py:Mine", TEN)
    assert said in str(refused.value) and "10014729" not in str(refused.value)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("goes_on_after_end", "END before their last event"),
        ("forgets_a_row", "9 rows where 10 are expected"),
        ("goes_back_in_time", "10 negative"),
        ("makes_up_events", "outside the vocabulary"),
        ("stops_early", "fewer events than the cap"),
        ("nothing", "NoneType"),
        ("raises", "raised RuntimeError in process.py, line "),
        ("leaves", "raised SystemExit in process.py, line "),
    ],
)
def test_a_process_that_breaks_a_promise_writes_nothing(
    cohort: Cohort, tmp_path: Path, name: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "process.py").write_text(PROCESS)
    out = tmp_path / "out" / "r.rollouts.parquet"
    shared = ["--cohort", str(cohort.directory)]
    command = ["--launches", "matched-10", "--out", str(out), *shared]
    assert run(["rollout", f"{tmp_path}/process.py:{name}", *command]) == 2
    told = capsys.readouterr().err
    assert said in told and "10014729" not in told
    assert not out.parent.exists() or list(out.parent.iterdir()) == []
    assert run(["check", f"{tmp_path}/process.py:{name}", *shared]) == 1
    assert run(["rollout", f"{tmp_path}/process.py:good", *command]) == 0


def test_who_mends_their_simulator_can_go_on_at_once(
    cohort: Cohort, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A run that failed leaves no shards of the broken code that would bar the mended one."""
    file, out = tmp_path / "mine.py", tmp_path / "out" / "r.rollouts.parquet"
    command = ["rollout", f"{file}:LastEvent", "--cohort", str(cohort.directory)]
    command += ["--launches", "matched-10", "--out", str(out)]
    file.write_text(BROKEN)
    assert run(command) == 2
    told = capsys.readouterr().err
    assert "propose raised ValueError in mine.py, line 14" in told and "10014729" not in told
    assert list(out.parent.iterdir()) == []
    file.write_text(LAST_EVENT)
    assert run(command) == 0
    assert list(out.parent.iterdir()) == [out]
