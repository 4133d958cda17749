"""Open loop: at every launch the model is asked what comes next, and is told what did come.

Nothing it says is fed back: `start` and `propose`, never `commit`. What a model says beyond that
(densities of gaps, remaining minutes) is taken where it offers it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from edsim.errors import BadSimulatorError
from edsim.models.foresight import foreseen
from edsim.models.protocol import Foreseen
from edsim.progress import Progress, silent
from edsim.tables.predictions import Predictions, PredictionsHeader
from edsim.tables.visits import END, Launches, Visits

EVENTS_AT_A_TIME = 65_536
"""Places of the padded stays that are read side by side; memory grows with it, results do not."""


def predict(
    model: Any,
    visits: Visits,
    launches: Launches,
    header: PredictionsHeader,
    *,
    events_at_a_time: int = EVENTS_AT_A_TIME,
    progress: Progress = silent,
) -> Predictions:
    """What the model says at launches that are sorted by stay and prefix length."""
    visits.checked(launches)
    n = len(launches)
    found = Predictions(
        header,
        np.asarray(launches, dtype=np.int32),
        _next_tokens(visits, launches).astype(np.int16),
        rank=np.zeros(n, dtype=np.int32),
        rank_given_gap=np.zeros(n, dtype=np.int32),
        **{name: np.full(n, np.nan) for name in _NUMBERS},
    )
    for rows in _batches(launches, events_at_a_time):
        some = found.launches[rows]
        said = foreseen(model, visits, some)
        _check(said, len(some), len(header.tokens))
        for name, values in _columns(said, torch.from_numpy(found.token[rows]).long()).items():
            getattr(found, name)[rows] = values.cpu().numpy()
        progress.advance(len(rows))
    return found


_NUMBERS = ("log_prob", "log_prob_end", "log_prob_given_gap", "log_density_gap", "remaining_guess")


def _next_tokens(visits: Visits, launches: Launches) -> NDArray[np.int16]:
    return np.asarray(visits.tokens[visits.offsets[launches[:, 0]] + launches[:, 1]])


def _columns(said: Foreseen, token: Tensor) -> dict[str, Tensor]:
    """The columns of a predictions table that follow from what a model said."""
    token = token.to(said.events.device)
    columns = {
        "rank": _rank(said.events, token),
        "log_prob": _of(said.events, token),
        "log_prob_end": said.events[:, END],
    }
    if said.events_given_gap is not None:
        columns["rank_given_gap"] = _rank(said.events_given_gap, token)
        columns["log_prob_given_gap"] = _of(said.events_given_gap, token)
    if said.gap is not None:
        columns["log_density_gap"] = said.gap
    if said.remaining is not None:
        columns["remaining_guess"] = said.remaining
    return columns


def _of(log_probs: Tensor, token: Tensor) -> Tensor:
    return log_probs.gather(1, token[:, None])[:, 0]


def _rank(log_probs: Tensor, token: Tensor) -> Tensor:
    """Place of the token, from 1; of equals the smaller token number comes first."""
    own = _of(log_probs, token)[:, None]
    number = torch.arange(log_probs.shape[1], device=token.device)
    before = (log_probs == own) & (number < token[:, None])
    return 1 + ((log_probs > own) | before).sum(dim=1)


def _batches(launches: Launches, events_at_a_time: int) -> Iterator[NDArray[np.int64]]:
    """Rows of whole stays, stays of one length together, so that little of a batch is padding."""
    stays, begin, n = np.unique(launches[:, 0], return_index=True, return_counts=True)
    if not len(stays):
        return
    longest = launches[begin + n - 1, 1].astype(np.int64)
    order = np.argsort(longest, kind="stable")
    cost = longest * n  # what a model that reads every prefix by itself has to read
    batch: list[NDArray[np.int64]] = []
    spent = 0
    for stay in order.tolist():
        if batch and spent + cost[stay] > events_at_a_time:
            yield np.concatenate(batch)
            batch, spent = [], 0
        batch.append(np.arange(begin[stay], begin[stay] + n[stay]))
        spent += int(cost[stay])
    yield np.concatenate(batch)


def _check(said: Foreseen, rows: int, n_tokens: int) -> None:
    if said.events.shape != (rows, n_tokens):
        raise BadSimulatorError(
            f"the simulator proposed a table of {tuple(said.events.shape)} for {rows} rows of "
            f"{n_tokens} tokens. `propose` answers [rows, tokens]; see `edsim check`."
        )
    if torch.isnan(said.events).any():
        raise BadSimulatorError(
            "the simulator proposed log-probabilities that are not numbers, or none above minus "
            "infinity. `edsim check` says at which call."
        )
