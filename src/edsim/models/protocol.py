"""What can be evaluated: a `Simulator` is run by the loop, a `Process` runs by itself.

A state may be anything to the model. Where it is a tensor, or a tuple, dict or dataclass of states,
with one row per row of the batch in every tensor's first dimension, the loop may also gather and
join the states of different rows, which is how finished rows make place for waiting launches.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar, runtime_checkable

from edsim.tables.visits import Launches, Prefixes, Suffixes, Visits

if TYPE_CHECKING:
    from torch import Tensor

State = TypeVar("State")


class Simulator(Protocol[State]):
    """What the rollout loop asks of a model. Rows are independent of each other.

    Two calls exist twice over because some models draw the time before the event and some after
    it: draw it in either, and answer in minutes. Chance arrives as `u_time`, one number in [0, 1)
    per row and step, float64, the same in `propose` and `commit` of a step; a model that does not
    sample its times ignores it. Tensors live on the model's device.
    """

    def start(self, prefixes: Prefixes) -> State:
        """Read the observed events; the state stands right after the last one."""

    def propose(self, state: State, u_time: Tensor) -> Tensor:
        """Unnormalised log-probabilities of the next event, [rows, tokens], END included."""

    def commit(self, state: State, tokens: Tensor, u_time: Tensor) -> tuple[State, Tensor]:
        """Take the events the loop chose: the state after them, and the minutes before them.

        `tokens` is int64 [rows]; minutes are float32 [rows], finite and not negative.
        """

    def keep(self, state: State, rows: Tensor) -> State:
        """The state of some rows, in the order given. `rows` are int64 indices."""


class Seats(Protocol):
    """The states of a fixed number of rows, written in place, for loops in which no row moves.

    What a `Simulator` answers to its four calls, these answer within rounding. Nothing here may
    depend on the content of a tensor, so that a graphics card can replay a step as one graph;
    `sit`, `make_room` and `keep` stand between steps and may look. The first two answer whether
    they replaced any tensor, which makes such a graph void.
    """

    def sit(self, seats: Tensor, reading: object, stays: Tensor, lengths: Tensor) -> bool:
        """Begin anew in some seats, after the first `lengths` events of `stays` of a reading."""

    def propose(self, u_time: Tensor) -> Tensor:
        """As `Simulator.propose`, of all seats."""

    def commit(self, tokens: Tensor, u_time: Tensor, running: Tensor) -> Tensor:
        """As `Simulator.commit`; of seats that are not `running` nothing is asked any more."""

    def make_room(self, n_events: int) -> bool:
        """Let every seat take so many events more."""

    def keep(self, seats: Tensor) -> Seats:
        """Some seats alone, in the order given."""


class Seated(Protocol):
    """What a Simulator may offer beside its four calls: its rows in seats.

    Only for models that are causal by construction: all events of a stay up to its longest launch
    are read at once, and every launch begins with what was known at its own last event.
    """

    def read(self, prefixes: Prefixes) -> object:
        """What is known after each event of these stays, one prefix each: a reading."""

    def seats(self, n: int) -> Seats | None:
        """So many empty seats; None where this model cannot have any and reads all events again."""


def rereads(model: object) -> bool:
    """Whether a simulator reads a row's whole history at every step, so that rows are dear.

    It may say so as `rereads`; one that offers seats and then has none is taken to.
    """
    said = getattr(model, "rereads", None)
    if said is not None:
        return bool(said)
    offered = getattr(model, "seats", None)
    return offered is not None and offered(1) is None


class Process(Protocol):
    """A simulator that cannot be driven event by event: SimPy, a foreign `generate()`, the oracle.

    Rows of the answer are launch by launch, and draw by draw within a launch. A row ends with END,
    or holds exactly `cap` events without one. numpy only.
    """

    def __call__(self, prefixes: Prefixes, *, cap: int, draws: int, seed: int) -> Suffixes: ...


@dataclass(frozen=True, slots=True)
class Foreseen:
    """What a model says, at launches, of the event that comes next. One row a launch."""

    events: Tensor
    """[rows, tokens]: log-probabilities of the next event, given the history alone."""
    events_given_gap: Tensor | None = None
    """[rows, tokens]: the same given the observed gap too, of a model that draws the time first."""
    gap: Tensor | None = None
    """[rows]: log-density of the observed gap, a minute. The density is the probability of the gap
    to the second (or to the record's own finer unit), over that width."""
    remaining: Tensor | None = None
    """[rows]: minutes that the visit is expected to go on."""


@runtime_checkable
class WithDensities(Protocol):
    """Optional: a simulator that can say how likely what was observed is."""

    def log_prob(
        self, prefixes: Prefixes, next_tokens: Tensor, next_minutes: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Log-probabilities of every next event [rows, tokens], given the history alone; and the
        log-density [rows] of the observed gap, as in `Foreseen`, before the observed event."""


@runtime_checkable
class WithRemaining(Protocol):
    """Optional: a simulator that also guesses how long the visit goes on."""

    def remaining_minutes(self, state: State) -> Tensor:
        """Minutes, [rows]."""


@runtime_checkable
class WithForesight(Protocol):
    """Optional: a simulator that answers for many launches of a stay from one reading of it."""

    def foresee(self, visits: Visits, launches: Launches) -> Foreseen:
        """What it says at launches; those of one stay come together."""
