"""A thing is made once, whoever asks, and is whole or not there."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import stat
import time
from pathlib import Path

import pytest

from edsim.errors import OutputError
from edsim.lab.locks import is_held, only_one, only_one_or_none
from edsim.lab.store import Asked, Store, manifest_path
from edsim.tables.whole_file import whole_file

SPAWN = multiprocessing.get_context("spawn")


def asked(**inputs: object) -> Asked:
    return Asked(kind="rollouts", name="ngram:3 of C", inputs=inputs, ending=".txt", units=7)


def test_a_thing_is_made_once(tmp_path: Path) -> None:
    store = Store(tmp_path, restricted=False)
    made = []

    def make(path: Path) -> None:
        made.append(path)
        path.write_text("content")

    first = store.get(asked(seed=1), make)
    assert store.get(asked(seed=1), make) == first and first.read_text() == "content"
    assert len(made) == 1 and made[0] != first
    assert store.get(asked(seed=2), make) != first and len(made) == 2


def test_the_order_of_inputs_is_no_input(tmp_path: Path) -> None:
    assert asked(a=1, b=2).key == asked(b=2, a=1).key != asked(a=2, b=1).key


def test_a_manifest_says_what_it_is_and_what_it_took(tmp_path: Path) -> None:
    store = Store(tmp_path, restricted=False)
    path = store.get(asked(seed=1), lambda path: path.write_text("x") and None)
    said = json.loads(manifest_path(path).read_text())
    assert said["inputs"] == {"seed": 1} and said["units"] == 7 and said["peak_mib"] > 1
    assert said["seconds"] >= 0 and said["code_version"]
    assert str(tmp_path) not in json.dumps(said) and os.uname().nodename not in json.dumps(said)
    assert store.manifest(asked(seed=1)).inputs == {"seed": 1}
    assert [one.units for one in store.manifests("rollouts")] == [7]


def test_what_fails_leaves_nothing_and_is_made_again(tmp_path: Path) -> None:
    store = Store(tmp_path, restricted=False)

    def fail(path: Path) -> None:
        path.mkdir()
        (path / "half").write_text("half")
        raise ValueError("no")

    with pytest.raises(ValueError):
        store.get(asked(), fail)
    assert list((tmp_path / "rollouts").iterdir()) == []
    assert store.get(asked(), lambda path: path.write_text("x") and None).read_text() == "x"


def _be_killed_while_writing(path: Path) -> None:
    with whole_file(path, restricted=False) as stream:
        stream.write(b"half")
        stream.flush()
        os.kill(os.getpid(), signal.SIGKILL)


def _ask_and_be_killed(folder: Path) -> None:
    Store(folder, restricted=False).get(asked(), _be_killed_while_writing)


def test_what_a_killed_process_was_writing_is_gone_when_it_is_made_again(tmp_path: Path) -> None:
    killed = SPAWN.Process(target=_ask_and_be_killed, args=(tmp_path,))
    killed.start()
    killed.join()
    assert [one.name for one in (tmp_path / "rollouts").iterdir() if ".partial" in one.name]
    path = Store(tmp_path, restricted=False).get(
        asked(), lambda path: path.write_text("x") and None
    )
    names = {one.name for one in path.parent.iterdir()}
    assert names == {path.name, manifest_path(path).name}


def _card_of(path: Path) -> Path:
    return path.with_suffix(".md")


def _ask_and_be_killed_beside(folder: Path) -> None:
    def beside(made: Path, path: Path) -> None:
        _be_killed_while_writing(_card_of(path))

    Store(folder, restricted=False).get(
        asked(), lambda path: path.write_text("x") and None, beside=beside
    )


def test_a_thing_is_not_there_before_what_stands_beside_it(tmp_path: Path) -> None:
    killed = SPAWN.Process(target=_ask_and_be_killed_beside, args=(tmp_path,))
    killed.start()
    killed.join()
    store = Store(tmp_path, restricted=False)
    assert not store.holds(asked())

    def beside(made: Path, path: Path) -> None:
        _card_of(path).write_text(f"card of {made.read_text()}")

    path = store.get(asked(), lambda path: path.write_text("x") and None, beside=beside)
    assert _card_of(path).read_text() == "card of x"
    names = {one.name for one in path.parent.iterdir()}
    assert names == {path.name, manifest_path(path).name, _card_of(path).name}


def test_restricted_things_are_for_their_owner(tmp_path: Path) -> None:
    def make(path: Path) -> None:
        path.mkdir()
        (path / "model").write_text("x")

    path = Store(tmp_path / "store", restricted=True).get(asked(), make)
    for one in [tmp_path / "store", path.parent, path, path / "model", manifest_path(path)]:
        assert not stat.S_IMODE(one.stat().st_mode) & 0o077, one


def _count_and_make(path: Path) -> None:
    with (path.parent.parent / "count").open("a") as stream:
        stream.write("made\n")
    time.sleep(0.3)
    path.write_text("x")


def _ask(folder: Path) -> None:
    Store(folder, restricted=False).get(asked(), _count_and_make)


def test_processes_that_ask_at_once_make_it_once(tmp_path: Path) -> None:
    asking = [SPAWN.Process(target=_ask, args=(tmp_path,)) for _ in range(3)]
    for one in asking:
        one.start()
    for one in asking:
        one.join()
        assert one.exitcode == 0
    assert (tmp_path / "count").read_text().splitlines() == ["made"]
    assert [p.name for p in (tmp_path / "rollouts").iterdir() if p.name.startswith(".")] == []


def _hold(path: Path, holds: Path) -> None:
    with only_one(path):
        holds.touch()
        time.sleep(60)


def test_the_lock_of_a_dead_process_is_free(tmp_path: Path) -> None:
    lock, holds = tmp_path / "lock", tmp_path / "holds"
    holder = SPAWN.Process(target=_hold, args=(lock, holds))
    holder.start()
    while not holds.exists():
        time.sleep(0.01)
    with only_one_or_none(lock) as free:
        assert not free
    assert is_held(lock)
    assert holder.pid is not None
    os.kill(holder.pid, signal.SIGKILL)
    holder.join()
    told = []
    with only_one(lock, lambda: told.append(1)):
        pass
    assert told == [] and not is_held(lock)


def test_a_store_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot be written"):
        Store(tmp_path / "file" / "store", restricted=False).get(asked(), lambda path: None)
