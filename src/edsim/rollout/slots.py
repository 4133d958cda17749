"""The fast form of the loop: a fixed number of slots, refilled as rows end.

The same rollouts as `engine.roll_out`, whatever the slots. Every row carries its own step, so rows
that began at different times stand side by side; a row that has ended leaves at once, and the
launches waiting take the room as soon as an eighth of the slots is free.
"""

from __future__ import annotations

from typing import Generic, TypeVar, cast

import torch
from torch import Tensor

from edsim.models.protocol import Seated, Simulator, rereads
from edsim.progress import Progress, silent
from edsim.rollout.chance import EVENT, TIME, step_words, uniforms
from edsim.rollout.checked import Checked, refuse_unusable
from edsim.rollout.decoding import BoundRule
from edsim.rollout.draw import draw
from edsim.rollout.log import RolloutLog
from edsim.rollout.seated import roll_out_seated
from edsim.rollout.settings import refuse_settings
from edsim.rollout.supply import Running, Supply
from edsim.tables.visits import END, Launches, Suffixes, Visits

State = TypeVar("State")

SLOTS = 16384
"""Proposals of so many rows stay in a processor's cache; a graphics card wants more."""
REREADING_SLOTS = {"cpu": 64}
"""Where every step reads whole histories: what is computed on the way grows with rows x events x
width, and more rows only leave the processor's cache. A graphics card has room for `SLOTS`."""


def roll_out_fast(
    model: Simulator[State],
    visits: Visits,
    launches: Launches,
    *,
    rule: BoundRule,
    cap: int,
    seed: int,
    draws: int = 1,
    slots: int | None = None,
    progress: Progress = silent,
) -> Suffixes:
    """Continue every launch `draws` times; rows are launch by launch, then draw by draw.

    A model that offers seats is run in them, all others in slots.
    """
    refuse_settings(cap=cap, draws=draws, slots=1 if slots is None else slots)
    checked = Checked(model, rule.n_tokens)
    offered = getattr(model, "seats", None)
    if offered is not None and offered(1) is not None:
        return roll_out_seated(
            cast("Seated", model),
            visits,
            launches,
            rule=rule,
            cap=cap,
            seed=seed,
            draws=draws,
            seats=slots,
            device=checked.device,
            progress=progress,
        )
    slots = slots or slots_for(model, checked.device)
    supply = Supply(
        checked,
        visits,
        launches,
        seed=seed,
        draws=draws,
        slots=slots,
        with_history=not rule.is_vanilla,
    )
    log = RolloutLog(supply.n_rows)
    with torch.no_grad():
        _continue_all(Stepper(checked, rule, cap, log), supply, slots, progress)
    return log.suffixes()


def slots_for(model: Simulator[State], device: torch.device) -> int:
    """The rows that run side by side where nobody says how many."""
    return REREADING_SLOTS.get(device.type, SLOTS) if rereads(model) else SLOTS


def _continue_all(
    stepper: Stepper[State], supply: Supply[State], slots: int, progress: Progress
) -> None:
    running: Running[State] | None = None
    refused: Running[State] | None = None  # could not be joined; waits until all others ended
    progress.stage("rolling out", supply.n_rows, "rollouts")
    while running or refused or supply.waiting:
        if running is None:
            running, refused = refused or supply.take(slots), None
        while supply.joins and supply.waiting and len(running) <= slots - max(1, slots // 8):
            fresh = supply.take(slots - len(running))
            together = running.join(fresh)
            if together is None:
                supply.joins, refused = False, fresh
            else:
                running = together
        before = len(running)
        running = stepper.step(running)
        progress.advance(before - (len(running) if running else 0))


class Stepper(Generic[State]):
    """One event for every running row: `engine.continue_rows`, with a step of its own a row."""

    def __init__(self, model: Checked[State], rule: BoundRule, cap: int, log: RolloutLog) -> None:
        self._model, self._rule, self._cap, self._log = model, rule, cap, log
        steps = torch.arange(cap, device=model.device)
        self._words = {purpose: step_words(steps, purpose) for purpose in (EVENT, TIME)}

    def step(self, running: Running[State]) -> Running[State] | None:
        """The rows that go on, one event later; None where all have ended."""
        u_event = self._uniforms(running, EVENT)
        u_time = self._uniforms(running, TIME)
        proposed = self._model.propose(running.state, u_time)
        probabilities = self._rule.probabilities(proposed, running.history)
        refuse_unusable(probabilities, proposed)
        tokens = draw(probabilities, u_event)
        state, minutes = self._model.commit(running.state, tokens, u_time)
        self._log.append(running.rows, tokens, minutes)
        steps = running.steps + 1
        history = running.history and running.history.after(tokens)
        going = ((tokens != END) & (steps < self._cap)).nonzero()[:, 0]
        if not len(going):
            return None
        if len(going) == len(tokens):
            return Running(running.rows, running.keys, steps, history, state)
        return Running(
            running.rows.index_select(0, going),
            running.keys.index_select(0, going),
            steps.index_select(0, going),
            history and history.keep(going),
            self._model.keep(state, going),
        )

    def _uniforms(self, running: Running[State], purpose: int) -> Tensor:
        return uniforms(running.keys, self._words[purpose].index_select(0, running.steps))
