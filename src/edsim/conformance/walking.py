"""Drives a simulator through events that are chosen beforehand, without the loop.

The same events and the same chance must give the same answers however the rows are arranged, so
walks can be compared. What is no usable answer ends the walk and says which promise it breaks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from edsim import seeds
from edsim.conformance.launching import Rows, take
from edsim.errors import EdsimError, raised
from edsim.models.protocol import Simulator
from edsim.tables.visits import END, Prefixes

TOLERANCE = 1e-3
"""Differences of probability, or of relative time, that batching may bring by rounding."""
ROUNDED_ROWS = 0.02
"""Share of rows that may differ by more, where rounding decides between the bins of a clock."""
POSSIBLE = 1e-6


class Unusable(EdsimError):
    """A call raised or answered what cannot be used; `check` is the promise broken."""

    def __init__(self, check: str, sentence: str) -> None:
        super().__init__(sentence)
        self.check = check


@dataclass(frozen=True, slots=True)
class Walk:
    """What a simulator answers along given events."""

    proposed: NDArray[np.float64]
    """[rows, steps + 1, tokens]: probabilities before each event, and after the last."""
    minutes: NDArray[np.float64]
    """[rows, steps]"""

    def some(self, rows: Rows | slice) -> Walk:
        """Some of the rows."""
        return Walk(self.proposed[rows], self.minutes[rows])

    def since(self, step: int) -> Walk:
        """The walk from a later step on."""
        return Walk(self.proposed[:, step:], self.minutes[:, step:])

    def differing(self, other: Walk) -> NDArray[np.bool_]:
        """The rows in which two walks differ by more than rounding."""
        events = np.abs(self.proposed - other.proposed).max(axis=(1, 2), initial=0) > TOLERANCE
        size = TOLERANCE * (1 + np.abs(self.minutes))
        times = (np.abs(self.minutes - other.minutes) > size).any(axis=1)
        return np.asarray(events | times)


@dataclass(frozen=True, slots=True)
class Course:
    """Prefixes, the events that are to follow each, and the chance of their times."""

    prefixes: Prefixes
    tokens: NDArray[np.int64]
    """[rows, steps], none of them END."""
    u_time: NDArray[np.float64]
    """[rows, steps + 1]"""

    def some(self, rows: Rows) -> Course:
        """Some of the rows, in the order given."""
        return Course(take(self.prefixes, rows), self.tokens[rows], self.u_time[rows])

    def since(self, step: int) -> Course:
        """The rest of the course; its prefixes are still those of the whole."""
        return Course(self.prefixes, self.tokens[:, step:], self.u_time[:, step:])


class Driver:
    """Calls a simulator and looks at each answer."""

    def __init__(self, model: Simulator[Any], n_tokens: int) -> None:
        self._model = model
        self._n_tokens = n_tokens
        self._device = torch.device(getattr(model, "device", "cpu"))
        self.n_proposed = self.n_like_probabilities = 0

    def walk(self, course: Course) -> Walk:
        """Start, and propose and commit along the course."""
        return self.walk_together([course])[0]

    def walk_together(self, courses: Sequence[Course]) -> list[Walk]:
        """Walk along several courses of the same length, a step of each in turn."""
        with torch.inference_mode():
            return self._go_on([self.start(course.prefixes) for course in courses], courses)

    def go_on(self, state: Any, course: Course) -> Walk:
        """Propose and commit along the course from a state on that has read its prefixes."""
        with torch.inference_mode():
            return self._go_on([state], [course])[0]

    def _go_on(self, states: list[Any], courses: Sequence[Course]) -> list[Walk]:
        proposed: list[list[NDArray[np.float64]]] = [[] for _ in courses]
        minutes: list[list[NDArray[np.float64]]] = [[] for _ in courses]
        n_steps = courses[0].tokens.shape[1]
        for step in range(n_steps + 1):
            for i, course in enumerate(courses):
                proposed[i].append(self.propose(states[i], course.u_time[:, step]))
            for i, course in enumerate(courses if step < n_steps else ()):
                states[i], gaps = self.commit(
                    states[i], course.tokens[:, step], course.u_time[:, step]
                )
                minutes[i].append(gaps)
        return [
            Walk(
                np.stack(proposed[i], axis=1),
                np.array(minutes[i]).reshape(n_steps, len(course.tokens)).T,
            )
            for i, course in enumerate(courses)
        ]

    def start(self, prefixes: Prefixes) -> Any:
        return _called("start", self._model.start, prefixes)

    def propose(self, state: Any, u_time: NDArray[np.float64]) -> NDArray[np.float64]:
        """Probabilities of the next event."""
        answer = _called("propose", self._model.propose, state, self._tensor(u_time))
        _expect_shape("propose", answer, (len(u_time), self._n_tokens))
        probabilities: NDArray[np.float64] = (
            answer.detach().softmax(dim=1, dtype=torch.float64).cpu().numpy()
        )
        bad = int(np.isnan(probabilities).any(axis=1).sum())
        if bad:
            n_nan = int(answer.isnan().any(dim=1).sum())
            n_none = int((answer == -torch.inf).all(dim=1).sum())
            raise Unusable(
                "proposals",
                f"{bad} of {len(probabilities)} proposals are no distribution: {n_nan} hold nan, "
                f"{n_none} leave no event possible",
            )
        self.n_proposed += len(answer)
        self.n_like_probabilities += _n_like_probabilities(answer)
        return probabilities

    def commit(
        self, state: Any, tokens: NDArray[np.int64], u_time: NDArray[np.float64]
    ) -> tuple[Any, NDArray[np.float64]]:
        """The state after the events, and the minutes before them."""
        events = torch.from_numpy(np.ascontiguousarray(tokens)).to(self._device)
        answer = _called("commit", self._model.commit, state, events, self._tensor(u_time))
        if not (isinstance(answer, tuple) and len(answer) == 2):
            raise Unusable("shapes", "commit does not answer a pair: the next state and minutes")
        after, minutes = answer
        _expect_shape("commit", minutes, (len(u_time),))
        gaps = minutes.detach().to(torch.float64).cpu().numpy()
        bad = ~np.isfinite(gaps) | (gaps < 0)
        if bad.any():
            raise Unusable(
                "gaps",
                f"commit answers {int((gaps < 0).sum())} negative gaps and "
                f"{int((~np.isfinite(gaps)).sum())} that are not finite, of {len(gaps)}",
            )
        return after, gaps

    def keep(self, state: Any, rows: Rows) -> Any:
        return _called(
            "keep", self._model.keep, state, torch.from_numpy(rows.copy()).to(self._device)
        )

    def _tensor(self, u_time: NDArray[np.float64]) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(u_time)).to(self._device)


def plan_course(driver: Driver, prefixes: Prefixes, steps: int) -> Course:
    """Events that the simulator itself holds possible, for the rows that can go on so long."""
    keys = prefixes.keys(0)
    u_time, u_event = (
        np.stack([seeds.uniform(seeds.step_keys(keys, step, purpose)) for step in range(steps + 1)])
        for purpose in (seeds.TIME, seeds.EVENT)
    )
    course = Course(prefixes, np.empty((len(prefixes), 0), dtype=np.int64), u_time.T)
    chance = u_event.T
    for step in range(steps):
        proposed = driver.walk(course).proposed[:, -1].copy()
        proposed[:, END] = 0
        alive = np.flatnonzero(proposed.sum(axis=1) > POSSIBLE)
        if len(alive) < 0.05 * len(prefixes):
            break
        course, chance = course.some(alive), chance[alive]
        sums = proposed[alive].cumsum(axis=1)
        tokens = (sums <= chance[:, [step]] * sums[:, -1:]).sum(axis=1)
        course = Course(
            course.prefixes,
            np.column_stack([course.tokens, tokens]).astype(np.int64),
            course.u_time,
        )
    return Course(course.prefixes, course.tokens, course.u_time[:, : course.tokens.shape[1] + 1])


def _n_like_probabilities(answer: Tensor) -> int:
    """Rows that are distributions already; logarithms of probabilities are never above 0."""
    inside = ((answer >= 0) & (answer <= 1)).all(dim=1)
    return int((inside & ((answer.sum(dim=1) - 1).abs() < TOLERANCE)).sum())


def _called(name: str, call: Callable[..., Any], *arguments: object) -> Any:
    try:
        return call(*arguments)
    except (Exception, SystemExit) as error:
        said = f": {error}" if isinstance(error, EdsimError) else ""
        raise Unusable("calls", f"{name} {raised(error)}{said}") from error


def _expect_shape(call: str, answer: object, wanted: tuple[int, ...]) -> None:
    if not isinstance(answer, Tensor):
        raise Unusable("shapes", f"{call} answers {type(answer).__name__} and not a tensor")
    if tuple(answer.shape) != wanted:
        raise Unusable(
            "shapes", f"{call} answers shape {list(answer.shape)} where {list(wanted)} is expected"
        )
    least = 32 if call == "commit" else 16  # half precision of minutes is half a day of a week
    if not answer.is_floating_point() or torch.finfo(answer.dtype).bits < least:
        raise Unusable("shapes", f"{call} answers {answer.dtype}: float32 is expected")
