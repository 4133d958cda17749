"""Commands of ours in chains: chains side by side, each command a process, none made twice.

A command counts as done where it was recorded, its file is there, and no file it read is younger.
An interruption ends what runs; the same call again goes on from there.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from edsim import __version__
from edsim.errors import EdsimError
from edsim.tables.whole_file import whole_file

RECORD = "quickstart.json"
LOG = "quickstart.log"


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One command of `edsim`, the file that shows it is done, and the files it reads."""

    arguments: tuple[str, ...]
    makes: Path
    needs: tuple[Path, ...] = ()

    @property
    def typed(self) -> str:
        """As one would type it.

        >>> Command(arguments=("train", "gru[width=64]"), makes=Path("x")).typed
        "edsim train 'gru[width=64]'"
        """
        return shlex.join(["edsim", *self.arguments])


class CommandFailed(EdsimError):
    """A command ended with another exit code than 0; what it said stands in the message."""


Told = Callable[[Command, float | None], None]
"""Called when a command is done, with its seconds; None where it was found done."""


class Chains:
    """Runs commands in a folder that keeps a record of what was done and a log of what was said."""

    def __init__(
        self,
        folder: Path,
        *,
        workers: int,
        told: Told,
        shown: Callable[[str], None] = lambda text: None,
    ) -> None:
        self._folder, self._workers, self._told, self._shown = folder, workers, told, shown
        self._lock = threading.Lock()
        self._running: dict[subprocess.Popen[str], Command] = {}
        self._stopped = False
        self._record = _read_record(folder / RECORD)

    def knows(self, command: Command) -> bool:
        """Whether this very command was begun here before."""
        return command.typed in self._record

    def run(self, chains: Sequence[Sequence[Command]]) -> None:
        """Every command of every chain; the first that fails stops the others."""
        with ThreadPoolExecutor(self._workers) as pool:
            futures = [pool.submit(self._chain, chain) for chain in chains]
            try:
                for future in as_completed(futures):
                    future.result()
            except BaseException:
                self._stop()
                for future in futures:
                    future.cancel()
                raise

    def _chain(self, chain: Sequence[Command]) -> None:
        for command in chain:
            if self._stopped:
                return
            if self._is_done(command):
                self._told(command, None)
                continue
            begin = time.monotonic()
            self._remember(command, None)
            self._do(command)
            if self._stopped:
                return
            seconds = time.monotonic() - begin
            self._remember(command, seconds)
            self._told(command, seconds)

    def _is_done(self, command: Command) -> bool:
        if self._record.get(command.typed) is None or not command.makes.exists():
            return False
        made = command.makes.stat().st_mtime
        return all(path.exists() and path.stat().st_mtime <= made for path in command.needs)

    def _do(self, command: Command) -> None:
        """Run it in a process of its own; its output goes to the log."""
        again = ["--overwrite"] if command.makes.exists() else []
        with self._lock:
            if self._stopped:
                return
            process = subprocess.Popen(
                [sys.executable, "-m", "edsim", *command.arguments, *again],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                process_group=0,  # Ctrl-C comes to us alone, and we end it politely
                env={**os.environ, **_threads(self._workers), "COLUMNS": "100"},
            )
            self._running[process] = command
            self._show()
        printed, said = process.communicate()
        with self._lock:
            del self._running[process]
            self._show()
            with (self._folder / LOG).open("a", encoding="utf-8") as log:
                log.write(f"$ {command.typed}\n{printed}{said}\n")
        if process.returncode and not self._stopped:
            raise CommandFailed(
                f"`{command.typed}` ended with exit code {process.returncode}:\n{said.strip()}"
            )

    def _show(self) -> None:
        """What runs now, in short."""
        self._shown("; ".join(" ".join(one.arguments[:2]) for one in self._running.values()))

    def _stop(self) -> None:
        """End what runs, as Ctrl-C would, and begin nothing more."""
        with self._lock:
            self._stopped = True
            for process in self._running:
                with suppress(ProcessLookupError):
                    process.send_signal(signal.SIGTERM)

    def _remember(self, command: Command, seconds: float | None) -> None:
        with self._lock:
            self._record[command.typed] = seconds
            said = {"version": __version__, "done": self._record}
            with whole_file(self._folder / RECORD, restricted=False) as file:
                file.write(json.dumps(said, indent=1).encode())


def _read_record(path: Path) -> dict[str, float | None]:
    """What was begun and done before; of another version of edsim nothing counts."""
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
        return dict(said["done"]) if said["version"] == __version__ else {}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def _threads(workers: int) -> dict[str, str]:
    """As many threads a process as leave no core to two of them: they would wait for each other."""
    each = str(max(1, (os.cpu_count() or 1) // workers))
    names = ("OMP_NUM_THREADS", "POLARS_MAX_THREADS", "NUMBA_NUM_THREADS")
    return dict.fromkeys(names, each)
