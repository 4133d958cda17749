"""A study on a Ray cluster ends as in one process, though a node is killed in the midst of it."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import PIPE, STDOUT
from typing import Any

import pytest

from edsim.lab.build import build_cohort
from edsim.sources import SOURCES
from edsim.studies.engine import Force
from edsim.studies.study_file import read_study
from edsim.studies.study_run import run_study

pytestmark = pytest.mark.cluster

STUDY = """
cohort = "C"
launches = "matched-60"
models = [
  {name = "SLOW:Slow", label = "slow", rules = ["vanilla", "top_k=3", "temperature=0.5", "top_k=9"]},
  {name = "gru[width=8,epochs=1]", label = "gru"},
]
seeds = [1, 2]
metrics = ["termination", "jsd"]
resamples = 20
"""
SLOW = '''
"""A simulator that says on which node of a cluster it is made, and takes its time."""

import sys
import time
from pathlib import Path
from subprocess import PIPE, STDOUT

import torch


class Slow:
    def __init__(self, facts):
        ray = sys.modules.get("ray")
        if ray is not None and ray.is_initialized():
            node = ray.get_runtime_context().get_node_id()
            with Path(__file__).with_name("made_on").open("a") as stream:
                stream.write(f"{node}\\n")
            time.sleep(2.0)
        self.n_tokens = len(facts.tokens)

    def start(self, prefixes):
        return torch.zeros(len(prefixes))

    def propose(self, state, u_time):
        return torch.zeros(len(state), self.n_tokens).log_softmax(1)

    def commit(self, state, tokens, u_time):
        return state, torch.full((len(state),), 10.0)

    def keep(self, state, rows):
        return state[rows]
'''


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Three nodes of one processor each, the first of them the head."""
    pytest.importorskip("ray")
    from ray.cluster_utils import Cluster

    size = {"num_cpus": 1, "object_store_memory": 80 * 2**20, "include_dashboard": False}
    made = Cluster(initialize_head=True, head_node_args=size)
    for _ in range(2):
        made.add_node(num_cpus=1, object_store_memory=80 * 2**20)
    made.wait_for_nodes()
    yield made
    made.shutdown()


@pytest.fixture()
def folder(tmp_path: Path) -> Path:
    source = SOURCES["synthetic"]
    build_cohort(source, source.options(stays=300), tmp_path / "C")
    (tmp_path / "slow.py").write_text(SLOW)
    (tmp_path / "small.toml").write_text(STUDY.replace("SLOW", str(tmp_path / "slow.py")))
    return tmp_path


@contextmanager
def on_the_cluster(address: str, file: Path) -> Iterator[subprocess.Popen[str]]:
    """The command as a user types it; ended with the block, whatever happens."""
    command = [sys.executable, "-m", "edsim", "study", "run", str(file), "--ray", address]
    process = subprocess.Popen(command, stdout=PIPE, stderr=STDOUT, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def made_on(folder: Path) -> list[str]:
    file = folder / "made_on"
    return file.read_text().split() if file.exists() else []


def test_a_node_that_is_killed_loses_nothing(cluster: Any, folder: Path) -> None:
    file = read_study(folder / "small.toml")
    assert run_study(file, force=Force()).failures == [] and made_on(folder) == []
    alone = {path.name: path.read_bytes() for path in file.results.iterdir()}
    shutil.rmtree(file.results)
    shutil.rmtree(file.cohort / "artifacts")

    others = {node.node_id: node for node in cluster.worker_nodes}
    assert len(others) == 2
    with on_the_cluster(cluster.address, file.path) as process:
        until = time.monotonic() + 120
        while not (on_others := [node for node in made_on(folder) if node in others]):
            assert process.poll() is None and time.monotonic() < until, "no other node was used"
            time.sleep(0.05)
        killed = on_others[0]
        cluster.remove_node(others[killed], allow_graceful=False)  # in the midst of a piece
        said, _ = process.communicate(timeout=240)
    assert process.returncode == 0, said
    begun = made_on(folder)
    assert len(begun) > 2 * 4, "what the killed node was at is begun again: each loads it twice"
    assert len(set(begun)) > 1 and killed not in begun[-2:]
    assert {path.name: path.read_bytes() for path in file.results.iterdir()} == alone


def test_a_gpu_that_no_node_has_is_said(cluster: Any, folder: Path) -> None:
    file = folder / "small.toml"
    file.write_text(f'device = "cuda"\n{file.read_text()}')
    with on_the_cluster(cluster.address, file) as process:
        said, _ = process.communicate(timeout=120)
    assert process.returncode == 2, said
    assert "no node of the cluster has a GPU" in " ".join(said.split())
    assert not made_on(folder), "it is said before anything is begun"


def test_an_address_where_no_cluster_answers_is_said(folder: Path) -> None:
    pytest.importorskip("ray")
    with on_the_cluster("127.0.0.1:1", folder / "small.toml") as process:
        said, _ = process.communicate(timeout=120)
    assert process.returncode == 2, said
    assert "no Ray cluster answers at '127.0.0.1:1'" in " ".join(said.split())
