"""What every count model and a blend of two promise to the loop, and to the disk."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from edsim.models.blend import Blend
from edsim.models.count_models import COUNT_MODELS
from edsim.models.counts import CountModel
from edsim.models.counts_file import FittedOn, load_counts, save_counts
from edsim.models.protocol import Simulator
from edsim.rollout.decoding import parse_rule
from edsim.rollout.engine import roll_out
from edsim.rollout.slots import roll_out_fast
from edsim.tables.facts import VocabularyFacts
from edsim.tables.visits import END, Prefixes, Suffixes, Visits
from random_visits import all_launches, random_visits

N_TOKENS = 9
TRAINING = random_visits(250, N_TOKENS, seed=11)
TEST = random_visits(25, N_TOKENS, seed=12)
LAUNCHES = all_launches(TEST)
FACTS = VocabularyFacts(
    "made up", "", tuple("abcdefghi"), (), np.ones((N_TOKENS, N_TOKENS), dtype=np.int64)
)
VANILLA = parse_rule("vanilla").bind(FACTS)
FITTED = {name: recipe.fit(TRAINING, N_TOKENS) for name, recipe in COUNT_MODELS.items()}
MODELS: dict[str, Simulator] = {
    **FITTED,
    "blend": Blend(FITTED["semi_markov"], FITTED["ngram:3"], 0.25),
}

every_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())


def rolled_out(
    model: Simulator, launches: np.ndarray = LAUNCHES, visits: Visits = TEST
) -> Suffixes:
    return roll_out(model, visits.prefixes(launches), rule=VANILLA, cap=20, seed=3)


def assert_equal(first: Suffixes, second: Suffixes) -> None:
    assert first.offsets.tolist() == second.offsets.tolist()
    assert first.tokens.tolist() == second.tokens.tolist()
    assert first.minutes.tolist() == second.minutes.tolist()


def u(n: int, seed: int = 0) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(seed).random(n))


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


@every_model
@pytest.mark.parametrize("slots", [1, 7, 1000])
def test_how_many_rows_run_together_changes_nothing(model: Simulator, slots: int) -> None:
    launches = LAUNCHES[:30]
    together = rolled_out(model, launches)
    assert_equal(
        together,
        roll_out_fast(model, TEST, launches, rule=VANILLA, cap=20, seed=3, slots=slots),
    )


@every_model
def test_a_row_does_not_see_the_rows_beside_it(model: Simulator) -> None:
    together = rolled_out(model)
    for row in range(0, len(LAUNCHES), 17):
        alone = rolled_out(model, LAUNCHES[row : row + 1])
        assert alone.tokens.tolist() == together.row(row).tolist()


@every_model
def test_kept_rows_stand_in_the_order_asked_for(model: Simulator) -> None:
    state = model.start(TEST.prefixes(LAUNCHES))
    rows = torch.tensor([5, 0, 3, 3])
    kept = model.propose(model.keep(state, rows), u(4))
    assert torch.equal(kept, model.propose(state, u(len(LAUNCHES)))[rows])


@every_model
def test_gaps_are_finite_and_never_negative(model: Simulator) -> None:
    prefixes = TEST.prefixes(LAUNCHES)
    for token in range(N_TOKENS):
        for edge in (0.0, 0.5, 1 - 2.0**-53):
            tokens = torch.full((len(prefixes),), token)
            u_time = torch.full((len(prefixes),), edge, dtype=torch.float64)
            _, minutes = model.commit(model.start(prefixes), tokens, u_time)
            assert minutes.dtype == torch.float32
            assert bool((torch.isfinite(minutes) & (minutes >= 0)).all())


@every_model
def test_rows_of_proposals_are_distributions(model: Simulator) -> None:
    proposed = model.propose(model.start(TEST.prefixes(LAUNCHES)), u(len(LAUNCHES)))
    assert proposed.shape == (len(LAUNCHES), N_TOKENS)
    assert proposed.dtype == torch.float64
    torch.testing.assert_close(
        proposed.exp().sum(dim=1),
        torch.ones(len(LAUNCHES), dtype=torch.float64),
        rtol=1e-12,
        atol=0,
    )


@every_model
def test_the_stay_can_end_and_does(model: Simulator) -> None:
    proposed = model.propose(model.start(TEST.prefixes(LAUNCHES)), u(len(LAUNCHES)))
    assert bool((proposed[:, END] > -torch.inf).any())
    generated = rolled_out(model)
    assert (generated.tokens[generated.offsets[1:] - 1] == END).mean() > 0.5


@every_model
def test_committed_events_are_history_like_any_other(model: Simulator) -> None:
    """Also where the event never followed this context in training, or anywhere."""
    prefixes = TEST.prefixes(LAUNCHES)
    state = model.start(prefixes)
    for step in range(3):
        tokens = 1 + np.random.default_rng(step).integers(0, N_TOKENS - 1, len(prefixes))
        state, minutes = model.commit(state, torch.from_numpy(tokens), u(len(prefixes), step))
        prefixes = extended(prefixes, tokens, minutes.numpy())
        fed_back = model.propose(state, u(len(prefixes)))
        assert torch.equal(fed_back, model.propose(model.start(prefixes), u(len(prefixes))))


@every_model
def test_a_seed_decides_everything(model: Simulator) -> None:
    assert_equal(rolled_out(model), rolled_out(model))
    other = roll_out(model, TEST.prefixes(LAUNCHES), rule=VANILLA, cap=20, seed=4)
    assert other.tokens.tolist() != rolled_out(model).tokens.tolist()


@every_model
def test_the_clock_has_a_name(model: Simulator) -> None:
    assert model.clock == "sampled"


@pytest.mark.parametrize("model", FITTED.values(), ids=FITTED.keys())
def test_saved_and_read_again_it_rolls_out_the_same(model: CountModel, tmp_path: Path) -> None:
    fitted_on = FittedOn(vocabulary="made up", vocabulary_sha256="v", content_hash="c")
    save_counts(model, tmp_path / "model.npz", fitted_on)
    again, said = load_counts(tmp_path / "model.npz")
    assert (again.name, said) == (model.name, fitted_on)
    assert_equal(rolled_out(model), rolled_out(again))


@every_model
def test_another_device_is_a_copy_of_the_same_model(model: CountModel) -> None:
    moved = model.to("cpu")
    assert moved.device == torch.device("cpu")
    assert_equal(rolled_out(model), rolled_out(moved))
    assert model.to("meta").device == torch.device("meta")
