"""The oracle of a cohort whose process is known: true continuations, encoded as the cohort is.

It is a `Process` that shares unseen state with the truth (`privileged`). What it scores is the
floor of every distributional measure: sampling noise at that number of launches. On measures that
pair a launch with its own observed future it is a bound that no simulator can reach.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from edsim.encoding.encode import encode
from edsim.encoding.vocabulary import Vocabulary
from edsim.errors import BadCohortError
from edsim.lab.cohort import Cohort
from edsim.sources import SOURCES
from edsim.sources.source import Branching
from edsim.tables.visits import Prefixes, Suffixes

PRODUCER = "oracle"
CHUNK = 65_536
"""Branches held at a time, so that memory does not grow with the launches."""


@dataclass(frozen=True, slots=True)
class Oracle:
    """Continues visits by the process they were drawn from."""

    cohort: Cohort
    vocabulary: Vocabulary
    branch: Branching
    privileged: ClassVar[bool] = True
    clock: ClassVar[str] = "own"

    @property
    def version(self) -> str:
        """Which version of the process it branches."""
        return self.cohort.manifest.source_version

    def __call__(self, prefixes: Prefixes, *, cap: int, draws: int, seed: int) -> Suffixes:
        """Launch by launch, draw by draw; a branch longer than `cap` is cut there, without END."""
        n = len(prefixes) * draws
        return Suffixes.join(
            [
                self._some(prefixes, np.arange(begin, min(begin + CHUNK, n)), cap, draws, seed)
                for begin in range(0, n, CHUNK)
            ]
        )

    def _some(
        self, prefixes: Prefixes, rows: np.ndarray, cap: int, draws: int, seed: int
    ) -> Suffixes:
        assert prefixes.stay_ids is not None
        launch, draw = rows // draws, rows % draws
        manifest = self.cohort.manifest
        events = self.branch(
            manifest.source_options,
            manifest.source_version,
            prefixes.stay_ids[launch],
            prefixes.lengths()[launch],
            draw,
            seed=seed,
        )
        branches, _ = encode(events, len(rows), self.vocabulary)
        # each branch begins with its launch row, which is the cohort's own last row of the prefix
        seen = prefixes.tokens[prefixes.offsets[1:] - 1][launch]
        differs = branches.tokens[branches.offsets[:-1]] != seen
        if differs.any():
            raise BadCohortError(
                f"{differs.sum()} of {len(rows)} launch rows are not those the process draws: the "
                "cohort's events were changed after they were drawn, so they cannot be continued. "
                "Build the cohort again."
            )
        first = np.stack([np.arange(len(rows)), np.ones(len(rows))], axis=1).astype(np.int32)
        return branches.suffixes(first).cut(cap)


def oracle_of(cohort: Cohort, vocabulary: str | None = None) -> Oracle:
    """The oracle of a cohort; refused where the process behind the visits is not known."""
    manifest = cohort.manifest
    source = SOURCES.get(manifest.source)
    if source is None or source.branch is None:
        able = ", ".join(f"'{name}'" for name, one in SOURCES.items() if one.branch is not None)
        raise BadCohortError(
            f"a cohort of the source '{manifest.source}' has no oracle: the process behind its "
            f"visits is not known. Only cohorts built directly with the source {able} have one; "
            "read back from raw files they do not."
        )
    return Oracle(cohort, cohort.vocabulary(vocabulary), source.branch)
