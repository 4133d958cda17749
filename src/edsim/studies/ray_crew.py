"""A Ray cluster as the crew: every piece a task with its resources, results in a shared folder.

Ray hands pieces out and begins them again where a node dies; that a piece is made once, and is
whole, is the store's business as everywhere else. Nothing of a result travels through Ray.
"""

from __future__ import annotations

import logging
import re
import socket
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from edsim import __version__
from edsim.errors import BadCohortError, BadInputError, EdsimError
from edsim.studies.pieces import Outcome, Piece, perform

RETRIES = 5
"""How often a piece is begun again after the death of the node it was on."""
_AHEAD = 2
"""Pieces handed out for every processor, so that none waits for us."""


class RayCrew:
    """The nodes of a running cluster; `expected_mib` says what a piece will need."""

    def __init__(self, address: str, expected_mib: Callable[[Piece], float]) -> None:
        import ray

        self._ray: Any = ray
        self._was_connected = ray.is_initialized()
        if not self._was_connected:
            try:
                _knock(address)
                ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
            except (OSError, RuntimeError, ValueError) as error:
                raise BadInputError(
                    f"no Ray cluster answers at '{address}' ({type(error).__name__}). Start one "
                    "with `ray start --head` and give the address that it prints."
                ) from None
        self._expected_mib = expected_mib
        self._perform = ray.remote(perform)
        self._running: dict[Any, Piece] = {}

    def check(self, pieces: Iterable[Piece]) -> None:
        """Refuse work that this cluster cannot do, before any is begun.

        Every node has to see the stores, and to be of our version; a GPU has to be on one of them.
        """
        pieces = list(pieces)
        if any(one.device == "cuda" for one in pieces) and not self._has("GPU"):
            raise BadInputError(
                "no node of the cluster has a GPU. Start one with `ray start --num-gpus`, or "
                'use device = "cpu".'
            )
        if not self._has("CPU"):
            raise BadInputError(
                "no node of the cluster has a processor to give. Start one with `ray start "
                "--address`."
            )
        for folder in sorted({str(one.store.folder.resolve().parent) for one in pieces}):
            for said in self._ray.get([self._asked(node, folder) for node in self._alive()]):
                _refuse(said, folder)

    def takes(self, piece: Piece) -> bool:
        """As many as the cluster can use, and some in advance."""
        processors = self._ray.cluster_resources().get("CPU", 1)
        return bool(len(self._running) < _AHEAD * processors)

    def start(self, piece: Piece) -> None:
        """Hand it out; it begins where there is room."""
        task = self._perform.options(
            name=piece.title,
            num_cpus=1,
            num_gpus=1 if piece.device == "cuda" else 0,
            memory=self._bytes(piece),
            max_retries=RETRIES,
            scheduling_strategy="SPREAD",
        )
        self._running[task.remote(piece)] = piece

    def ended(self) -> list[Outcome]:
        """The pieces that have ended since; waits for one."""
        done, _ = self._ray.wait(list(self._running), num_returns=1)
        return [self._outcome(one) for one in done]

    def close(self) -> None:
        """Give up what is not finished; leave the cluster as it was."""
        for one in self._running:
            self._ray.cancel(one, force=True)
        if not self._was_connected:
            self._ray.shutdown()

    def _outcome(self, reference: Any) -> Outcome:
        piece = self._running.pop(reference)
        try:
            outcome: Outcome = self._ray.get(reference)
            return outcome
        except self._ray.exceptions.RayError as error:
            return Outcome(
                piece.key,
                f"the cluster gave it up after {RETRIES + 1} attempts ({type(error).__name__}): "
                "its nodes died, or their memory ran out.",
            )

    def _bytes(self, piece: Piece) -> int:
        """What the piece is expected to need, but never more than the largest node has."""
        largest = max(node["Resources"].get("memory", 0) for node in self._alive())
        return int(min(self._expected_mib(piece) * 2**20, largest * 0.9))

    def _has(self, resource: str) -> bool:
        return bool(self._ray.cluster_resources().get(resource))

    def _asked(self, node: dict[str, Any], folder: str) -> Any:
        """A question to one node, wherever it is answered should that node die."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        there = NodeAffinitySchedulingStrategy(node["NodeID"], soft=True)
        task = self._ray.remote(looked_at).options(num_cpus=0, scheduling_strategy=there)
        return task.remote(folder)

    def _alive(self) -> list[dict[str, Any]]:
        return [node for node in self._ray.nodes() if node["Alive"]]


def _knock(address: str) -> None:
    """Raise OSError where nobody listens: Ray itself would try for minutes."""
    found = re.fullmatch(r"(?:ray://)?\[?(?P<host>[^/]+?)\]?:(?P<port>\d+)", address)
    if found is not None:
        socket.create_connection((found["host"], int(found["port"])), timeout=10).close()


def looked_at(folder: str) -> tuple[str, bool]:
    """Of a node: the version of edsim there, and whether it sees the folder."""
    return __version__, Path(folder).is_dir()


def _refuse(said: tuple[str, bool], folder: str) -> None:
    version, sees = said
    trouble: EdsimError | None = None
    if version != __version__:
        trouble = BadInputError(
            f"a node of the cluster has edsim {version}, this machine {__version__}. Install the "
            "same everywhere."
        )
    elif not sees:
        trouble = BadCohortError(
            f"a node of the cluster does not see '{folder}'. The cohort has to lie in a folder "
            "that all nodes share under the same path."
        )
    if trouble is not None:
        raise trouble
