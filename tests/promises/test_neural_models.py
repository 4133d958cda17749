"""What every neural design promises to the loop, whatever its weights."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from edsim.models.neural.simulator import NeuralSimulator
from edsim.rollout.engine import roll_out
from edsim.rollout.slots import roll_out_fast
from edsim.tables.visits import END, Prefixes, Suffixes, Visits
from neural_models import KINDS, N_TOKENS, rule_of, small_simulator
from random_visits import all_launches, random_visits

TEST = random_visits(12, N_TOKENS, seed=32)
LAUNCHES = all_launches(TEST)
LONGER = random_visits(3, N_TOKENS, seed=33, longest=60)
"""Stays longer than any in training."""
SIMULATORS = {kind: small_simulator(kind) for kind in KINDS}

every_design = pytest.mark.parametrize("model", SIMULATORS.values(), ids=SIMULATORS.keys())


def rolled_out(
    model: NeuralSimulator, launches: np.ndarray = LAUNCHES, visits: Visits = TEST, seed: int = 3
) -> Suffixes:
    return roll_out(model, visits.prefixes(launches), rule=rule_of(), cap=20, seed=seed)


def u(n: int, seed: int = 0) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(seed).random(n))


def assert_nearly_all_equal(first: Suffixes, second: Suffixes, allowed: float = 0.0) -> None:
    """Sums of another batch are rounded otherwise, so an event in ten thousand may differ."""
    same = [
        first.row(i).tolist() == second.row(i).tolist()
        and np.allclose(
            first.minutes[first.offsets[i] : first.offsets[i + 1]],
            second.minutes[second.offsets[i] : second.offsets[i + 1]],
            rtol=1e-3,
            atol=1e-3,
        )
        for i in range(len(first))
    ]
    assert len(first) == len(second)
    assert np.mean(same) >= 1 - allowed


def extended(prefixes: Prefixes, tokens: np.ndarray, minutes: np.ndarray) -> Prefixes:
    """Each prefix with one more event."""
    ends = prefixes.offsets[1:]
    return Prefixes(
        np.insert(prefixes.tokens, ends, tokens),
        np.insert(prefixes.minutes, ends, minutes),
        prefixes.offsets + np.arange(len(prefixes.offsets)),
        prefixes.stay_rows,
        prefixes.stay_ids,
    )


@every_design
@pytest.mark.parametrize("slots", [1, 7, 1000])
def test_how_many_rows_run_together_changes_nothing(model: NeuralSimulator, slots: int) -> None:
    launches = LAUNCHES[:25]
    fast = roll_out_fast(model, TEST, launches, rule=rule_of(), cap=20, seed=3, slots=slots)
    assert_nearly_all_equal(rolled_out(model, launches), fast)


@every_design
def test_a_row_does_not_see_the_rows_beside_it(model: NeuralSimulator) -> None:
    together = rolled_out(model)
    for row in range(0, len(LAUNCHES), 17):
        alone = rolled_out(model, LAUNCHES[row : row + 1])
        assert alone.tokens.tolist() == together.row(row).tolist()


@every_design
def test_kept_rows_stand_in_the_order_asked_for(model: NeuralSimulator) -> None:
    state = model.start(TEST.prefixes(LAUNCHES))
    rows = torch.tensor([5, 0, 3, 3])
    u_time = u(len(LAUNCHES))
    kept = model.propose(model.keep(state, rows), u_time[rows])
    torch.testing.assert_close(kept, model.propose(state, u_time)[rows])


@every_design
def test_gaps_are_finite_and_never_negative(model: NeuralSimulator) -> None:
    prefixes = TEST.prefixes(LAUNCHES)
    for token in range(N_TOKENS):
        for edge in (0.0, 0.5, 1 - 2.0**-53):
            tokens = torch.full((len(prefixes),), token)
            u_time = torch.full((len(prefixes),), edge, dtype=torch.float64)
            _, minutes = model.commit(model.start(prefixes), tokens, u_time)
            assert minutes.dtype == torch.float32
            assert bool((torch.isfinite(minutes) & (minutes >= 0)).all())


@every_design
def test_committed_events_are_history_like_any_other(model: NeuralSimulator) -> None:
    """What was kept between events gives what reading the whole history again gives."""
    prefixes = TEST.prefixes(LAUNCHES)
    state = model.start(prefixes)
    for step in range(3):
        tokens = 1 + np.random.default_rng(step).integers(0, N_TOKENS - 1, len(prefixes))
        state, minutes = model.commit(state, torch.from_numpy(tokens), u(len(prefixes), step))
        prefixes = extended(prefixes, tokens, minutes.numpy())
        fed_back = model.propose(state, u(len(prefixes)))
        again = model.propose(model.start(prefixes), u(len(prefixes)))
        torch.testing.assert_close(fed_back, again, rtol=1e-4, atol=1e-4)


@every_design
def test_places_past_the_longest_stay_of_training_are_like_its_last(
    model: NeuralSimulator,
) -> None:
    launches = all_launches(LONGER)
    prefixes = LONGER.prefixes(launches)
    assert prefixes.lengths().max() > model.model.sizes.longest
    proposed = model.propose(model.start(prefixes), u(len(launches)))
    assert bool(proposed.isfinite().all())
    assert len(rolled_out(model, launches, LONGER)) == len(launches)


@every_design
def test_end_comes_last_and_only_there(model: NeuralSimulator) -> None:
    generated = rolled_out(model)
    last = generated.offsets[1:] - 1
    ended = generated.tokens[last] == END
    assert 0 < ended.sum() == (generated.tokens == END).sum()
    assert bool((ended | (generated.lengths() == 20)).all())


@every_design
def test_a_seed_decides_everything(model: NeuralSimulator) -> None:
    first, second = rolled_out(model), rolled_out(model)
    assert first.tokens.tolist() == second.tokens.tolist()
    assert first.minutes.tolist() == second.minutes.tolist()
    assert rolled_out(model, seed=4).tokens.tolist() != first.tokens.tolist()
