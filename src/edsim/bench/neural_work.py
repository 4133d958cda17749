"""The work that `edsim bench rollout --neural` measures, each kind in a process of its own.

Needs numpy and torch alone, so that it runs on a GPU machine too:
`python -m edsim.bench.neural_work seats --encoded DIR --device cuda`. Prints a line of JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import numpy as np
import torch

from edsim.bench.agreement import agreement
from edsim.bench.reencoding import Reencoding
from edsim.models.neural.design import Design
from edsim.models.neural.model import NeuralModel
from edsim.models.neural.precision import allow_faster
from edsim.models.neural.simulator import NeuralSimulator
from edsim.rollout.decoding import parse_rule
from edsim.rollout.engine import roll_out
from edsim.rollout.slots import roll_out_fast
from edsim.tables.facts import VocabularyFacts
from edsim.tables.visits import SPLITS, Launches, Suffixes, Visits

CAP = 128
SEED = 1
BATCHES = {"cpu": (64, 256, 1024), "cuda": (4096, 16_384, 65_536)}
"""The plain loop and GPT-2 are timed with each; the best counts."""
FEW_SEATS, PLAIN_BATCHES = 37, (64, 1000)
"""Ways of rolling out that `agree` puts beside the usual one."""
PROMPT, NEW = 10, 14
"""Events that GPT-2 reads and writes: about what a launch has behind and before it."""


class Bench:
    """A network of one design, the cohort's launches, and what is timed on them."""

    def __init__(self, given: argparse.Namespace) -> None:
        self.device = torch.device(given.device)
        allow_faster(self.device)
        self.visits = Visits.open(given.encoded)
        facts = VocabularyFacts.open(given.encoded)
        self.n_tokens = len(facts.tokens)
        self.rule = parse_rule("vanilla").bind(facts)
        self.launches = self._launches(given.launches)
        self.model = self._model(given, facts).to(self.device).eval()

    def _model(self, given: argparse.Namespace, facts: VocabularyFacts) -> NeuralModel:
        if given.checkpoint is not None:
            from edsim.models.neural.checkpoint import read_checkpoint

            return read_checkpoint(given.checkpoint).model()
        torch.manual_seed(SEED)
        design = Design(network=given.network, heads=given.heads, width=given.width)
        training = self.visits.part("train")
        return NeuralModel.untrained(design, training, self.n_tokens, facts.discharges)

    def _launches(self, n: int | None) -> Launches:
        """Launches of the test split, all or some evenly spread."""
        assert self.visits.split is not None
        stays = np.flatnonzero(self.visits.split == SPLITS.index("test"))
        n_events = self.visits.n_events()[stays]
        lengths = np.arange(n_events.sum()) - np.repeat(np.cumsum(n_events) - n_events, n_events)
        every = np.stack([np.repeat(stays, n_events), lengths + 1], axis=1).astype(np.int32)
        if n is None or n >= len(every):
            return every
        return every[np.linspace(0, len(every) - 1, n).astype(np.int64)]

    def _timed(self, work: Callable[[], int]) -> dict[str, Any]:
        self._wait()
        begin, own = time.perf_counter(), time.process_time()
        n_events = work()
        self._wait()
        return {
            "seconds": time.perf_counter() - begin,
            "cpu_seconds": time.process_time() - own,
            "n_events": n_events,
        }

    def _wait(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize()

    def seats(self, slots: int | None) -> dict[str, Any]:
        """The loop that users run."""
        simulator = NeuralSimulator(self.model)

        def work(launches: Launches) -> int:
            generated = roll_out_fast(
                simulator, self.visits, launches, rule=self.rule, cap=CAP, seed=SEED, slots=slots
            )
            return len(generated.tokens)

        work(self.launches[: min(4096, len(self.launches))])  # compiles what has to be
        return {**self._timed(lambda: work(self.launches)), "batch": slots}

    def reencoding(self, slots: int | None) -> dict[str, Any]:
        """The whole history again for every event, at the best of several batches."""
        simulator = Reencoding(self.model)

        def work(size: int) -> int:
            n_events = 0
            for first in range(0, len(self.launches), size):
                prefixes = self.visits.prefixes(self.launches[first : first + size])
                generated = roll_out(simulator, prefixes, rule=self.rule, cap=CAP, seed=SEED)
                n_events += len(generated.tokens)
            return n_events

        return self._best(work, slots)

    def agree(self, slots: int | None) -> dict[str, Any]:
        """The loop that users run, with fewer seats, and the plain loop: where they differ."""
        simulator = NeuralSimulator(self.model)

        def fast(slots: int | None) -> Suffixes:
            return roll_out_fast(
                simulator, self.visits, self.launches, rule=self.rule, cap=CAP, seed=SEED,
                slots=slots,
            )  # fmt: skip

        def plain(size: int) -> Suffixes:
            n = len(self.launches)
            parts = (self.launches[first : first + size] for first in range(0, n, size))
            made = (self.visits.prefixes(part) for part in parts)
            return Suffixes.join(
                [roll_out(simulator, part, rule=self.rule, cap=CAP, seed=SEED) for part in made]
            )

        begin, usual = time.perf_counter(), fast(slots)
        others = {
            f"{FEW_SEATS} seats": fast(FEW_SEATS),
            **{f"plain loop, batches of {size}": plain(size) for size in PLAIN_BATCHES},
        }
        found = {name: asdict(agreement(usual, other)) for name, other in others.items()}
        seconds = time.perf_counter() - begin
        return {"seconds": seconds, "n_events": len(usual.tokens), "beside": found}

    def gpt2(self, slots: int | None) -> dict[str, Any]:
        """`generate()` of a GPT-2 of the same size, with its own cache."""
        from transformers import GPT2Config, GPT2LMHeadModel

        design = self.model.design
        config = GPT2Config(
            vocab_size=self.n_tokens,
            n_positions=256,
            n_embd=design.width,
            n_layer=design.layers,
            n_head=design.attention_heads,
            n_inner=design.feedforward,
            bos_token_id=0,
            eos_token_id=None,
            pad_token_id=0,
        )
        peer: Any = GPT2LMHeadModel(config)
        peer.to(self.device).eval()
        n = len(self.launches)

        def work(size: int) -> int:
            for first in range(0, n, size):
                prompt = torch.randint(1, self.n_tokens, (min(size, n - first), PROMPT))
                peer.generate(
                    prompt.to(self.device),
                    attention_mask=torch.ones_like(prompt).to(self.device),
                    do_sample=True,
                    max_new_tokens=NEW,
                    min_new_tokens=NEW,
                )
            return n * NEW

        return self._best(work, slots)

    def bound(self, slots: int | None) -> dict[str, Any]:
        """Events a second if the products of an event were all, at the rate of a large product."""
        size = 1024 if self.device.type == "cpu" else 8192
        kind = torch.float32 if self.device.type == "cpu" else torch.bfloat16
        a, b = (torch.randn(size, size, device=self.device).to(kind) for _ in range(2))
        for _ in range(3):
            a @ b
        repeats = 10
        took = self._timed(lambda: len([a @ b for _ in range(repeats)]))
        weights = sum(
            module.weight.numel()
            for module in self.model.modules()
            if isinstance(module, torch.nn.Linear)
        )
        share = 2 * weights / (repeats * 2 * size**3)
        taken = {name: took[name] * share for name in ("seconds", "cpu_seconds")}
        return {**taken, "n_events": 1, "weights": weights}

    @torch.no_grad()
    def _best(self, work: Callable[[int], int], slots: int | None) -> dict[str, Any]:
        sizes = [slots] if slots else BATCHES[self.device.type]
        runs = []
        for size in sizes:
            work(min(size, 64))
            took = self._timed(lambda size=size: work(size))  # type: ignore[misc]
            runs.append({**took, "batch": size})
        return min(runs, key=lambda run: run["seconds"])


KINDS: dict[str, Callable[[Bench, int | None], dict[str, Any]]] = {
    "seats": Bench.seats,
    "reencoding": Bench.reencoding,
    "agree": Bench.agree,
    "gpt2": Bench.gpt2,
    "bound": Bench.bound,
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Do one kind of work and print what it took."""
    parser = argparse.ArgumentParser(prog="python -m edsim.bench.neural_work")
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("--encoded", type=Path, required=True)
    parser.add_argument("--checkpoint", type=Path, help="an untrained network otherwise")
    parser.add_argument("--network", default="causal_transformer")
    parser.add_argument("--heads", default="joint")
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--launches", type=int, help="so many, evenly spread; all by default")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--slots", type=int)
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--result", type=Path, help="a file for the line of JSON")
    given = parser.parse_args(arguments)
    torch.set_num_threads(given.threads)
    said = json.dumps(KINDS[given.kind](Bench(given), given.slots))
    print(said)
    if given.result:
        given.result.write_text(said)


if __name__ == "__main__":
    main()
