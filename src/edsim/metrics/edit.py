"""How many events of a rollout would have to be changed to make it the observed suffix."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from edsim.metrics.measure import Floats, Measure, ScoringFacts, share
from edsim.tables.rollouts import Scored
from edsim.tables.visits import Suffixes

AT_A_TIME = 65_536


def edit_distances(scored: Scored) -> Floats:
    """[rows]: Levenshtein distance over the longer length, END counted: 0 is equal."""
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cpdist

    found = np.zeros(len(scored.generated))
    for first in range(0, len(found), AT_A_TIME):
        rows = np.arange(first, min(first + AT_A_TIME, len(found)))
        found[rows] = cpdist(
            _as_texts(scored.generated.take(rows)),
            _as_texts(scored.observed.take(rows)),
            scorer=Levenshtein.normalized_distance,
            dtype=np.float64,
            workers=-1,
        )
    return found


def _as_texts(events: Suffixes) -> list[str]:
    """Each row as a text of one character a token, the form that is compared fastest."""
    text = (events.tokens.astype(np.uint32) + 1).tobytes().decode("utf-32-le")
    ends = events.offsets.tolist()
    return [text[a:b] for a, b in pairwise(ends)]


def _sums(scored: Scored, facts: ScoringFacts) -> Floats:
    return np.stack([edit_distances(scored), np.ones(len(scored.generated))], axis=1)


MEASURES = (
    Measure(
        name="edit_distance",
        title="Edit distance",
        sums=_sums,
        value=lambda totals: share(totals[..., 0], totals[..., 1]),
        paired=True,
        undefined="there are no rollouts",
    ),
)
