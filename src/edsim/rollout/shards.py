"""Rollouts too many for one sitting: finished shards go to a work folder, and can be gone on with.

Launches x draws are divided into shards of whole launches. What kills the run leaves finished
shards only, and the same command finishes what is missing. Neither slots nor workers change a byte.
"""

from __future__ import annotations

import hashlib
import os
import signal
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import active_children, get_context
from pathlib import Path
from threading import current_thread, main_thread
from typing import Any

import numpy as np
import torch

from edsim.errors import BadSimulatorError, BadTableError, EdsimError
from edsim.models.protocol import Simulator
from edsim.progress import Progress, Silent, silent
from edsim.rollout.decoding import Rule
from edsim.rollout.settings import refuse_settings
from edsim.rollout.slots import roll_out_fast
from edsim.rollout.work_folder import WorkFolder, plain_messages
from edsim.tables.facts import VocabularyFacts
from edsim.tables.rollouts import Rollouts, RolloutsHeader
from edsim.tables.visits import Launches, Suffixes, Visits

SHARD_ROWS = 262_144


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What is to be rolled out, in a form that can be handed to another process."""

    load: Callable[[], Simulator[Any]]
    """Makes the simulator, once in every process; a function that can be pickled."""
    encoded: Path
    """An `encoded/<vocabulary>/` directory of a cohort."""
    launches: Launches
    rule: Rule
    cap: int
    seed: int = 0
    draws: int = 1
    identity: Mapping[str, Any] = field(default_factory=dict)
    """What else decides the content, JSON values only: the producer, its version and its hash."""

    def manifest(self) -> dict[str, Any]:
        """Everything that decides the rollouts."""
        return {
            "identity": dict(self.identity),
            "rule": str(self.rule),
            "cap": self.cap,
            "seed": self.seed,
            "draws": self.draws,
            "n_launches": len(self.launches),
            "launches": hashlib.sha256(np.ascontiguousarray(self.launches).data).hexdigest(),
            "vocabulary": VocabularyFacts.open(self.encoded).sha256,
            "visits": hash_of_visits(self.encoded),
        }


def roll_out_shards(
    work: Work,
    directory: Path,
    *,
    workers: int = 1,
    slots: int | None = None,
    shard_rows: int = SHARD_ROWS,
    progress: Progress = silent,
) -> None:
    """Fill `directory` with the shards of `work` that it does not hold yet."""
    refuse_settings(
        cap=work.cap, draws=work.draws, slots=1 if slots is None else slots, workers=workers
    )
    Visits.open(work.encoded).checked(work.launches)  # refused before anything is written
    for said in work.rule.bind(VocabularyFacts.open(work.encoded)).idle():
        progress.notice(said)
    with plain_messages(directory):
        folder = WorkFolder.make(
            directory, work.manifest(), work.launches, per_shard=max(1, shard_rows // work.draws)
        )
        missing = folder.missing()
        n_missing = sum(len(work.launches[folder.shards[i]]) for i in missing)
        progress.stage("rolling out", len(work.launches) * work.draws, "rollouts")
        progress.advance((len(work.launches) - n_missing) * work.draws)
        if workers > 1 and len(missing) > 1:
            _make_in_processes(work, folder, missing, workers, slots, progress)
        elif missing:
            maker = _Maker(work, folder, slots)
            for number in missing:
                maker.make(number, progress)


def assemble(directory: Path, header: RolloutsHeader) -> Rollouts:
    """The rollouts of a finished work folder, sorted by stay row, prefix length and draw."""
    folder = WorkFolder.open(directory)
    missing = folder.missing()
    if missing:
        raise BadTableError(
            f"{len(missing)} of {len(folder.shards)} shards are missing, first shard {missing[0]}. "
            "Run the rollout again to finish them."
        )
    generated = Suffixes.join([folder.read(i) for i in range(len(folder.shards))])
    launches, draws = folder.launches, folder.decides["draws"]
    of_row = np.repeat(np.arange(len(launches)), draws)
    draw = np.tile(np.arange(draws, dtype=np.int32), len(launches))
    order = np.lexsort((draw, launches[of_row, 1], launches[of_row, 0]))
    if (np.diff(order) < 0).any():
        of_row, draw, generated = of_row[order], draw[order], generated.take(order)
    return Rollouts(header, launches[of_row], draw, generated)


class _Maker:
    """Makes shards in this process, with the model loaded once."""

    def __init__(self, work: Work, folder: WorkFolder, slots: int | None) -> None:
        self._work, self._folder, self._slots = work, folder, slots
        self._model = work.load()
        self._visits = Visits.open(work.encoded)
        self._rule = work.rule.bind(VocabularyFacts.open(work.encoded))

    def make(self, number: int, progress: Progress) -> None:
        """Roll out one shard and write it."""
        suffixes = roll_out_fast(
            self._model,
            self._visits,
            self._work.launches[self._folder.shards[number]],
            rule=self._rule,
            cap=self._work.cap,
            seed=self._work.seed,
            draws=self._work.draws,
            slots=self._slots,
            progress=_OneStage(progress),
        )
        self._folder.write(number, suffixes)


class _OneStage(Silent):
    """Counts the rollouts of a shard as part of the whole."""

    def __init__(self, whole: Progress) -> None:
        self._whole = whole

    def advance(self, n: int) -> None:
        self._whole.advance(n)


_maker: _Maker | None = None  # of a worker process


def _begin_worker(work: Work, folder: WorkFolder, slots: int | None, threads: int) -> None:
    global _maker
    torch.set_num_threads(threads)
    _maker = _Maker(work, folder, slots)


def _make_in_worker(number: int) -> str:
    """Make one shard; the message where it cannot be made."""
    assert _maker is not None
    try:
        _maker.make(number, silent)
    except EdsimError as error:
        return str(error)
    return ""


def _make_in_processes(
    work: Work,
    folder: WorkFolder,
    missing: list[int],
    workers: int,
    slots: int | None,
    progress: Progress,
) -> None:
    threads = max(1, (os.cpu_count() or 1) // workers)
    pool = ProcessPoolExecutor(
        min(workers, len(missing)),
        mp_context=get_context("spawn"),
        initializer=_begin_worker,
        initargs=(work, folder, slots, threads),
    )
    try:
        with _interrupts_held():  # the processes begin with the first of these
            futures = {pool.submit(_make_in_worker, number): number for number in missing}
        for future in as_completed(futures):
            if message := future.result():
                raise BadSimulatorError(message)
            progress.advance(len(work.launches[folder.shards[futures[future]]]) * work.draws)
    except BrokenProcessPool:
        raise BadSimulatorError(
            "a worker process ended before its shard was finished: the simulator could not be "
            "loaded there, or memory ran out. Finished shards are kept; run the same again with "
            "one worker to see the reason."
        ) from None
    except KeyboardInterrupt:
        for worker in active_children():
            worker.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Ctrl-C waits until the processes are begun, which leave it to this one for good.

    It reaches all processes of a terminal, and a process that is half begun would tell of it.
    """
    if current_thread() is not main_thread():  # others cannot say what a signal does
        yield
        return
    held: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: held.append(number))
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # what is begun inherits it
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGINT, before)
    if held:
        raise KeyboardInterrupt


def hash_of_visits(encoded: Path) -> str:
    """SHA-256 of the arrays that prefixes are made of."""
    digest = hashlib.sha256()
    for path in [
        *(encoded / name for name in ("tokens.npy", "minutes.npy", "offsets.npy")),
        *(encoded.parent / name for name in ("stay_ids.npy", "known.npz")),
    ]:
        with path.open("rb") as stream:
            digest.update(hashlib.file_digest(stream, "sha256").digest())
    return digest.hexdigest()
