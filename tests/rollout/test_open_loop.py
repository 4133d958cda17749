"""Open loop: every prefix is asked by itself, and nothing a model says is fed back."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from edsim.errors import BadSimulatorError
from edsim.models.blend import Blend
from edsim.models.counts import fit, fit_semi_markov
from edsim.models.neural import foresight
from edsim.models.neural.memory import step
from edsim.models.neural.sheets import sheet_of
from edsim.rollout.open_loop import predict
from edsim.tables.predictions import COLUMNS, Predictions, PredictionsHeader
from edsim.tables.visits import Prefixes, Visits
from neural_models import KINDS, N_TOKENS, TRAINING, small_simulator
from random_visits import all_launches, random_visits

HEADER = PredictionsHeader(producer="made up", tokens=tuple(f"event {i}" for i in range(N_TOKENS)))
VISITS = random_visits(12, N_TOKENS, seed=5)
LAUNCHES = all_launches(VISITS)
ONE_FIRST = [kind for kind in KINDS if "time_bins" not in kind]
HALF = torch.full((len(LAUNCHES),), 0.5, dtype=torch.float64)


class Repeats:
    """Sure that the last event comes again, all others equally likely; refuses to be driven."""

    def start(self, prefixes: Prefixes) -> torch.Tensor:
        return torch.from_numpy(prefixes.tokens[prefixes.offsets[1:] - 1]).long()

    def propose(self, state: torch.Tensor, u_time: torch.Tensor) -> torch.Tensor:
        return 5.0 * torch.nn.functional.one_hot(state, N_TOKENS)

    def commit(self, *_: object) -> None:
        raise AssertionError("an open loop commits nothing")


def asked(model: object, visits: Visits = VISITS, **more: int) -> Predictions:
    return predict(model, visits, all_launches(visits), HEADER, **more)


def test_a_model_that_only_proposes_is_asked_and_never_driven() -> None:
    found = asked(Repeats())
    before = VISITS.prefixes(LAUNCHES)
    again = before.tokens[before.offsets[1:] - 1] == found.token
    assert (found.rank[again] == 1).all()
    assert np.allclose(found.log_prob[again], 5 - np.log(np.exp(5) + N_TOKENS - 1))
    assert np.isnan(found.log_density_gap).all() and np.isnan(found.remaining_guess).all()
    assert (found.rank_given_gap == 0).all()


def test_of_equally_likely_events_the_smaller_number_comes_first() -> None:
    found = asked(Repeats())
    last = VISITS.prefixes(LAUNCHES).tokens[VISITS.prefixes(LAUNCHES).offsets[1:] - 1]
    other = found.token != last
    expected = 1 + found.token + (last > found.token)
    assert (found.rank[other] == expected[other]).all()


@pytest.mark.parametrize("kind", ONE_FIRST)
def test_a_stay_read_once_says_what_its_prefixes_say(kind: str) -> None:
    simulator = small_simulator(kind)
    found = asked(simulator)
    said = simulator.propose(simulator.start(VISITS.prefixes(LAUNCHES)), HALF).log_softmax(dim=1)
    own = said.gather(1, torch.from_numpy(found.token).long()[:, None])[:, 0]
    assert np.allclose(found.log_prob, own, atol=1e-5)
    assert np.allclose(found.log_prob_end, said[:, 0], atol=1e-5)
    assert np.isfinite(found.log_density_gap).any()
    assert np.isnan(found.remaining_guess).all() == ("joint" in kind)


def test_the_decoder_is_asked_over_all_time_bins_and_given_the_observed_one() -> None:
    simulator = small_simulator("causal_transformer, time_bins, bins")
    model, state = simulator.model, simulator.start(VISITS.prefixes(LAUNCHES))
    share = model.heads.bins(state.output).softmax(dim=1)
    each = []
    for number in range(model.time_bins.n_bins):
        drawn = model.bins(torch.full((len(LAUNCHES),), number))
        output, _ = step(model.network, drawn, 2 * state.place - 1, state.memory)
        each.append(model.heads.event(output).softmax(dim=1))
    events = torch.stack(each, dim=1)
    found = asked(simulator)
    token = torch.from_numpy(found.token).long()
    rows = torch.arange(len(token))
    over_all = (share[:, :, None] * events).sum(dim=1)[rows, token]
    assert np.allclose(np.exp(found.log_prob), over_all.detach(), atol=1e-5)
    seen = model.time_bins.bin_of(torch.from_numpy(VISITS.suffixes(LAUNCHES).minutes[VISITS.suffixes(LAUNCHES).offsets[:-1]]))  # fmt: skip
    assert np.allclose(
        np.exp(found.log_prob_given_gap), events[rows, seen, token].detach(), atol=1e-5
    )


@pytest.mark.parametrize("kind", ["gru, joint, lattice", "causal_transformer, time_bins, bins"])
def test_how_many_are_asked_at_a_time_changes_nothing(kind: str) -> None:
    one, other = (asked(small_simulator(kind), events_at_a_time=n) for n in (30, 10**6))
    for name in COLUMNS:
        assert np.allclose(getattr(one, name), getattr(other, name), atol=1e-5, equal_nan=True)


@pytest.mark.parametrize(
    ("kind", "once"),
    [
        ("causal_transformer, regression, median", True),
        ("lstm, joint, lattice", True),
        ("causal_transformer, time_bins, bins", True),
        ("pooled_transformer, regression, median", False),
    ],
)
def test_a_causal_network_reads_each_stay_once(
    kind: str, once: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []

    def counting(tokens: np.ndarray, *more: np.ndarray) -> object:
        read.append(len(tokens))
        return sheet_of(tokens, *more)

    monkeypatch.setattr(foresight, "sheet_of", counting)
    asked(small_simulator(kind))
    each = VISITS.n_events()
    assert sum(read[::2]) == (each.sum() if once else (each * (each + 1) // 2).sum())


def test_later_events_of_a_visit_change_nothing() -> None:
    changed = Visits(
        VISITS.tokens.copy(), VISITS.minutes.copy(), VISITS.offsets, VISITS.start, VISITS.stay_ids
    )
    last = VISITS.offsets[1:] - 2  # the event before END
    changed.tokens[last] = 3 + (changed.tokens[last] - 2) % (N_TOKENS - 3)
    changed.minutes[last] += 77
    early = LAUNCHES[:, 1] < VISITS.n_events()[LAUNCHES[:, 0]] - 1
    for kind in KINDS:
        found, other = (asked(small_simulator(kind), visits) for visits in (VISITS, changed))
        assert np.allclose(found.log_prob_end[early], other.log_prob_end[early], atol=1e-6), kind


def test_a_count_model_gives_its_shares_and_a_blend_mixes_them() -> None:
    one, two = fit(TRAINING, N_TOKENS, 1), fit_semi_markov(TRAINING, N_TOKENS)
    first, second, mixed = asked(one), asked(two), asked(Blend(one, two, 0.25))
    state = one.start(VISITS.prefixes(LAUNCHES))
    rows = torch.arange(len(state))
    own = one.propose(state, HALF)[rows, torch.from_numpy(first.token).long()]
    assert np.allclose(np.exp(first.log_prob), own.exp())
    expected = 0.75 * np.exp(first.log_prob) + 0.25 * np.exp(second.log_prob)
    assert np.allclose(np.exp(mixed.log_prob), expected)
    assert np.array_equal(mixed.log_density_gap, first.log_density_gap, equal_nan=True)


def test_a_blend_with_a_network_has_what_the_network_says_beside() -> None:
    network = small_simulator("gru, regression, sampled")
    alone, mixed = asked(network), asked(Blend(network, fit(TRAINING, N_TOKENS, 2), 0.5))
    assert np.allclose(alone.remaining_guess, mixed.remaining_guess)
    assert not np.allclose(alone.log_prob, mixed.log_prob)


def test_proposals_of_another_shape_or_of_no_number_are_refused() -> None:
    class Wide(Repeats):
        def propose(self, state: torch.Tensor, u_time: torch.Tensor) -> torch.Tensor:
            return torch.zeros(len(state), N_TOKENS + 1)

    class Nothing(Repeats):
        def propose(self, state: torch.Tensor, u_time: torch.Tensor) -> torch.Tensor:
            return torch.full((len(state), N_TOKENS), -torch.inf)

    with pytest.raises(BadSimulatorError, match="rows of 9 tokens"):
        asked(Wide())
    with pytest.raises(BadSimulatorError, match="not numbers"):
        asked(Nothing())


def test_no_launches_are_no_predictions() -> None:
    assert len(predict(Repeats(), VISITS, LAUNCHES[:0], HEADER)) == 0
