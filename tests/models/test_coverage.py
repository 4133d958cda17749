"""Coverage and numbers of contexts, beside sets of tuples."""

from __future__ import annotations

import numpy as np
import pytest

from edsim.models.counts import fit
from edsim.models.coverage import OrderCoverage, coverage
from edsim.tables.visits import Visits
from random_visits import random_visits

TRAINING, TEST = random_visits(60, 12, seed=1), random_visits(40, 12, seed=2)


def histories(visits: Visits) -> list[tuple[int, ...]]:
    """What came before each event that is not a stay's first."""
    stays = [rows.tolist() for rows in np.split(visits.tokens, visits.offsets[1:-1])]
    return [tuple(stay[:i]) for stay in stays for i in range(1, len(stay))]


@pytest.mark.parametrize("line", coverage(fit(TRAINING, 12, 5), TEST, range(6)), ids=str)
def test_it_is_what_sets_of_contexts_say(line: OrderCoverage) -> None:
    k = line.order
    known = {past[len(past) - j :] for past in histories(TRAINING) for j in range(len(past) + 1)}
    seen = [past[max(0, len(past) - k) :] in known for past in histories(TEST)]
    assert (line.n_seen, line.n_transitions) == (sum(seen), len(seen))
    assert line.share == sum(seen) / len(seen)
    full = {past[len(past) - k :] for past in histories(TRAINING) if len(past) >= k}
    short = {past for past in histories(TRAINING) if len(past) < k}
    assert (line.n_contexts, line.n_contexts_marked) == (len(full), len(full) + len(short))


def test_something_is_covered_and_something_is_not() -> None:
    shares = [line.share for line in coverage(fit(TRAINING, 12, 5), TEST, range(6))]
    assert shares[0] == 1
    assert 0 < shares[5] < shares[3] < 1
