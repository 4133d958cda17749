"""Predictions: what a model said of each next event while visits were observed, never fed back.

One row a launch. In memory `Predictions`, beside what was observed `Predicted`; files are read and
written by `predictions_file`. What a model does not say is nan, and 0 for a rank.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edsim.tables.visits import Launches

SCHEMA_VERSION = 1
SUFFIX = ".predictions.parquet"

Floats = NDArray[np.float64]
Ranks = NDArray[np.int32]


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictionsHeader:
    """Everything about a predictions table that is not a row. JSON values only."""

    producer: str
    producer_version: str = ""
    recipe: Mapping[str, Any] = field(default_factory=dict)
    training_seed: int | None = None
    clock: str = "own"
    vocabulary: str = ""
    vocabulary_sha256: str = ""
    tokens: tuple[str, ...] = ()
    cohort_id: str = ""
    content_hash: str = ""
    launches: str = ""
    device: str = ""
    restricted: bool = True
    code_version: str = ""
    schema_version: int = SCHEMA_VERSION


@dataclass(frozen=True, slots=True)
class Predictions:
    """Rows sorted by stay row and prefix length. Probabilities are natural logarithms."""

    header: PredictionsHeader
    launches: Launches
    token: NDArray[np.int16]
    """The event that followed."""
    rank: Ranks
    """Its place among all events by probability, 1 for the likeliest; of equals the smaller token
    number comes first."""
    log_prob: Floats
    """Of that event, given the history alone; minus infinity where the model rules it out."""
    log_prob_end: Floats
    """Of END, whatever followed."""
    rank_given_gap: Ranks
    log_prob_given_gap: Floats
    """The same two given the observed gap too, of models that draw the time before the event."""
    log_density_gap: Floats
    """Of the observed gap, a minute: see `models.protocol.Foreseen`."""
    remaining_guess: Floats
    """Minutes that the model expects the visit to go on."""

    def __len__(self) -> int:
        return len(self.token)

    def take(self, rows: NDArray[np.integer]) -> Predictions:
        """Some rows."""
        return replace(self, **{name: getattr(self, name)[rows] for name in COLUMNS})


COLUMNS = (
    "launches",
    "token",
    "rank",
    "log_prob",
    "log_prob_end",
    "rank_given_gap",
    "log_prob_given_gap",
    "log_density_gap",
    "remaining_guess",
)
"""Arrays of `Predictions`, one entry a row."""


@dataclass(frozen=True, slots=True)
class Predicted:
    """Predictions beside the truth."""

    predictions: Predictions
    remaining: Floats
    """Minutes that each visit did go on."""

    @property
    def launches(self) -> Launches:
        """Stay row and prefix length of each row."""
        return self.predictions.launches

    def take(self, rows: NDArray[np.integer]) -> Predicted:
        """Some rows."""
        return Predicted(self.predictions.take(rows), self.remaining[rows])
