"""Rollouts: what simulators generated, one row per launch and draw. Suffixes only, never a prefix.

In memory `Rollouts`, beside the observed suffixes `Scored`. Files are read and written by
`rollouts_file`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edsim.tables.visits import END, Launches, Suffixes

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class RolloutsHeader:
    """Everything about a rollouts table that is not a row. JSON values only."""

    producer: str
    """What made it, as the user names it: `ngram:3`, `module:Simulator`, a checkpoint's recipe."""
    producer_version: str = ""
    recipe: Mapping[str, Any] = field(default_factory=dict)
    training_seed: int | None = None
    rule: str = "vanilla"
    """The decoding rule as it was applied, in the text form that parses back to it."""
    rule_settings: Mapping[str, Any] = field(default_factory=dict)
    clock: str = "own"
    cap: int = 128
    seed: int = 0
    draws: int = 1
    vocabulary: str = ""
    vocabulary_sha256: str = ""
    tokens: tuple[str, ...] = ()
    """Names of the tokens by number, so that the file can be read without the cohort."""
    cohort_id: str = ""
    content_hash: str = ""
    launches: str = ""
    device: str = ""
    privileged: bool = False
    """Whether the producer shares unseen state with the truth (the oracle)."""
    restricted: bool = True
    code_version: str = ""
    schema_version: int = SCHEMA_VERSION


@dataclass(frozen=True, slots=True)
class Rollouts:
    """Generated suffixes, sorted by stay row, prefix length and draw.

    `launches` and `draw` have one entry per row of `generated`.
    """

    header: RolloutsHeader
    launches: Launches
    draw: NDArray[np.int32]
    generated: Suffixes

    def __len__(self) -> int:
        return len(self.generated)

    def terminated(self) -> NDArray[np.bool_]:
        """Rows that ended with END; the others were stopped by the cap."""
        last = self.generated.offsets[1:] - 1
        return np.asarray(self.generated.tokens[last] == END)


@dataclass(frozen=True, slots=True)
class Scored:
    """Rollouts beside the truth: rows correspond, one draw (the first) of every launch."""

    generated: Suffixes
    observed: Suffixes
    launches: Launches
    n_tokens: int
    cap: int

    @property
    def terminated(self) -> NDArray[np.bool_]:
        """Rows that ended with END."""
        return np.asarray(self.generated.tokens[self.generated.offsets[1:] - 1] == END)


@dataclass(frozen=True, slots=True)
class Ensemble:
    """All draws of every launch beside the truth.

    Rows of `generated` are launch by launch, and draw by draw within a launch; `observed` and
    `launches` have one row a launch.
    """

    generated: Suffixes
    observed: Suffixes
    launches: Launches
    draws: int
    n_tokens: int
    cap: int

    @property
    def terminated(self) -> NDArray[np.bool_]:
        """[launches, draws]: rows that ended with END."""
        last = self.generated.offsets[1:] - 1
        return np.asarray(self.generated.tokens[last] == END).reshape(-1, self.draws)

    def remaining_minutes(self) -> NDArray[np.float64]:
        """[launches, draws]: minutes from the launch to the end, infinite for a capped row."""
        minutes = self.generated.total_minutes().reshape(-1, self.draws)
        return np.where(self.terminated, minutes, np.inf)
