"""The one loop: it owns history, chance, decoding, END, the cap and stopping.

This is the plain form, to be read. `slots` continues millions of launches faster and is tested
against it, event by event and bit by bit.
"""

from __future__ import annotations

from typing import TypeVar

import torch

from edsim.models.protocol import Simulator
from edsim.rollout.chance import EVENT, TIME, step_words, torch_keys, uniforms
from edsim.rollout.checked import Checked, refuse_unusable
from edsim.rollout.decoding import BoundRule
from edsim.rollout.draw import draw
from edsim.rollout.history import History
from edsim.rollout.log import RolloutLog
from edsim.rollout.settings import refuse_settings
from edsim.seeds import U64Array
from edsim.tables.visits import END, Prefixes, Suffixes

State = TypeVar("State")


def roll_out(
    model: Simulator[State],
    prefixes: Prefixes,
    *,
    rule: BoundRule,
    cap: int,
    seed: int,
    draws: int = 1,
) -> Suffixes:
    """Continue each prefix until END is drawn or `cap` events have been generated.

    Rows are launch by launch, and draw by draw within a launch. The same seed, launch, draw and
    step always meet the same uniform numbers, so how prefixes are batched changes nothing.
    """
    refuse_settings(cap=cap, draws=draws)
    checked = Checked(model, rule.n_tokens)
    log = RolloutLog(len(prefixes) * draws)
    with torch.no_grad():
        for number in range(draws):
            rows = torch.arange(len(prefixes)) * draws + number
            continue_rows(checked, prefixes, prefixes.keys(seed, number), rows, rule, cap, log)
    return log.suffixes()


def continue_rows(
    model: Checked[State],
    prefixes: Prefixes,
    launch_keys: U64Array,
    rows: torch.Tensor,
    rule: BoundRule,
    cap: int,
    log: RolloutLog,
) -> None:
    """The loop itself. `rows` are the places of the prefixes in the log."""
    if not len(prefixes):
        return
    device = model.device
    rows, keys = rows.to(device), torch_keys(launch_keys, device)
    history = History.of(prefixes, rule.n_tokens, device)
    state = model.start(prefixes)
    for step in torch.arange(cap, device=device):
        u_event = uniforms(keys, step_words(step, EVENT))
        u_time = uniforms(keys, step_words(step, TIME))
        proposed = model.propose(state, u_time)
        probabilities = rule.probabilities(proposed, history)
        refuse_unusable(probabilities, proposed)
        tokens = draw(probabilities, u_event)
        state, minutes = model.commit(state, tokens, u_time)
        log.append(rows, tokens, minutes)
        running = (tokens != END).nonzero()[:, 0]
        if not len(running):
            break
        history = history.after(tokens).keep(running)
        rows, keys, state = rows[running], keys[running], model.keep(state, running)
