"""Pieces of work: what is made, by what, out of which others, and with which resources.

A piece can be sent to another process or machine. Whether it is done is asked of the store alone,
so that nothing has to be written down about it, and nothing written down can be wrong.
"""

from __future__ import annotations

import os
import time
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from edsim.errors import EdsimError, OutputError
from edsim.lab.locks import is_held
from edsim.lab.measured import peak_mib
from edsim.lab.store import Asked, Store
from edsim.progress import Progress, silent

State = Literal["done", "running", "failed", "waiting"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One thing to be found or made."""

    title: str
    """For people, as `rollouts of gru@1`."""
    store: Store
    asked: Asked
    make: Callable[..., Any]
    """Called with `progress`; can be pickled. Does nothing where the thing is there."""
    needs: tuple[str, ...] = ()
    """Keys of the pieces that are made before."""
    instead: tuple[Asked, ...] = ()
    """Things of which any makes this one needless, as the whole does its parts."""
    device: str = "cpu"

    @property
    def key(self) -> str:
        """Where it lies: two pieces that lie at the same place are one."""
        return str(self.path)

    @property
    def path(self) -> Path:
        """Where it lies, or will."""
        return self.store.path(self.asked)

    def done(self) -> bool:
        """Whether it is there, or needless."""
        return any(self.store.holds(one) for one in (self.asked, *self.instead))

    def running(self) -> bool:
        """Whether some process is making it now."""
        return is_held(self.store.lock_path(self.asked))


@dataclass(frozen=True, slots=True)
class Outcome:
    """How the work on a piece ended."""

    key: str
    message: str = ""
    """Why it failed; empty where it did not."""
    hopeless: bool = False
    """Whether what follows would fail for the same reason, as on a full disk."""
    seconds: float = 0.0
    peak_mib: float = 0.0
    found: bool = False
    """Whether another process had made it by then."""
    again: bool = False
    """Whether it was stopped to be made again, later."""
    because: str = ""
    """The key of the piece whose failure kept this one from being begun."""

    @property
    def failed(self) -> bool:
        """Whether the thing is not there."""
        return bool(self.message)


def perform(piece: Piece, progress: Progress = silent) -> Outcome:
    """Make a piece, here and now; what is the input's fault becomes its message."""
    begin = time.perf_counter()
    found = piece.done()
    message, hopeless = "", False
    try:
        if not found:
            piece.make(progress=progress)
    except EdsimError as error:
        message, hopeless = str(error), isinstance(error, OutputError)
    except ModuleNotFoundError as error:
        message = f"the package '{error.name}' is not installed where this was to be made."
    except MemoryError:
        message = "memory ran out."
    except Exception as error:
        if os.environ.get("EDSIM_TRACEBACK"):
            traceback.print_exception(error)
        message = fault(error)
    return Outcome(
        piece.key,
        message,
        hopeless,
        seconds=time.perf_counter() - begin,
        peak_mib=peak_mib(),
        found=found,
    )


def fault(error: BaseException) -> str:
    """Where a fault of the code lies, without its own words: they could hold a row of the data."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = ""
    if trace is not None:
        file = Path(trace.tb_frame.f_code.co_filename).name
        place = f" in {file}, line {trace.tb_lineno}"
    return f"a fault: {type(error).__name__}{place}. EDSIM_TRACEBACK=1 shows more."


@dataclass(slots=True)
class Graph:
    """Pieces by key, those a piece needs before it."""

    pieces: dict[str, Piece] = field(default_factory=dict)

    def add(self, piece: Piece) -> str:
        """Take up a piece, once; its key."""
        assert all(key in self.pieces for key in piece.needs), "what is needed comes first"
        self.pieces.setdefault(piece.key, piece)
        return piece.key

    def wanted(self, keys: Iterable[str] | None = None) -> dict[str, Piece]:
        """What has to be made: pieces that are not done, and what those need that is not done.

        A piece that is needed only by pieces that are done is not made again.
        """
        found: dict[str, Piece] = {}
        queue = list(self.last() if keys is None else keys)
        while queue:
            piece = self.pieces[queue.pop()]
            if piece.key not in found and not piece.done():
                found[piece.key] = piece
                queue += piece.needs
        return {key: piece for key, piece in self.pieces.items() if key in found}

    def last(self) -> list[str]:
        """Pieces that no other needs: what the study is for."""
        needed = {key for piece in self.pieces.values() for key in piece.needs}
        return [key for key in self.pieces if key not in needed]
