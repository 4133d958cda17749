"""What a network is trained on: every event of a part of the cohort, and what comes after it.

All visits one after the other as flat tensors on the device that trains, so that a step gathers its
batch by number and nothing travels.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from edsim import seeds
from edsim.errors import BadInputError
from edsim.models.moving import moved
from edsim.models.neural.model import NeuralModel
from edsim.tables.facts import VocabularyFacts
from edsim.tables.visits import Visits

NO_DISPOSITION = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingData:
    """Training and validation visits of a cohort, and which cohort and vocabulary they are of."""

    train: Visits
    val: Visits
    n_tokens: int
    discharges: tuple[int, ...]
    vocabulary: str
    vocabulary_sha256: str
    content_hash: str
    restricted: bool = True

    @classmethod
    def open(cls, encoded: Path, content_hash: str, *, restricted: bool = True) -> TrainingData:
        """Read an `encoded/<vocabulary>/` directory."""
        visits, facts = Visits.open(encoded), VocabularyFacts.open(encoded)
        return cls(
            train=visits.part("train"),
            val=visits.part("val"),
            n_tokens=len(facts.tokens),
            discharges=facts.discharges,
            vocabulary=facts.name,
            vocabulary_sha256=facts.sha256,
            content_hash=content_hash,
            restricted=restricted,
        ).checked()

    def checked(self) -> TrainingData:
        """The same; refused where there is nothing to learn from."""
        if not self.n_events:
            raise BadInputError(
                "the training split of this cohort has no stay: there is nothing to train on. Its "
                "split is by subject, so a handful of subjects may all fall into validation or "
                "test. Build a cohort of more stays."
            )
        return self

    @property
    def n_events(self) -> int:
        """Training events, END not counted."""
        return int(self.train.n_events().sum())


@dataclass(frozen=True, slots=True)
class Examples:
    """Events side by side, END never among them; a last entry is nobody's, for padding."""

    tokens: Tensor
    """int64 [events + 1]."""
    gaps: Tensor
    """float32, minutes."""
    elapsed: Tensor
    """float64, minutes since the visit's first event."""
    place: Tensor
    """int64: the event's number in its visit, from 0."""
    next_tokens: Tensor
    """int64: what comes next, END after the last."""
    next_gaps: Tensor
    """float32: minutes before that."""
    next_kinds: Tensor
    """int64: its time class or bin, where the heads have such; 0 otherwise."""
    remaining: Tensor
    """float32: minutes to the visit's last event."""
    dispositions: Tensor
    """int64: place of the visit's last discharge among the vocabulary's; NO_DISPOSITION."""

    def to(self, device: torch.device | str) -> Examples:
        """The same examples on another device."""
        return moved(self, device)


@dataclass(frozen=True, slots=True)
class StayList:
    """The host's view of the examples: where each stay begins, its length, its chance."""

    begins: NDArray[np.int64]
    lengths: NDArray[np.int64]
    keys: seeds.U64Array

    def __len__(self) -> int:
        return len(self.lengths)

    @classmethod
    def of(cls, visits: Visits, seed: int, most: int) -> StayList:
        """Stays are read up to their `most`-th event."""
        lengths = visits.n_events()
        names = visits.stay_ids
        if names is None:
            names = np.arange(len(lengths)).astype(np.bytes_)
        return cls(
            np.cumsum(lengths) - lengths,
            np.minimum(lengths, most),
            seeds.keys("training", seed, (bytes(name) for name in names)),
        )


def examples_of(visits: Visits, model: NeuralModel) -> Examples:
    """All events of the visits with what the model's heads are to learn of them."""
    lengths = visits.n_events()
    begins = visits.offsets[:-1]
    is_event = np.ones(len(visits.tokens), dtype=np.bool_)
    is_event[visits.offsets[1:] - 1] = False
    where = np.flatnonzero(is_event)
    place = where - np.repeat(begins, lengths)
    sums = np.cumsum(visits.minutes, dtype=np.float64)
    elapsed = (sums - np.repeat(sums[begins], lengths + 1))[where]
    last = np.repeat(np.cumsum(lengths) - 1, lengths)
    gaps = torch.from_numpy(np.asarray(visits.minutes[where + 1], dtype=np.float32))
    at = torch.from_numpy(elapsed)
    return Examples(
        tokens=_padded(visits.tokens[where].astype(np.int64)),
        gaps=_padded(np.asarray(visits.minutes[where], dtype=np.float32)),
        elapsed=_padded(elapsed),
        place=_padded(place),
        next_tokens=_padded(visits.tokens[where + 1].astype(np.int64)),
        next_gaps=_padded(gaps.numpy()),
        next_kinds=_padded(_kinds(model, at, gaps).numpy()),
        remaining=_padded((elapsed[last] - elapsed).astype(np.float32)),
        dispositions=_padded(np.repeat(_dispositions(visits, model.sizes.discharges), lengths)),
    )


def _padded(values: NDArray[np.generic]) -> Tensor:
    flat = torch.from_numpy(np.ascontiguousarray(values))
    return torch.cat([flat, torch.zeros(1, dtype=flat.dtype)])


def _kinds(model: NeuralModel, elapsed: Tensor, gaps: Tensor) -> Tensor:
    if model.design.heads == "joint":
        return model.time_classes.to("cpu").class_of_gap(elapsed, gaps)
    if model.design.heads == "time_bins":
        return model.time_bins.to("cpu").bin_of(gaps)
    return torch.zeros(len(gaps), dtype=torch.int64)


def _dispositions(visits: Visits, discharges: tuple[int, ...]) -> NDArray[np.int64]:
    """The last discharge of each stay, as its place among the vocabulary's discharges."""
    found = np.full(len(visits), NO_DISPOSITION, dtype=np.int64)
    if not discharges:
        return found
    place_of = np.full(int(max(visits.tokens.max(initial=0), *discharges)) + 1, NO_DISPOSITION)
    place_of[list(discharges)] = np.arange(len(discharges))
    kinds = place_of[visits.tokens]
    at = np.flatnonzero(kinds != NO_DISPOSITION)
    stay = np.searchsorted(visits.offsets, at, side="right") - 1
    found[stay] = kinds[at]  # events are in order, so a stay's last discharge is written last
    return found
