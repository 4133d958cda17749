"""A harness as one might write it oneself: the plain loop, and the same with a planted defect.

Each defect is a branch that names it, so that what is wrong can be read beside what is right.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from edsim.conformance.launching import take
from edsim.models.protocol import Simulator
from edsim.rollout.chance import EVENT, TIME, step_words, torch_keys, uniforms
from edsim.rollout.decoding import BoundRule
from edsim.rollout.draw import draw
from edsim.rollout.history import History
from edsim.tables.visits import END, Prefixes, Suffixes

DAY = 24 * 60.0
STATED_DEFAULTS = {"top_k": 4, "penalty": 1.75, "self_loop_cap": 3, "end_threshold": 0.35}


@dataclass
class PrivateLoop:
    """Called like `roll_out`; healthy where `defect` is empty."""

    defect: str = ""
    generator: torch.Generator = field(default_factory=torch.Generator)

    def __call__(
        self,
        model: Simulator[Any],
        prefixes: Prefixes,
        *,
        rule: BoundRule,
        cap: int,
        seed: int,
        draws: int = 1,
    ) -> Suffixes:
        if self.defect == "the seed is forgotten":
            seed = 0
        if self.defect == "one generator shared by rows":
            self.generator.manual_seed(seed)
        if self.defect == "the cap is not kept":
            cap += 1
        if self.defect == "the gaps of the prefix are set to zero":
            prefixes = replace(prefixes, minutes=prefixes.minutes * 0)
        if self.defect == "starts one event early":
            prefixes = _one_event_less(prefixes)
        of_draw = [
            self._one_draw(
                model, prefixes, rule, cap, seed, 0 if self.defect == "draws are copies" else number
            )
            for number in range(draws)
        ]
        rows = [rows[launch] for launch in range(len(prefixes)) for rows in of_draw]
        if self.defect == "the last launch is lost":
            rows = rows[:-1]
        return _suffixes(rows)

    def _one_draw(
        self,
        model: Simulator[Any],
        prefixes: Prefixes,
        rule: BoundRule,
        cap: int,
        seed: int,
        number: int,
    ) -> list[tuple[list[int], list[float]]]:
        table: list[tuple[list[int], list[float]]] = [([], []) for _ in range(len(prefixes))]
        rows = torch.arange(len(prefixes))
        keys = torch_keys(prefixes.keys(seed, number))
        history = History.of(prefixes, rule.n_tokens, torch.device("cpu"))
        state = model.start(prefixes)
        elapsed = torch.zeros(len(prefixes), dtype=torch.float64)
        for step in range(cap):
            u_event, u_time = (
                uniforms(keys, step_words(torch.tensor(step), purpose)) for purpose in (EVENT, TIME)
            )
            if self.defect == "another chance for every row":  # no defect
                u_event = uniforms(keys, step_words(torch.tensor(step), 9))
            if "generator" in self.defect:
                u_event = torch.rand(len(rows), generator=self.generator, dtype=torch.float64)
            u_time, u_commit = self._time_chance(u_time, u_event, keys, step)
            if self.defect == "events are drawn with a foreign chance of times":
                u_event = u_time = u_commit = uniforms(keys, step_words(torch.tensor(step), 9))
            probabilities = self._decoded(model.propose(state, u_time), rule, history, step)
            tokens = draw(probabilities, u_event)
            after, minutes = model.commit(state, tokens, u_commit)
            if self.defect != "history not advanced":
                state = after
            self._write(table, rows, tokens, self._unit(minutes))
            elapsed = elapsed + minutes
            going_on = tokens != END
            if self.defect == "END is drawn and ignored":
                going_on = torch.ones_like(going_on)
            if self.defect == "a private stop after 24 hours":
                going_on &= elapsed < DAY
            if self.defect == "END is written after 24 hours":
                late = going_on & (elapsed >= DAY)
                self._write(table, rows[late], torch.zeros_like(rows[late]), elapsed[late] * 0)
                going_on &= ~late
            if self.defect == "one event after END":
                ended = ~going_on
                self._write(table, rows[ended], tokens[ended] + 1, minutes[ended])
            running = going_on.nonzero()[:, 0]
            if not len(running):
                break
            history = history.after(tokens).keep(running)
            rows, keys, elapsed = rows[running], keys[running], elapsed[running]
            if self.defect == "stale states after compaction":
                running = torch.arange(len(running))
            state = model.keep(state, running)
        return [self._told(row, prefixes, i) for i, row in enumerate(table)]

    def _time_chance(
        self, u_time: Tensor, u_event: Tensor, keys: Tensor, step: int
    ) -> tuple[Tensor, Tensor]:
        """What `propose` and `commit` are given."""
        one = float(np.random.default_rng(step).random())
        instead = {
            "the chance of times is one half": torch.full_like(u_time, 0.5),
            "the chance of times is of the row": uniforms(keys, step_words(torch.tensor(0), TIME)),
            "the chance of times is of the step": torch.full_like(u_time, one),
            "the chance of times is the event's": u_event,
            "the chance of times is counted from one": uniforms(
                keys, step_words(torch.tensor(step + 1), TIME)
            ),
            "the chance of times is above one": u_time + 1,
        }
        u_time = instead.get(self.defect, u_time)
        if self.defect == "another chance of times in commit":
            return u_time, uniforms(keys, step_words(torch.tensor(step), 9))
        return u_time, u_time

    def _decoded(self, proposed: Tensor, rule: BoundRule, history: History, step: int) -> Tensor:
        name = str(rule).partition("=")[0]
        if self.defect == f"{name} requested and not applied" or (
            self.defect == "the rule is applied at the first step only" and step > 0
        ):
            return proposed.softmax(dim=1, dtype=torch.float64)
        if self.defect == "an undocumented decoding stack by default" and rule.is_vanilla:
            return _undocumented_stack(proposed, history)
        return rule.probabilities(proposed, history)

    def _unit(self, minutes: Tensor) -> Tensor:
        if self.defect == "log1p not inverted":
            return torch.log1p(minutes)
        if self.defect == "gaps written in hours":
            return minutes / 60
        return minutes * 60 if self.defect == "gaps written in seconds" else minutes

    def _write(
        self,
        table: list[tuple[list[int], list[float]]],
        rows: Tensor,
        tokens: Tensor,
        minutes: Tensor,
    ) -> None:
        for row, token, gap in zip(rows.tolist(), tokens.tolist(), minutes.tolist(), strict=True):
            if self.defect == "END is drawn and ignored" and token == END:
                continue
            table[row][0].append(token)
            table[row][1].append(gap)

    def _told(
        self, row: tuple[list[int], list[float]], prefixes: Prefixes, launch: int
    ) -> tuple[list[int], list[float]]:
        """The row as this harness stores it."""
        tokens, minutes = row
        before = take(prefixes, np.array([launch]))
        if self.defect == "the prefix is stored with its gaps":
            return before.tokens.tolist() + tokens, before.minutes.tolist() + minutes
        if self.defect == "the prefix is stored with gaps of zero":
            return before.tokens.tolist() + tokens, [0.0] * len(before.tokens) + minutes
        if self.defect == "remaining time summed over the prefix":
            return tokens, [minutes[0] + float(before.elapsed_minutes()[0]), *minutes[1:]]
        return row


def _undocumented_stack(proposed: Tensor, history: History) -> Tensor:
    """The defaults the audit found: top-k, penalty, self-loop cap, and a threshold for END."""
    stack = STATED_DEFAULTS
    log_probs = proposed.log_softmax(dim=1, dtype=torch.float64)
    ends = log_probs[:, END].exp() >= stack["end_threshold"]
    log_probs = torch.where(history.seen, log_probs * stack["penalty"], log_probs)
    log_probs[:, END] = -1e9
    at_cap = (history.run >= stack["self_loop_cap"]).nonzero()[:, 0]
    log_probs[at_cap, history.last[at_cap]] = -1e9
    least = log_probs.topk(stack["top_k"], dim=1).values[:, -1:]
    probabilities = log_probs.masked_fill(log_probs < least, -torch.inf).softmax(dim=1)
    only_end = torch.zeros_like(probabilities)
    only_end[:, END] = 1
    return torch.where(ends[:, None], only_end, probabilities)


def _one_event_less(prefixes: Prefixes) -> Prefixes:
    shorter = np.ones(len(prefixes.tokens), dtype=bool)
    cut = prefixes.lengths() > 1
    shorter[prefixes.offsets[1:][cut] - 1] = False
    offsets = np.concatenate([[0], np.cumsum(prefixes.lengths() - cut)]).astype(np.int64)
    return Prefixes(
        prefixes.tokens[shorter],
        prefixes.minutes[shorter],
        offsets,
        prefixes.stay_rows,
        prefixes.stay_ids,
        prefixes.known,
    )


def _suffixes(rows: list[tuple[list[int], list[float]]]) -> Suffixes:
    lengths = [len(tokens) for tokens, _ in rows]
    return Suffixes(
        np.array([token for tokens, _ in rows for token in tokens], dtype=np.int16),
        np.array([gap for _, minutes in rows for gap in minutes], dtype=np.float32),
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
    )


LOOP_MUTANTS: dict[str, str] = {
    # the six of the paper's audit
    "an undocumented decoding stack by default": "nothing by default",
    "history not advanced": "history",
    "log1p not inverted": "clock units",
    "remaining time summed over the prefix": "prefix boundary",
    "a private stop after 24 hours": "cap",
    "the prefix is stored with its gaps": "prefix boundary",
    "the prefix is stored with gaps of zero": "prefix boundary",
    # the samplers that were asked for and not applied
    "greedy requested and not applied": "rule greedy",
    "top_p requested and not applied": "rule top_p",
    # others
    "temperature requested and not applied": "rule temperature",
    "top_k requested and not applied": "rule top_k",
    "repetition_penalty requested and not applied": "rule repetition_penalty",
    "self_loop_cap requested and not applied": "rule self_loop_cap",
    "process_mask requested and not applied": "rule process_mask",
    "the rule is applied at the first step only": "rules at every step",
    "one event after END": "END last",
    "END is drawn and ignored": "END last",
    "END is written after 24 hours": "events as drawn",
    "starts one event early": "prefix boundary",
    "the gaps of the prefix are set to zero": "prefix boundary",
    "stale states after compaction": "order of rows",
    "the cap is not kept": "cap",
    "gaps written in hours": "clock units",
    "gaps written in seconds": "clock units",
    "one generator shared by rows": "batches",
    "a generator that is never seeded": "seed",
    "the seed is forgotten": "seed",
    "draws are copies": "draws",
    "the last launch is lost": "launches",
    "the chance of times is one half": "chance of times",
    "the chance of times is of the row": "chance of times",
    "the chance of times is of the step": "chance of times",
    "the chance of times is the event's": "chance of times",
    "the chance of times is counted from one": "chance of times",
    "the chance of times is above one": "chance of times",
    "another chance of times in commit": "chance of times",
    "events are drawn with a foreign chance of times": "chance of times",
}
"""Each defect and the check that names it."""
