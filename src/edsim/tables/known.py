"""What is known of a stay when a simulator is started, and nothing that is known only later.

Sex, age, transport, arrival hour, complaint group; the acuity once the triage row is in the
prefix. Never disposition, length of stay or number of events. The paper's models use tokens and
gaps only; a simulator of yours may use these.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Texts = NDArray[np.str_]
Numbers = NDArray[np.float64]

FILE = "known.npz"


@dataclass(frozen=True, slots=True)
class Known:
    """One entry a launch. Missing is "" for texts and nan for numbers."""

    sex: Texts
    age: Numbers
    transport: Texts
    arrival_hour: Numbers
    complaint_group: Texts
    acuity: Numbers


@dataclass(frozen=True, slots=True)
class StayFacts:
    """One entry a stay; `triage_length` is the prefix length from which the acuity is known."""

    sex: Texts
    age: Numbers
    transport: Texts
    arrival_hour: Numbers
    complaint_group: Texts
    acuity: Numbers
    triage_length: NDArray[np.int32]
    """0 where the stay has no triage row: its acuity is never known."""

    def at(self, rows: NDArray[np.integer], lengths: NDArray[np.integer]) -> Known:
        """What is known at launches, given by stay row and prefix length."""
        triage = self.triage_length[rows]
        seen = (triage > 0) & (lengths >= triage)
        return Known(
            sex=self.sex[rows],
            age=self.age[rows],
            transport=self.transport[rows],
            arrival_hour=self.arrival_hour[rows],
            complaint_group=self.complaint_group[rows],
            acuity=np.where(seen, self.acuity[rows], np.nan),
        )

    def save(self, directory: Path) -> None:
        """Write known.npz."""
        np.savez(
            directory / FILE,
            **{field.name: getattr(self, field.name) for field in fields(self)},
        )

    @classmethod
    def open(cls, directory: Path) -> StayFacts:
        """Read known.npz."""
        with np.load(directory / FILE, allow_pickle=False) as arrays:
            return cls(**{field.name: arrays[field.name] for field in fields(cls)})
