"""The fastest form of the loop: rows stay in seats, and everything is written in place.

For models that offer seats. The same rollouts as `engine.roll_out` up to the rounding of sums: the
same chance meets the same launch and step, in whatever seat.
"""

from __future__ import annotations

from copy import copy
from dataclasses import fields

import torch
from torch import Tensor

from edsim.errors import BadSimulatorError
from edsim.models.protocol import Seated, Seats
from edsim.progress import Progress, silent
from edsim.rollout.chance import EVENT, TIME, step_words, torch_keys, uniforms
from edsim.rollout.decoding import BoundRule
from edsim.rollout.draw import draw
from edsim.rollout.history import History
from edsim.rollout.pieces import Pieces
from edsim.rollout.queue import Queue, Waiting
from edsim.rollout.replay import Replayed
from edsim.tables.visits import END, Launches, Suffixes, Visits

SEATS = {"cpu": 1024, "cuda": 131_072}
"""What suits a processor's cache, and what fills a graphics card."""
STEPS = {"cpu": 1, "cuda": 4}
"""Steps between two looks at which rows have ended."""
NOBODY = -1


def roll_out_seated(
    model: Seated,
    visits: Visits,
    launches: Launches,
    *,
    rule: BoundRule,
    cap: int,
    seed: int,
    draws: int,
    seats: int | None = None,
    device: torch.device,
    progress: Progress = silent,
) -> Suffixes:
    """Continue every launch `draws` times; rows are launch by launch, then draw by draw."""
    with torch.no_grad():
        queue = Queue(model, visits, launches, seed=seed, draws=draws, device_type=device.type)
        progress.stage("rolling out", queue.n_rows, "rollouts")
        pieces = Pieces(queue.n_rows)
        if queue.n_waiting:
            n = min(seats or SEATS.get(device.type, 1024), queue.n_waiting)
            made = model.seats(n)
            assert made is not None, "asked only of models that have seats"
            _continue_all(_Rows(made, queue, rule, cap, n, device), queue, pieces, progress)
        return pieces.suffixes()


def _continue_all(rows: _Rows, queue: Queue, pieces: Pieces, progress: Progress) -> None:
    """Fill seats that are free, step, gather what has ended; at the end leave empty seats away."""
    n_steps = STEPS.get(rows.device.type, 1)
    step = Replayed(rows.step, rows.device)
    free = torch.arange(rows.n, device=rows.device)
    while True:
        replaced = False
        while queue.n_waiting and len(free):
            some = queue.take(len(free))
            replaced |= rows.sit(free[: len(some.rows)], some, queue.reading)
            free = free[len(some.rows) :]
        if len(free) == rows.n:
            return
        if not queue.n_waiting and len(free) > rows.n // 2:
            rows, replaced = rows.keep(rows.running.nonzero()[:, 0]), True
        if rows.seats.make_room(n_steps) or replaced:
            step = Replayed(rows.step, rows.device, worth_it=queue.n_waiting > 0)
        for _ in range(n_steps):
            step()
        rows.refuse_impossible()
        progress.advance(rows.gather(pieces))
        free = (~rows.running).nonzero()[:, 0]


