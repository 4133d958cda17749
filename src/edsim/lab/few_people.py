"""Whether so few people are behind some launches that nothing may be counted of them."""

from __future__ import annotations

import numpy as np

from edsim.lab.cohort import Cohort, subjects_of
from edsim.privacy import hidden_parts, small, without_numbers, without_small_counts
from edsim.tables.visits import SPLITS, Launches


def few_people(cohort: Cohort, launches: Launches | None = None) -> bool:
    """Of restricted data: launches of under ten subjects, or of a part that may not be counted.

    Without launches it is asked of the test split, where launches come from.
    """
    manifest = cohort.manifest
    hidden = hidden_parts(manifest.split["parts"], restricted=manifest.restricted)
    if not manifest.restricted or launches is None:
        return "test" in hidden
    stays = np.unique(np.asarray(launches)[:, 0])
    split = cohort.visits().split
    parts = set() if split is None else {SPLITS[i] for i in np.unique(split[stays])}
    return small(len(np.unique(subjects_of(cohort)[stays]))) or bool(hidden & parts)


def sayable(sentence: str, cohort: Cohort, launches: Launches | None = None) -> str:
    """A sentence about rollouts of these launches, without the counts that may not be said."""
    if not cohort.manifest.restricted:
        return sentence
    few = few_people(cohort, launches)
    return without_numbers(sentence) if few else without_small_counts(sentence)
