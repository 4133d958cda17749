"""A simulator whose every answer is looked at before the loop uses it.

Messages name the call and what is wrong with the answer, never its content.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, ParamSpec, TypeVar

import torch
from torch import Tensor

from edsim.errors import BadSimulatorError, EdsimError, raised
from edsim.models.protocol import Simulator
from edsim.tables.visits import Prefixes

State = TypeVar("State")
Answer = TypeVar("Answer")
Arguments = ParamSpec("Arguments")

PROTOCOL = "See the protocol in edsim.models.protocol."


@dataclass(frozen=True, slots=True)
class Checked(Generic[State]):
    """The four calls of `model`; what is not a usable answer raises `BadSimulatorError`."""

    model: Simulator[State]
    n_tokens: int

    @property
    def device(self) -> torch.device:
        """Where the model's tensors live: its `device`, the processor where it names none."""
        return torch.device(getattr(self.model, "device", "cpu"))

    def start(self, prefixes: Prefixes) -> State:
        return _call("start", self.model.start, prefixes)

    def propose(self, state: State, u_time: Tensor) -> Tensor:
        proposed = _call("propose", self.model.propose, state, u_time)
        _refuse_shape("propose", proposed, (len(u_time), self.n_tokens))
        return proposed

    def commit(self, state: State, tokens: Tensor, u_time: Tensor) -> tuple[State, Tensor]:
        answer = _call("commit", self.model.commit, state, tokens, u_time)
        if not (isinstance(answer, tuple) and len(answer) == 2):
            raise BadSimulatorError(
                f"the simulator's commit must answer the next state and the minutes. {PROTOCOL}"
            )
        state, minutes = answer
        _refuse_shape("commit", minutes, (len(tokens),))
        minutes = minutes.to(torch.float32)
        if not bool(((minutes >= 0) & (minutes < torch.inf)).all()):
            raise BadSimulatorError(_bad_minutes(minutes))
        return state, minutes

    def keep(self, state: State, rows: Tensor) -> State:
        return _call("keep", self.model.keep, state, rows)


def refuse_unusable(probabilities: Tensor, proposed: Tensor) -> None:
    """Raise unless every row is a distribution; a row that is none is nan from end to end."""
    unusable = probabilities[:, 0].isnan()
    if not bool(unusable.any()):
        return
    rows = proposed[unusable]
    if bool(rows.isnan().any()):
        what = "holds nan"
    elif bool((rows == torch.inf).any()):
        what = "holds plus infinity"
    else:
        what = "is minus infinity throughout, so no event is possible"
    raise BadSimulatorError(
        f"the simulator's propose gave no distribution in {int(unusable.sum())} of "
        f"{len(unusable)} rows, first in row {int(unusable.int().argmax())} of the batch: "
        f"the proposal {what}."
    )


def _call(
    name: str,
    call: Callable[Arguments, Answer],
    *args: Arguments.args,
    **kwargs: Arguments.kwargs,
) -> Answer:
    try:
        return call(*args, **kwargs)
    except EdsimError:
        raise
    except (Exception, SystemExit) as error:
        raise BadSimulatorError(f"the simulator's {name} {raised(error)}.") from error


def _refuse_shape(call: str, answer: object, wanted: tuple[int, ...]) -> None:
    what = "[rows, tokens]" if len(wanted) == 2 else "[rows]"
    if not isinstance(answer, Tensor):
        raise BadSimulatorError(
            f"the simulator's {call} must answer a tensor {what}, not {type(answer).__name__}. "
            f"{PROTOCOL}"
        )
    if tuple(answer.shape) != wanted or not answer.is_floating_point():
        raise BadSimulatorError(
            f"the simulator's {call} must answer floating-point numbers {what} of shape "
            f"{list(wanted)}; it answered {answer.dtype} of shape {list(answer.shape)}. {PROTOCOL}"
        )


def _bad_minutes(minutes: Tensor) -> str:
    counts = {
        "not a number": int(minutes.isnan().sum()),
        "negative": int((minutes < 0).sum()),
        "infinite": int((minutes == torch.inf).sum()),
    }
    found = ", ".join(f"{n} {kind}" for kind, n in counts.items() if n)
    return (
        f"the simulator's commit answered impossible minutes in {sum(counts.values())} of "
        f"{len(minutes)} rows ({found}). Minutes are the gap before the event, finite and >= 0."
    )
