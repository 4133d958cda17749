"""The decoder's sequence: an event, the time until the next, the next event."""

from __future__ import annotations

import numpy as np
import torch

from edsim.models.neural.heads import BinHeads
from edsim.models.neural.sheets import NOBODY, sheet_of, with_room_between
from edsim.models.neural.simulator import NeuralSimulator
from neural_models import TRAINING, small_model
from random_visits import all_launches

MODEL = small_model(heads="time_bins").eval()
LAUNCHES = all_launches(TRAINING)[:40]
PREFIXES = TRAINING.prefixes(LAUNCHES)


def test_places_between_belong_to_the_visit_and_the_last_one_if_asked_for() -> None:
    sheet = sheet_of(np.array([3, 4, 5]), np.zeros(3), np.array([0, 2, 3]))
    assert with_room_between(sheet).visit.tolist() == [[0, 0, 0, 0], [1, 1, NOBODY, NOBODY]]
    without = with_room_between(sheet, after_last=False)
    assert without.visit.tolist() == [[0, 0, 0, NOBODY], [1, NOBODY, NOBODY, NOBODY]]
    assert without.place[0].tolist() == [0, 1, 2, 3]


def test_what_is_trained_on_is_what_is_rolled_out() -> None:
    """`answers` on whole visits gives the vectors that the four calls reach event by event."""
    assert isinstance(MODEL.heads, BinHeads)
    simulator = NeuralSimulator(MODEL)
    suffixes = TRAINING.suffixes(LAUNCHES)
    firsts = suffixes.offsets[:-1]
    next_minutes = torch.from_numpy(suffixes.minutes[firsts])
    sheet = sheet_of(PREFIXES.tokens, PREFIXES.minutes, PREFIXES.offsets)
    following = torch.nn.functional.pad(sheet.gaps[:, 1:], (0, 1))
    rows, last = torch.arange(len(PREFIXES)), torch.from_numpy(PREFIXES.lengths() - 1)
    following[rows, last] = next_minutes
    with torch.no_grad():
        of_time, of_event = (vectors[rows, last] for vectors in MODEL.answers(sheet, following))
        state = simulator.start(PREFIXES)
        torch.testing.assert_close(state.output, of_time)
        bins = MODEL.time_bins.bin_of(next_minutes)
        shares = MODEL.heads.bins(of_time).softmax(dim=1, dtype=torch.float64).cumsum(dim=1)
        below = torch.where(bins > 0, shares[rows, (bins - 1).clamp(min=0)], 0.0)
        u_time = (below + shares[rows, bins]) / 2  # draws the observed bin
        torch.testing.assert_close(simulator.propose(state, u_time), MODEL.heads.event(of_event))


def test_the_events_proposed_depend_on_the_time_drawn_before_them() -> None:
    simulator = NeuralSimulator(MODEL)
    state = simulator.start(PREFIXES)
    early, late = (
        simulator.propose(state, torch.full((len(PREFIXES),), u, dtype=torch.float64))
        for u in (0.001, 0.999)
    )
    assert bool((early - late).abs().amax(dim=1).gt(1e-4).all())


def test_commit_gives_a_gap_of_the_bin_that_the_event_was_proposed_after() -> None:
    simulator = NeuralSimulator(MODEL)
    state = simulator.start(PREFIXES)
    u_time = torch.rand(len(PREFIXES), dtype=torch.float64)
    proposed = simulator.propose(state, u_time)
    _, minutes = simulator.commit(state, torch.full((len(PREFIXES),), 4), u_time)
    before = simulator._before_event(state, u_time)
    torch.testing.assert_close(proposed, MODEL.heads.event(before.output))
    bins, _ = simulator._clock.draw(state.output, u_time)  # type: ignore[attr-defined]
    assert torch.equal(MODEL.time_bins.bin_of(minutes), bins)