class _Rows:
    """What the loop knows of every seat; `step` is the loop's body, in place."""

    def __init__(
        self, seats: Seats, queue: Queue, rule: BoundRule, cap: int, n: int, device: torch.device
    ) -> None:
        self.seats, self.device = seats, device
        self._queue, self._rule, self._cap = queue, rule, cap
        steps = torch.arange(cap + 1, device=device)
        self._words = {purpose: step_words(steps, purpose) for purpose in (EVENT, TIME)}
        self.running = torch.zeros(n, dtype=torch.bool, device=device)
        self._row = torch.full((n,), NOBODY, dtype=torch.int64, device=device)
        self._keys = torch.zeros(n, dtype=torch.int64, device=device)
        self._steps = torch.zeros(n, dtype=torch.int64, device=device)
        self._tokens = torch.zeros((n, cap + 1), dtype=torch.int16, device=device)
        self._minutes = torch.zeros((n, cap + 1), dtype=torch.float32, device=device)
        self._history: History | None = None
        if not rule.is_vanilla:
            seen = torch.zeros((n, rule.n_tokens), dtype=torch.bool, device=device)
            self._history = History(self._steps.clone(), self._steps.clone(), seen)
        self._wrong = torch.zeros(2, dtype=torch.int64, device=device)

    @property
    def n(self) -> int:
        """Seats."""
        return len(self.running)

    def step(self) -> None:
        """One event for every seat; what a seat without a running row makes is never looked at."""
        u_event = uniforms(self._keys, self._words[EVENT].index_select(0, self._steps))
        u_time = uniforms(self._keys, self._words[TIME].index_select(0, self._steps))
        proposed = self.seats.propose(u_time)
        probabilities = self._rule.probabilities(proposed, self._history)
        unusable = probabilities[:, 0].isnan() & self.running
        tokens = draw(probabilities, u_event).clamp(max=self._rule.n_tokens - 1)
        minutes = self.seats.commit(tokens, u_time, self.running)
        impossible = ~((minutes >= 0) & (minutes < torch.inf)) & self.running
        self._wrong.add_(torch.stack([unusable.sum(), impossible.sum()]))
        column = torch.where(self.running, self._steps, self._cap)[:, None]
        self._tokens.scatter_(1, column, tokens.to(torch.int16)[:, None])
        self._minutes.scatter_(1, column, minutes[:, None])
        if self._history is not None:
            _write(self._history, slice(None), self._history.after(tokens))
        self._steps.add_(self.running)
        self.running.logical_and_((tokens != END) & (self._steps < self._cap))

    def sit(self, seats: Tensor, some: Waiting, reading: object) -> bool:
        """Begin waiting rows in free seats; True where tensors were replaced."""
        stays, lengths, rows = (
            torch.from_numpy(numbers).to(self.device)
            for numbers in (some.stays, some.lengths, some.rows)
        )
        replaced = self.seats.sit(seats, reading, stays, lengths)
        self._row[seats], self._keys[seats] = rows, torch_keys(some.keys, self.device)
        self._steps[seats], self.running[seats] = 0, True
        if self._history is not None:
            seen = self._queue.prefixes(some)
            _write(self._history, seats, History.of(seen, self._rule.n_tokens, self.device))
        return replaced

    def gather(self, pieces: Pieces) -> int:
        """Take out the rows that have ended; how many they are."""
        ended = (~self.running & (self._row != NOBODY)).nonzero()[:, 0]
        if len(ended):
            pieces.add(
                self._row[ended], self._steps[ended], self._tokens[ended], self._minutes[ended]
            )
            self._row[ended] = NOBODY
        return len(ended)

    def refuse_impossible(self) -> None:
        """Raise where an answer of the last steps was none."""
        unusable, impossible = self._wrong.tolist()
        if unusable:
            raise BadSimulatorError(
                f"the simulator's propose gave no distribution for {unusable} rows: it holds nan "
                "or is minus infinity throughout. A network whose weights are not finite does so."
            )
        if impossible:
            raise BadSimulatorError(
                f"the simulator's commit answered impossible minutes for {impossible} rows. "
                "Minutes are the gap before the event, finite and >= 0."
            )

    def keep(self, seats: Tensor) -> _Rows:
        """Some seats alone."""
        some = copy(self)
        some.seats = self.seats.keep(seats)
        for name in ("running", "_row", "_keys", "_steps", "_tokens", "_minutes"):
            setattr(some, name, getattr(self, name)[seats])
        some._history = self._history and self._history.keep(seats)
        return some


def _write(into: History, rows: Tensor | slice, history: History) -> None:
    for field in fields(History):
        getattr(into, field.name)[rows] = getattr(history, field.name)
