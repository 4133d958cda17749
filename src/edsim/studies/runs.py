"""What a study or a table of the paper asks for: runs, by all that decides them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from edsim.lab.rollouts import RolloutSettings

Role = Literal["main", "temporal", "external", "extended"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One producer rolled out on one launch set under one rule."""

    producer: str
    cohort: Role = "main"
    vocabulary: str | None = None
    """The cohort's first where it is None."""
    launches: str = "matched-100k"
    rule: str = "vanilla"
    clock: str | None = None
    """The recipe's own where it is None."""
    draws: int = 1
    cap: int | None = None
    """The cohort's own where it is None."""
    rollout_seed: int = 0
    device: str = "cpu"
    """Where a network is trained and runs."""

    def settings(self) -> RolloutSettings:
        """The same as `edsim rollout` is told."""
        return RolloutSettings(
            launches=self.launches,
            rule=self.rule,
            seed=self.rollout_seed,
            draws=self.draws,
            cap=self.cap,
            vocabulary=self.vocabulary,
            clock=self.clock,
            device=self.device,
        )

    def __str__(self) -> str:
        """The producer, and what of its settings is not the default."""
        said = [
            self.producer,
            *([f"rule {self.rule}"] if self.rule != "vanilla" else []),
            *([f"clock {self.clock}"] if self.clock else []),
            *([self.vocabulary] if self.vocabulary else []),
            *([f"{self.cohort} cohort"] if self.cohort != "main" else []),
            self.launches,
            *([f"{self.draws} draws"] if self.draws > 1 else []),
            *([f"cap {self.cap}"] if self.cap else []),
            *([f"seed {self.rollout_seed}"] if self.rollout_seed else []),
        ]
        return ", ".join(said)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenLoop:
    """One producer asked for the next event at every launch of a set, nothing fed back."""

    producer: str
    cohort: Role = "main"
    vocabulary: str | None = None
    """The cohort's first where it is None."""
    launches: str = "all"
    device: str = "cpu"
    """Where a network is trained and runs."""

    def __str__(self) -> str:
        """The producer, and what of its settings is not the default."""
        said = [
            self.producer,
            *([self.vocabulary] if self.vocabulary else []),
            *([f"{self.cohort} cohort"] if self.cohort != "main" else []),
            self.launches,
        ]
        return ", ".join(said)
