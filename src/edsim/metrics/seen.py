"""What a diagnosis looks at: generated and observed suffixes of launches, and their stays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from edsim.metrics.repeats import Stretches, last_stretches, longest_stretches
from edsim.tables.rollouts import Scored
from edsim.tables.visits import END, Suffixes

FEWEST_STAYS = 20
"""Fewer stays say nothing, and no finding rests on fewer."""

LONG_STRETCH = 10
"""Shorter stretches of the same events are no loop."""


@dataclass(frozen=True, slots=True)
class Found:
    """A fault, what was seen of it, and the measures that show it."""

    fault: str
    sentence: str
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Seen:
    """Rows correspond: one draw of every launch, the truth, the launch's stay and last event."""

    generated: Suffixes
    observed: Suffixes
    terminated: NDArray[np.bool_]
    stay: NDArray[np.int64]
    """The launch's stay, counted from 0."""
    n_stays: int
    last_seen: NDArray[np.integer]
    """The last token of each prefix."""
    tokens: tuple[str, ...]
    cap: int
    discharges: tuple[int, ...] = ()
    """Tokens that are discharges, where the vocabulary has any."""

    @classmethod
    def of(
        cls,
        scored: Scored,
        last_seen: NDArray[np.integer],
        tokens: tuple[str, ...],
        discharges: tuple[int, ...] = (),
    ) -> Seen:
        """The rows of a table, with the last token of each prefix and the names of all tokens."""
        rows, stay = np.unique(scored.launches[:, 0], return_inverse=True)
        return cls(
            generated=scored.generated,
            observed=scored.observed,
            terminated=scored.terminated,
            stay=stay.astype(np.int64),
            n_stays=len(rows),
            last_seen=last_seen,
            tokens=tokens,
            cap=scored.cap,
            discharges=discharges,
        )

    @property
    def n_tokens(self) -> int:
        return len(self.tokens)

    def loop_length(self) -> int:
        """Stretches at least as long are not seen in one of a thousand true visits."""
        observed = longest_stretches(self.observed).length
        return max(LONG_STRETCH, int(np.quantile(observed, 0.999)) + 1)

    def loops(self) -> Stretches:
        """Stretches of at least `loop_length` that last until the cap; length 0 elsewhere."""
        found = last_stretches(self.generated)
        held = (found.length >= self.loop_length()) & ~self.terminated
        return Stretches(np.where(held, found.length, 0), np.where(held, found.begin, 0))

    def without_loops(self) -> Suffixes:
        """The generated rows up to the first event of their loops."""
        loops, whole = self.loops(), self.generated.lengths()
        lengths = np.where(loops.length > 0, loops.begin + 1, whole)
        kept = steps_of(self.generated) <= np.repeat(lengths, whole)
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        return Suffixes(self.generated.tokens[kept], self.generated.minutes[kept], offsets)


def steps_of(events: Suffixes) -> NDArray[np.int64]:
    """The step of each event within its row, from 1."""
    return np.arange(1, len(events.tokens) + 1) - np.repeat(events.offsets[:-1], events.lengths())


def is_event(events: Suffixes) -> NDArray[np.bool_]:
    """Where an event is not END."""
    return np.asarray(events.tokens != END)
