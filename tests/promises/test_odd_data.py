"""Whatever visits a model was trained on, it rolls out, and says finite things of what it saw."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from edsim.models.neural.checkpoint import load_simulator
from edsim.rollout.engine import roll_out
from edsim.rollout.slots import roll_out_fast
from edsim.tables.visits import Visits
from edsim.training.loop import train
from neural_models import rule_of
from random_visits import all_launches, random_visits
from training_runs import data_of, run_of

MONTH = 30 * 24 * 60.0
CAP = 12


@dataclass(frozen=True)
class Odd:
    train: Visits
    test: Visits
    n_tokens: int = 9


def with_gaps(visits: Visits, minutes: float) -> Visits:
    gaps = np.full_like(visits.minutes, minutes)
    gaps[visits.offsets[:-1]] = 0
    gaps[visits.offsets[1:] - 1] = 0
    return Visits(visits.tokens, gaps, visits.offsets, visits.start, visits.stay_ids)


def with_one_event(visits: Visits) -> Visits:
    """END and one token: the smallest vocabulary there is."""
    tokens = np.minimum(visits.tokens, 1).astype(np.int16)
    return Visits(tokens, visits.minutes, visits.offsets, visits.start, visits.stay_ids)


FEW = random_visits(6, 9, seed=1)
CASES = {
    "one stay": Odd(random_visits(1, 9, seed=3), FEW),
    "stays longer than any in training": Odd(FEW, random_visits(2, 9, seed=4, longest=90)),
    "two tokens": Odd(with_one_event(FEW), with_one_event(FEW), n_tokens=2),
    "five thousand tokens": Odd(*[random_visits(6, 5000, seed=i) for i in (5, 6)], n_tokens=5000),
    "zero gaps alone": Odd(with_gaps(FEW, 0.0), with_gaps(FEW, 0.0)),
    "gaps of a month": Odd(with_gaps(FEW, MONTH), with_gaps(FEW, MONTH)),
    "gaps of a month after zero gaps": Odd(with_gaps(FEW, 0.0), with_gaps(FEW, MONTH)),
}


@pytest.mark.parametrize("name", ["transformer", "gru", "joint", "decoder"])
@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_it_rolls_out_and_says_finite_things(case: Odd, name: str, tmp_path: Path) -> None:
    data = data_of(case.train, case.train, n_tokens=case.n_tokens)
    train(data, run_of(name, epochs=1), tmp_path / "a.npz")
    launches = all_launches(case.test)
    for clock in ("median", "sampled") if name in ("transformer", "gru") else (None,):
        model = load_simulator(tmp_path / "a.npz", clock)
        rule = rule_of(n_tokens=case.n_tokens)
        plain = roll_out(model, case.test.prefixes(launches), rule=rule, cap=CAP, seed=1)
        fast = roll_out_fast(model, case.test, launches, rule=rule, cap=CAP, seed=1)
        assert plain.tokens.tolist() == fast.tokens.tolist()
        assert np.isfinite(fast.minutes).all() and (fast.minutes >= 0).all()
        assert fast.tokens.max() < case.n_tokens
        said = model.foresee(case.test, launches)
        assert bool(said.events.logsumexp(dim=1).abs().max() < 1e-6)
        assert said.gap is not None and not bool(said.gap.isnan().any() | said.gap.isposinf().any())
