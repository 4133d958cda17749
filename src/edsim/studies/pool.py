"""Processes of this machine as the crew, under a cap of memory.

Workers are spawned and stay. A piece begins when there is room for what it is expected to need; if
all together outgrow the cap, the largest worker is ended and its piece made again alone. A worker
that dies takes nothing with it but its piece, and no worker outlives the process it works for.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path

from edsim.studies.pieces import Outcome, Piece, perform

LOOK_EVERY = 0.25
"""Seconds between two looks at the memory of the workers."""
_SPAWN = multiprocessing.get_context("spawn")


@dataclass(slots=True)
class _Worker:
    process: BaseProcess
    pipe: Connection
    piece: Piece | None = None


class Pool:
    """Worker processes; `expected_mib` says what a piece will need."""

    def __init__(
        self,
        workers: int,
        *,
        memory_mib: float | None = None,
        expected_mib: Callable[[Piece], float] = lambda piece: 0.0,
    ) -> None:
        self._threads = max(1, (os.cpu_count() or 1) // workers)
        self._memory_mib, self._expected_mib = memory_mib, expected_mib
        self._must_be_alone: set[str] = set()
        self._workers = [self._spawned() for _ in range(workers)]

    def takes(self, piece: Piece) -> bool:
        """Whether a worker is free, and memory enough."""
        busy = [worker.piece for worker in self._workers if worker.piece is not None]
        if not busy:
            return True
        alone = any(one.key in self._must_be_alone for one in (piece, *busy))
        if alone or len(busy) == len(self._workers):
            return False
        needed = sum(self._expected_mib(one) for one in (piece, *busy))
        return self._memory_mib is None or needed <= self._memory_mib

    def start(self, piece: Piece) -> None:
        """Hand it to a free worker."""
        worker = next(worker for worker in self._workers if worker.piece is None)
        worker.piece = piece
        with suppress(OSError):  # a worker that is no more is noticed when its end is waited for
            worker.pipe.send(piece)

    def ended(self) -> list[Outcome]:
        """The pieces that have ended since; waits for one."""
        while True:
            busy = [worker for worker in self._workers if worker.piece is not None]
            timeout = None if self._memory_mib is None else LOOK_EVERY
            said = wait([one for w in busy for one in (w.pipe, w.process.sentinel)], timeout)
            outcomes = [
                self._outcome(worker)
                for worker in busy
                if worker.pipe in said or worker.process.sentinel in said
            ]
            if outcomes:
                return outcomes
            too_large = self._outgrown(busy)
            if too_large is not None:
                return [too_large]

    def close(self) -> None:
        """End the workers, whatever they do."""
        for worker in self._workers:
            _end(worker)

    def _spawned(self) -> _Worker:
        ours, theirs = _SPAWN.Pipe()
        process = _SPAWN.Process(target=_work, args=(theirs, self._threads), daemon=True)
        process.start()
        theirs.close()
        return _Worker(process, ours)

    def _outcome(self, worker: _Worker) -> Outcome:
        piece, worker.piece = worker.piece, None
        assert piece is not None
        try:
            outcome: Outcome = worker.pipe.recv()
            return outcome
        except (EOFError, OSError):
            worker.process.join()
            code = worker.process.exitcode or 0
            self._replace(worker)
            how = f"signal {-code}" if code < 0 else f"exit code {code}"
            return Outcome(
                piece.key,
                f"the process that made it was ended from outside ({how}); most often memory ran "
                "out. Use fewer --workers, or a cap with --memory.",
            )

    def _outgrown(self, busy: list[_Worker]) -> Outcome | None:
        """End the largest worker where all together are above the cap."""
        if self._memory_mib is None:
            return None
        sizes = {id(worker): _resident_mib(worker.process.pid) for worker in self._workers}
        if sum(sizes.values()) <= self._memory_mib:
            return None
        largest = max(self._workers, key=lambda worker: sizes[id(worker)])
        piece = largest.piece
        self._replace(largest)
        if piece is None:
            return None
        self._must_be_alone.add(piece.key)
        if len(busy) > 1:
            return Outcome(piece.key, again=True)
        cap = f"{self._memory_mib / 1024:g} GiB"
        return Outcome(piece.key, f"it needed more than the {cap} that --memory allows.")

    def _replace(self, worker: _Worker) -> None:
        _end(worker)
        fresh = self._spawned()
        worker.process, worker.pipe, worker.piece = fresh.process, fresh.pipe, None


def _end(worker: _Worker) -> None:
    worker.process.kill()
    worker.process.join()
    worker.pipe.close()


def _work(pipe: Connection, threads: int) -> None:
    """The life of a worker: piece after piece, until nobody is there to hand out another."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the one who started us
    threading.Thread(target=_die_with_parent, daemon=True).start()
    for name in ("OMP_NUM_THREADS", "POLARS_MAX_THREADS", "NUMBA_NUM_THREADS"):
        os.environ[name] = str(threads)
    with suppress(EOFError, OSError):
        while True:
            pipe.send(perform(pipe.recv()))


def _die_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def _resident_mib(process: int | None) -> float:
    """Memory of a process in MiB; 0 where the system does not tell."""
    try:
        pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20
