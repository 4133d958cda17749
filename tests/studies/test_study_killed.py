"""A study that is killed at any moment goes on, and ends as one that was never disturbed."""

from __future__ import annotations

import json
import multiprocessing
import random
import shutil
import time
from collections.abc import Iterable
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest

from edsim.lab.build import build_cohort
from edsim.sources import SOURCES
from edsim.studies.engine import Force
from edsim.studies.study_file import read_study
from edsim.studies.study_run import run_study

FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["torch", "edsim.studies.study_run", "edsim.rollout.decoding"])

STUDY = """
cohort = "C"
launches = "matched-200"
models = [
  {name = "gru[width=16,epochs=2]", label = "gru", clocks = ["median", "sampled"]},
  {name = "ngram:2", rules = ["vanilla", "top_k=3"]},
  "oracle",
]
seeds = [1, 2]
metrics = ["termination", "jsd", "duration_ratio", "occupancy_mae"]
resamples = 50
comparisons = [["gru sampled", "ngram:2"]]
"""
SLOW = '''
"""A simulator that says by which process it is made."""
import os, time
from pathlib import Path

import torch


class Slow:
    def __init__(self, facts):
        with Path(__file__).with_name("made_by").open("a") as stream:
            stream.write(f"{os.getpid()}\\n")
        time.sleep(1.0)
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


@pytest.fixture()
def folder(tmp_path: Path) -> Path:
    source = SOURCES["synthetic"]
    build_cohort(source, source.options(stays=300), tmp_path / "C")
    (tmp_path / "small.toml").write_text(STUDY)
    return tmp_path


def work(folder: Path, file: str = "small.toml", workers: int = 1) -> None:
    said = run_study(read_study(folder / file), force=Force(workers=workers))
    (folder / f"{file}.said").write_text(
        json.dumps([said.n_made, [one.message for one in said.failures]])
    )


def started(*arguments: object) -> BaseProcess:
    process = FORKS.Process(target=work, args=arguments)
    process.start()
    return process


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def things(folder: Path) -> dict[str, tuple[int, int]]:
    """What is in the store under its own name, and when it was made."""
    found = (path for path in (folder / "C" / "artifacts").glob("*/*") if path.name[0] != ".")
    return {path.name: (path.stat().st_ino, path.stat().st_mtime_ns) for path in found}


def pieces(names: Iterable[str]) -> set[str]:
    """Without what stands beside them: manifests, cards and logs."""
    return {name for name in names if not name.endswith((".made.json", ".md", ".log.jsonl"))}


@pytest.mark.kill
def test_killed_twenty_times_a_study_ends_as_one_that_was_not(folder: Path) -> None:
    begin = time.monotonic()
    started(folder).join()
    usual = time.monotonic() - begin
    undisturbed, made_then = contents(folder / "small"), pieces(things(folder))
    assert json.loads((folder / "small.toml.said").read_text())[1] == []
    chance, halves, kills, done = random.Random(20), 0, 0, pieces(made_then)
    while kills < 20:
        if done == made_then:  # from the beginning, so that kills fall everywhere
            shutil.rmtree(folder / "C" / "artifacts")
            shutil.rmtree(folder / "small")
        before = things(folder)
        process = started(folder, "small.toml", 1 + (kills % 10 == 9))
        n_more, until = chance.randrange(1, 5), time.monotonic() + chance.uniform(0.3, 1) * usual
        while len(things(folder)) < len(before) + 2 * n_more and time.monotonic() < until:
            process.join(0.02)
            if process.exitcode is not None:
                break
        process.join(chance.uniform(0, 0.3))
        process.kill()
        process.join()
        kills += process.exitcode != 0
        after = things(folder)
        kept = {name: after.get(name) for name in pieces(before)}
        assert kept == {name: before[name] for name in kept}, "what was there is not made again"
        done = pieces(after)
        halves += 0 < len(done) < len(made_then)
    assert halves >= 5, f"only {halves} kills left the study half done"
    before = things(folder)
    started(folder).join()
    n_made, failed = json.loads((folder / "small.toml.said").read_text())
    assert n_made == len(made_then) - len(pieces(before)) and failed == []
    assert pieces(things(folder)) == made_then
    assert contents(folder / "small") == undisturbed
    hidden = [path.name for path in (folder / "C" / "artifacts").glob("*/.*")]
    assert hidden == [], "nothing of the killed ones is left beside what was made"


def test_two_studies_at_once_make_what_both_need_once(folder: Path) -> None:
    (folder / "slow.py").write_text(SLOW)
    text = f"""
cohort = "C"
launches = "matched-60"
models = ["{folder / "slow.py"}:Slow"]
metrics = ["termination"]
resamples = 20
"""
    for name in ("one.toml", "two.toml"):
        (folder / name).write_text(text)
    both = [started(folder, name) for name in ("one.toml", "two.toml")]
    for process in both:
        process.join()
        assert process.exitcode == 0
    said = [json.loads((folder / f"{name}.toml.said").read_text()) for name in ("one", "two")]
    assert [failed for _, failed in said] == [[], []]
    assert len(set((folder / "made_by").read_text().split())) == 1
    one, two = contents(folder / "one"), contents(folder / "two")
    assert one.pop("study.json") != two.pop("study.json") and one == two
