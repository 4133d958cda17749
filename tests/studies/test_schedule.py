"""Pieces are made in order, once, by whoever; what fails takes only what needs it along."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import piecework
import pytest
from piecework import Seen, graph_of, made, piece

from edsim.errors import OutputError
from edsim.lab.locks import only_one
from edsim.lab.store import Store
from edsim.progress import Progress, silent
from edsim.studies.crew import Alone
from edsim.studies.pieces import Outcome
from edsim.studies.pool import Pool
from edsim.studies.schedule import Crew, carry_out


@pytest.fixture()
def store(tmp_path: Path) -> Store:
    (tmp_path / "store").mkdir()
    return Store(tmp_path / "store", restricted=False)


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    with closing(Pool(2)) as crew:
        yield crew


@pytest.fixture(params=["alone", "pool"])
def crew(request: pytest.FixtureRequest, pool: Pool) -> Crew:
    return Alone() if request.param == "alone" else pool


def test_what_is_needed_comes_first_and_nothing_twice(store: Store, crew: Crew) -> None:
    model = piece(store, "model")
    one, two = piece(store, "one", model), piece(store, "two", model)
    score = piece(store, "score", one, two)
    seen = Seen()
    outcomes = carry_out(graph_of(model, one, two, score), crew, seen)
    assert made(store)[0] == "model" and made(store)[-1] == "score" and len(made(store)) == 4
    assert not any(outcome.failed for outcome in outcomes.values())
    assert seen.wanted == ["model", "one", "two", "score"] and len(seen.ended) == 4
    assert carry_out(graph_of(model, one, two, score), crew, Seen()) == {}
    assert len(made(store)) == 4


def test_only_what_is_missing_is_made(store: Store) -> None:
    model = piece(store, "model")
    one, two = piece(store, "one", model), piece(store, "two", model)
    graph = graph_of(model, one, two)
    carry_out(graph, Alone(), Seen())
    two.path.unlink()
    model.path.unlink()
    seen = Seen()
    carry_out(graph, Alone(), seen)
    assert seen.wanted == ["model", "two"], "what needs it needs its model again"
    model.path.unlink()
    assert graph.wanted() == {}, "a model that nothing missing needs is not made again"


@pytest.mark.parametrize(
    ("work", "said"),
    [
        (piecework.refuse, "there is no such thing."),
        (piecework.break_down, "a fault: ValueError in piecework.py"),
    ],
)
def test_what_fails_takes_only_what_needs_it_along(
    store: Store, crew: Crew, work: object, said: str
) -> None:
    broken = piece(store, "broken", work=work)
    needy = piece(store, "needy", broken)
    needier = piece(store, "needier", needy)
    sound = piece(store, "sound", piece(store, "base"))
    graph = graph_of(broken, needy, needier, piece(store, "base"), sound)
    outcomes = carry_out(graph, crew, Seen())
    assert said in outcomes[broken.key].message and "row" not in outcomes[broken.key].message
    assert outcomes[needy.key].message == "not made, because broken failed."
    assert outcomes[needier.key].because == broken.key
    assert sorted(made(store)) == ["base", "sound"]


def test_a_worker_that_is_killed_costs_its_own_piece_only(store: Store, pool: Pool) -> None:
    killed = piece(store, "killed", work=piecework.be_killed)
    others = [piece(store, f"other-{i}") for i in range(4)]
    outcomes = carry_out(graph_of(killed, *others), pool, Seen())
    assert "ended from outside (signal 9)" in outcomes[killed.key].message
    assert sorted(made(store)) == [one.title for one in others]


def test_above_the_cap_pieces_run_one_by_one(store: Store) -> None:
    big = [
        piece(store, name, work=partial(piecework.take_memory, store, name, 300))
        for name in ("one", "two")
    ]
    with closing(Pool(2, memory_mib=520)) as crew:
        outcomes = carry_out(graph_of(*big), crew, Seen())
    assert not any(outcome.failed for outcome in outcomes.values()), outcomes
    assert sorted(made(store)) == ["one", "two"]


def test_what_is_expected_to_be_too_large_waits(store: Store) -> None:
    pieces = [piece(store, name) for name in ("one", "two")]
    with closing(Pool(2, memory_mib=1000, expected_mib=lambda piece: 600)) as crew:
        assert crew.takes(pieces[0])
        crew.start(pieces[0])
        assert not crew.takes(pieces[1])
        assert [one.message for one in crew.ended()] == [""]
        assert crew.takes(pieces[1])


def test_what_alone_is_above_the_cap_fails_and_says_so(store: Store) -> None:
    big = piece(store, "big", work=partial(piecework.take_memory, store, "big", 400))
    with closing(Pool(1, memory_mib=256)) as crew:
        outcomes = carry_out(graph_of(big), crew, Seen())
    message = "it needed more than the 0.25 GiB that --memory allows."
    assert outcomes[big.key].message == message


def fill(store: Store, progress: Progress = silent) -> None:
    def make(path: Path) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    store.get(piecework.asked("full"), make)


def test_a_full_disk_stops_everything_with_one_message(store: Store) -> None:
    full = piece(store, "full", work=partial(fill, store))
    others = [piece(store, f"other-{i}") for i in range(3)]
    with pytest.raises(OutputError, match="no space left"):
        carry_out(graph_of(full, *others), Alone(), Seen(), seconds={full.key: 9.0})
    assert made(store) == []


def test_the_longest_way_goes_first(store: Store) -> None:
    short = [piece(store, f"short-{i}") for i in range(3)]
    model = piece(store, "model")
    long = piece(store, "long", model)
    carry_out(graph_of(*short, model, long), Alone(), Seen(), seconds={long.key: 50.0})
    assert made(store)[:2] == ["model", "long"]


def test_what_another_process_has_made_meanwhile_is_found(store: Store) -> None:
    one = piece(store, "one")
    graph = graph_of(one)

    class Slow(Alone):
        def ended(self) -> list[Outcome]:
            piecework.write(store, "one")
            return super().ended()

    outcomes = carry_out(graph, Slow(), Seen())
    assert outcomes[one.key].found and made(store) == ["one"]


def test_a_piece_that_is_being_made_is_seen_to_run(store: Store) -> None:
    one = piece(store, "one")
    assert not one.running()
    store.path(one.asked).parent.mkdir(parents=True)
    with only_one(store.lock_path(one.asked)):
        assert one.running() and not one.done()
    assert not one.running()


def test_no_worker_outlives_the_process_it_works_for(store: Store) -> None:
    """Workers go when their parent is killed, though they are in the midst of a piece."""
    import multiprocessing

    spawn = multiprocessing.get_context("spawn")
    parent = spawn.Process(target=parent_of_a_pool, args=(store,))
    parent.start()
    begun = store.folder / "workers"
    while not (begun.exists() and begun.read_text().endswith("\n")):
        time.sleep(0.02)
    worker = int(begun.read_text())
    parent.kill()
    parent.join()
    until = time.monotonic() + 60
    while alive(worker):
        assert time.monotonic() < until, "the worker lives on"
        time.sleep(0.02)


def parent_of_a_pool(store: Store) -> None:
    crew = Pool(1)
    (worker,) = [one.process.pid for one in crew._workers]
    crew.start(piece(store, "slow", seconds=60.0))
    (store.folder / "workers").write_text(f"{worker}\n")
    crew.ended()


def alive(process: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{process}/stat").read_text().split()[2]
    except OSError:
        return False
