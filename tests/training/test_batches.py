"""Which events a step learns from: each once an epoch, or one prefix a stay."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import torch

from edsim.models.neural.sheets import NOBODY
from edsim.tables.visits import Visits
from edsim.training.batches import VALIDATION, Batches, sheet_at, supervised
from edsim.training.examples import StayList, examples_of
from neural_models import small_model
from random_visits import random_visits
from training_runs import small

VISITS = random_visits(70, 9, seed=61)
N_EVENTS = int(VISITS.n_events().sum())
EXAMPLES = examples_of(VISITS, small_model())


def batches_of(name: str, seed: int = 1, visits: Visits = VISITS) -> Batches:
    stays = StayList.of(visits, seed, most=1024)
    return Batches(stays, small(name), nobody=int(visits.n_events().sum()))


def numbers(batches: Batches, epoch: int) -> list[int]:
    found = [one.index.flatten().tolist() for one in batches.epoch(epoch).steps]
    return [number for step in found for number in step if number != N_EVENTS]


EVERY = ["causal_transformer_all", "gru_all", "decoder", "joint"]
FINAL = ["transformer", "gru", "lstm", "causal_transformer_prefix"]


@pytest.mark.parametrize("name", EVERY)
def test_every_event_is_learned_from_once_an_epoch(name: str) -> None:
    assert sorted(numbers(batches_of(name), 1)) == list(range(N_EVENTS))


@pytest.mark.parametrize("name", FINAL)
def test_one_prefix_a_stay_is_read_and_its_last_position_supervised(name: str) -> None:
    lasts: list[int] = []
    for chosen in batches_of(name).epoch(1).steps:
        sheet = sheet_at(EXAMPLES, chosen.index)
        counted = supervised(sheet, "final_position")
        lasts += chosen.index[counted].tolist()
        assert bool((sheet.visit != NOBODY)[counted].all())
    begins = np.cumsum(VISITS.n_events()) - VISITS.n_events()
    of_stay = Counter(np.searchsorted(begins, lasts, side="right").tolist())
    assert of_stay == Counter(range(1, len(VISITS) + 1))


@pytest.mark.parametrize("name", FINAL)
def test_every_prefix_length_of_a_stay_is_drawn_about_as_often(name: str) -> None:
    one = Visits(
        np.array([1, 3, 4, 0], dtype=np.int16), np.zeros(4, dtype=np.float32),
        np.array([0, 4]), np.zeros(1), np.array([b"a"]),
    )  # fmt: skip
    batches = batches_of(name, visits=one)
    drawn = Counter(int(batches.epoch(epoch).lengths[0]) for epoch in range(1, 601))
    assert set(drawn) == {1, 2, 3}
    assert min(drawn.values()) > 150


@pytest.mark.parametrize("name", ["causal_transformer_all", "gru"])
def test_epochs_differ_and_the_same_seed_gives_the_same(name: str) -> None:
    first, again = numbers(batches_of(name), 1), numbers(batches_of(name), 1)
    assert first == again
    assert first != numbers(batches_of(name), 2)
    assert first != numbers(batches_of(name, seed=2), 1)
    assert numbers(batches_of(name), VALIDATION) == numbers(batches_of(name), VALIDATION)


def test_all_steps_have_one_shape_and_hold_the_batch_size_on_average() -> None:
    batches = batches_of("causal_transformer_all")
    shapes = {tuple(one.index.shape) for epoch in (1, 2) for one in batches.epoch(epoch).steps}
    assert len(shapes) == 1
    assert len(batches.epoch(1).steps) == round(len(VISITS) / 16)


def test_a_recurrent_step_goes_from_moment_to_moment() -> None:
    for chosen in batches_of("gru_all").epoch(1).steps:
        assert chosen.in_time is not None and chosen.n_at is not None
        place = EXAMPLES.place[chosen.index[0]][chosen.in_time]
        assert place.tolist() == sorted(place.tolist())
        assert torch.equal(torch.bincount(place), chosen.n_at)
        assert chosen.n_at.tolist() == sorted(chosen.n_at.tolist(), reverse=True)


def test_a_sheet_holds_the_events_of_each_visit_side_by_side() -> None:
    chosen = batches_of("joint").epoch(1).steps[0]
    sheet = sheet_at(EXAMPLES, chosen.index)
    for row in range(len(chosen.index)):
        for visit in set(sheet.visit[row].tolist()) - {NOBODY}:
            here = (sheet.visit[row] == visit).nonzero()[:, 0]
            assert torch.equal(here, torch.arange(int(here[0]), int(here[-1]) + 1))
            assert sheet.place[row, here].tolist() == list(range(len(here)))
            assert float(sheet.elapsed[row, here[0]]) == 0


def test_rows_grow_with_the_longest_stay_and_longer_stays_are_cut() -> None:
    long = random_visits(6, 9, seed=63, longest=400)
    batches = batches_of("joint", visits=long)
    assert batches.room >= long.n_events().max() > 128
    stays = StayList.of(long, 1, most=50)
    assert stays.lengths.max() == 50
