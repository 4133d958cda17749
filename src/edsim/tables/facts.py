"""What decoding rules may know of a vocabulary: names, discharges, transitions in training.

Stored with the encoded visits as facts.npz, so that rollout needs numpy alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from edsim.errors import BadTableError

FILE = "facts.npz"


@dataclass(frozen=True, slots=True)
class VocabularyFacts:
    """Facts of one cohort under one vocabulary."""

    name: str
    sha256: str
    tokens: tuple[str, ...]
    discharges: tuple[int, ...]
    transitions: NDArray[np.int64]
    """[tokens, tokens]: how often the second followed the first in the training split, END too."""

    def save(self, directory: Path) -> None:
        """Write facts.npz."""
        np.savez(
            directory / FILE,
            name=np.array(self.name),
            sha256=np.array(self.sha256),
            tokens=np.array(self.tokens),
            discharges=np.array(self.discharges, dtype=np.int16),
            transitions=self.transitions,
        )

    @classmethod
    def open(cls, directory: Path) -> VocabularyFacts:
        """Read facts.npz."""
        try:
            with np.load(directory / FILE, allow_pickle=False) as arrays:
                return cls(
                    name=str(arrays["name"]),
                    sha256=str(arrays["sha256"]),
                    tokens=tuple(arrays["tokens"].tolist()),
                    discharges=tuple(arrays["discharges"].tolist()),
                    transitions=arrays["transitions"],
                )
        except (OSError, ValueError, KeyError) as error:
            raise BadTableError(
                f"{FILE} of vocabulary '{directory.name}' cannot be read "
                f"({type(error).__name__}). Run `edsim cohort check` on the cohort."
            ) from None
