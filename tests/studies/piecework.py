"""Pieces whose work is a line in a file: small enough to send anywhere, and counted."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from edsim.errors import BadInputError
from edsim.lab.store import Asked, Store
from edsim.progress import Progress, silent
from edsim.studies.pieces import Graph, Outcome, Piece


def write(store: Store, name: str, seconds: float = 0.0, progress: Progress = silent) -> Path:
    """Write what is found of the pieces before, and the process that wrote it beside."""

    def make(path: Path) -> None:
        time.sleep(seconds)
        path.write_text(name)
        with (store.folder / "made").open("a") as stream:
            stream.write(f"{name}\n")

    return store.get(asked(name), make, progress)


def refuse(progress: Progress = silent) -> None:
    raise BadInputError("there is no such thing.")


def break_down(progress: Progress = silent) -> None:
    raise ValueError("with the content of a row")


def be_killed(progress: Progress = silent) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def take_memory(store: Store, name: str, mib: int, progress: Progress = silent) -> None:
    held = bytearray(mib * 2**20)
    held[::4096] = b"x" * len(held[::4096])
    time.sleep(1.0)
    write(store, name)


def asked(name: str) -> Asked:
    return Asked(kind="scores", name=name, inputs={"name": name}, units=1, counted=name)


def piece(store: Store, name: str, *needs: Piece, work: Any = None, **more: Any) -> Piece:
    return Piece(
        title=name,
        store=store,
        asked=asked(name),
        make=work or partial(write, store, name, **more),
        needs=tuple(one.key for one in needs),
    )


def graph_of(*pieces: Piece) -> Graph:
    graph = Graph()
    for one in pieces:
        graph.add(one)
    return graph


def made(store: Store) -> list[str]:
    """What was made, in order."""
    file = store.folder / "made"
    return file.read_text().split() if file.exists() else []


class Seen:
    """Remembers what it is told."""

    def __init__(self) -> None:
        self.wanted: list[str] = []
        self.ended: list[tuple[str, str]] = []

    def begins(self, pieces: Mapping[str, Piece]) -> None:
        self.wanted = [one.title for one in pieces.values()]

    def ends(self, piece: Piece, outcome: Outcome) -> None:
        self.ended.append((piece.title, outcome.message))
