"""`edsim bench study`: pieces a minute against the number of nodes, and what holds them back.

A study of equal, independent pieces is run on local Ray clusters of one, two and more nodes, each
with one processor. Times are those that the store writes down of every piece it keeps.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from edsim.bench.measure import Measurement, measure
from edsim.errors import BadInputError
from edsim.lab.cohort import open_cohort
from edsim.lab.store import MADE, store_of
from edsim.progress import Progress, silent

OBJECT_STORE = 80 * 2**20
"""Bytes of Ray's own memory on a node: no result travels through it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodesMeasured:
    """A study on so many nodes."""

    nodes: int
    pieces: int
    """Rollouts and score sheets that were made."""
    seconds: float
    """Of the whole command, its start included."""
    window: float
    """Seconds from the beginning of the first piece to the end of the last."""
    work: float
    """Seconds of all pieces together."""
    typical: float
    """Seconds of a piece, in the median."""

    @property
    def a_minute(self) -> float:
        """Pieces a minute, while pieces are made."""
        return 60 * self.pieces / self.window

    @property
    def busy(self) -> float:
        """Share of the nodes' time that pieces take."""
        return self.work / (self.nodes * self.window)


def bench_study(
    nodes: int, *, pieces: int, launches: int, stays: int, progress: Progress = silent
) -> list[NodesMeasured]:
    """One line for every number of nodes; each makes the same pieces of an equal cohort."""
    if nodes < 1 or pieces < 1:
        raise BadInputError("--nodes and --pieces must be at least 1.")
    with tempfile.TemporaryDirectory(prefix="edsim-bench-") as name:
        folder = Path(name)
        progress.stage(f"building a cohort of {stays:,} stays, and what all pieces need")
        build = ["cohort", "build", "synthetic", "--stays", str(stays)]
        _edsim("build", [*build, "--out", str(folder / "prepared")], stays)
        _write_study(folder / "first.toml", "prepared", launches, 0)
        _edsim("prepare", ["study", "run", str(folder / "first.toml")], stays)
        rows = []
        for n in range(1, nodes + 1):
            progress.stage(f"{pieces} lines of a study on {n} node{'s' if n > 1 else ''}")
            with local_cluster(n) as address:
                rows.append(_on(address, folder, n, pieces=pieces, launches=launches, stays=stays))
        return rows


def bottleneck(row: NodesMeasured, one: NodesMeasured, n_processors: int) -> str:
    """What keeps so many nodes from making so many times the pieces of one: the largest loss."""
    if row.a_minute >= 0.85 * row.nodes * one.a_minute:
        return "nothing: the rate grows with the nodes"
    time = row.nodes * row.window
    steady = row.pieces * row.typical
    longer = row.typical / one.typical
    begun, waited = max(0.0, row.work - steady) / time, 1 - row.busy
    losses = {
        f"starting: first pieces of a process, which load what all need, take {begun:.0%} of the "
        "nodes' time": begun,
        f"handing out: nodes wait {waited:.0%} of the time for a piece": waited,
        f"the processors: a piece takes {longer:.1f} times as long where {row.nodes} nodes share "
        f"{n_processors} processors": max(0.0, 1 - 1 / longer) * steady / time,
    }
    return max(losses, key=lambda said: losses[said])


@contextmanager
def local_cluster(nodes: int) -> Iterator[str]:
    """The address of a Ray cluster of node processes on this machine, one processor each."""
    from ray.cluster_utils import Cluster

    size = {"num_cpus": 1, "object_store_memory": OBJECT_STORE}
    cluster: Any = Cluster(
        initialize_head=True, head_node_args={**size, "include_dashboard": False}
    )
    try:
        for _ in range(nodes - 1):
            cluster.add_node(**size)
        cluster.wait_for_nodes()
        yield str(cluster.address)
    finally:
        cluster.shutdown()


def _on(
    address: str, folder: Path, nodes: int, *, pieces: int, launches: int, stays: int
) -> NodesMeasured:
    cohort = folder / f"on-{nodes}"
    shutil.copytree(folder / "prepared", cohort)
    there = set(cohort.rglob(f"*{MADE}"))
    file = folder / f"study-{nodes}.toml"
    _write_study(file, cohort.name, launches, pieces)
    whole = _edsim("study", ["study", "run", str(file), "--ray", address], stays)
    return _measured(nodes, whole.seconds, cohort, there)


def _measured(nodes: int, seconds: float, cohort: Path, there: set[Path]) -> NodesMeasured:
    """From the manifests of what was made: each is written the moment its piece is done."""
    store = store_of(open_cohort(cohort))
    took = []
    for kind in ("rollouts", "scores"):
        files = sorted((store.folder / kind).glob(f"*{MADE}"))
        made = zip(files, store.manifests(kind), strict=True)
        took += [(file.stat().st_mtime, one.seconds) for file, one in made if file not in there]
    window = max(end for end, _ in took) - min(end - spent for end, spent in took)
    work = sum(spent for _, spent in took)
    return NodesMeasured(
        nodes=nodes,
        pieces=len(took),
        seconds=seconds,
        window=window,
        work=work,
        typical=median(spent for _, spent in took),
    )


def _write_study(file: Path, cohort: str, launches: int, pieces: int) -> None:
    """Lines that differ in nothing but a setting of their rule, beside the plain one."""
    rules = ["vanilla", *(f"temperature={1 + k / 1000:g}" for k in range(1, pieces + 1))]
    said = ", ".join(f'"{rule}"' for rule in rules)
    file.write_text(
        f'cohort = "{cohort}"\nlaunches = "matched-{launches}"\nmodels = ["ngram:3"]\n'
        f'rules = [{said}]\nmetrics = ["termination", "jsd", "occupancy_mae"]\n'
        "resamples = 200\ndraws = 3\n"
    )


def _edsim(work: str, arguments: Sequence[str], n_stays: int) -> Measurement:
    return measure(work, ["-m", "edsim", *arguments], n_stays=n_stays)


def processors() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
