"""A finding about one producer, in words a reader can act on, with the measures it rests on."""

from __future__ import annotations

from dataclasses import dataclass

FAULTS: dict[str, str] = {
    "first-step miscalibration": "the first generated event is already off",
    "compounding drift": "events start well and move away from the truth with every step",
    "absorbing loop": "rollouts fall into repeating one event and do not come out",
    "early stopping": "visits are over after too few events",
    "late stopping": "visits are over after too many events",
    "never stopping": "rollouts run on until the cap stops them, and repeat nothing",
    "ends without discharge": "visits are over although nobody was discharged",
    "clock contraction": "gaps shrink the further a visit goes",
    "clock bias": "gaps are too long or too short",
    "prefix ignored": "continuations do not depend on what was seen of the visit",
}
"""Every fault that `edsim diagnose` looks for, in the order it reports them, and what it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What is wrong with a producer, or that nothing is."""

    producer: str
    fault: str
    """A key of FAULTS; empty where nothing is wrong."""
    sentence: str
    """What was seen, with numbers."""
    evidence: tuple[str, ...] = ()
    """Names of the measures it follows from."""
