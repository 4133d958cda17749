"""Chance: the same bits in numpy and torch, even, and independent wherever two keys are near."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
import torch

from edsim import seeds
from edsim.rollout import chance
from edsim.rollout.draw import draw
from edsim.seeds import EVENT, TIME
from edsim.tables.visits import Prefixes

DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]


def torch_uniforms(keys: seeds.U64Array, step: int, purpose: int, device: str) -> np.ndarray:
    words = chance.step_words(torch.tensor(step, device=device), purpose)
    return chance.uniforms(chance.torch_keys(keys, device), words).cpu().numpy()


def mixed(word: int) -> int:
    """SplitMix64's finaliser in Python's own whole numbers, which never overflow."""
    below = 2**64
    z = (word + 0x9E3779B97F4A7C15) % below
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % below
    z = (z ^ z >> 27) * 0x94D049BB133111EB % below
    return z ^ z >> 31


def by_hand(stay: str, length: int, draw: int, step: int, purpose: int, seed: int) -> float:
    """The number of one step, written out once more from the definition."""
    outer = hashlib.blake2b(f"rollout\x00{seed}".encode()).digest()
    stay_key = hashlib.blake2b(stay.encode(), digest_size=8, key=outer).digest()
    key = int.from_bytes(stay_key, "little")
    for part in (length, draw):
        key = mixed((mixed(key) + mixed(part) * 0x94D049BB133111EB) % 2**64)
    word = mixed((step * 4 + purpose) * 0xBF58476D1CE4E5B9 % 2**64)
    return (mixed(key ^ word) >> 11) / 2**53


def keys_of(n: int, seed: int = 0, length: int = 1, draw: int = 0) -> seeds.U64Array:
    """Launch keys of stays s0, s1, ... with the same prefix length."""
    prefixes = Prefixes(
        tokens=np.ones(n * length, np.int16),
        minutes=np.zeros(n * length, np.float32),
        offsets=np.arange(n + 1, dtype=np.int64) * length,
        stay_rows=np.arange(n, dtype=np.int32),
        stay_ids=np.array([f"s{i}".encode() for i in range(n)]),
    )
    return prefixes.keys(seed, draw)


FIXED = {
    ("s0", 1, 0, 0, EVENT, 0): 0.26372242236563037,
    ("s3", 2, 1, 7, TIME, 5): 0.161650612115938,
    ("s9", 30, 31, 511, EVENT, 2**40): 0.9458464218507403,
}
"""Stay, prefix length, draw, step, purpose and seed, and the number they stand for for ever."""


@pytest.mark.parametrize("address", FIXED)
@pytest.mark.parametrize("device", DEVICES)
def test_a_number_is_the_documented_function_of_its_address(
    address: tuple[str, int, int, int, int, int], device: str
) -> None:
    stay, length, draw, step, purpose, seed = address
    keys = keys_of(10, seed, length, draw)[[int(stay[1:])]]
    by_numpy = seeds.uniform(seeds.step_keys(keys, step, purpose))[0]
    by_torch = torch_uniforms(keys, step, purpose, device)[0]
    assert by_numpy == by_torch == by_hand(*address) == FIXED[address]


@pytest.mark.parametrize("device", DEVICES)
def test_torch_gives_the_bits_of_numpy(device: str) -> None:
    keys = np.concatenate(
        [keys_of(50_000), np.array([0, 1, 2**63 - 1, 2**63, 2**64 - 1], np.uint64)]
    )
    for step in (0, 1, 127, 511, 2**31, 2**60):
        for purpose in (EVENT, TIME, seeds.OTHER):
            expected = seeds.uniform(seeds.step_keys(keys, step, purpose))
            assert (torch_uniforms(keys, step, purpose, device) == expected).all()


def test_rows_may_be_at_different_steps() -> None:
    keys = keys_of(1000)
    steps = np.arange(1000) % 37
    words = chance.step_words(torch.from_numpy(steps), TIME)
    together = chance.uniforms(chance.torch_keys(keys), words).numpy()
    assert (together == seeds.uniform(seeds.step_keys(keys, steps, TIME))).all()


def test_numbers_lie_in_the_unit_interval_even_at_its_ends() -> None:
    ends = np.array([0, 2**11 - 1, 2**11, 2**64 - 1], np.uint64)
    assert seeds.uniform(ends).tolist() == [0, 0, 2.0**-53, 1 - 2.0**-53]


def test_ten_million_numbers_are_even() -> None:
    keys = keys_of(100_000)
    counts = np.zeros(10_000, np.int64)
    for step in range(50):
        for purpose in (EVENT, TIME):
            u = seeds.uniform(seeds.step_keys(keys, step, purpose))
            counts += np.bincount((u * 10_000).astype(np.int64), minlength=10_000)
    chi_square = ((counts - 1000.0) ** 2 / 1000).sum()
    assert abs(chi_square - 9999) < 4 * np.sqrt(2 * 9999)


N = 100_000
NEIGHBOURS: dict[str, dict[str, int]] = {
    "the next stay": {"shift": 1},
    "the next step": {"step": 1},
    "four steps on": {"step": 4},
    "the other purpose": {"purpose": TIME},
    "the next draw": {"draw": 1},
    "a longer prefix": {"length": 2},
    "the next seed": {"seed": 1},
}


def a_million(
    shift: int = 0,
    step: int = 0,
    purpose: int = EVENT,
    draw: int = 0,
    length: int = 1,
    seed: int = 0,
) -> np.ndarray:
    """The numbers of 100,000 launches over ten steps."""
    keys = np.roll(keys_of(N, seed, length, draw), shift)
    steps = range(step, step + 10)
    return np.concatenate([seeds.uniform(seeds.step_keys(keys, k, purpose)) for k in steps])


@pytest.mark.parametrize("name", NEIGHBOURS)
def test_numbers_whose_addresses_differ_in_one_part_are_independent(name: str) -> None:
    first, second = a_million(), a_million(**NEIGHBOURS[name])
    assert not (first == second).any()
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.004  # four standard errors of a million
    square = np.histogram2d(first, second, bins=20, range=[(0, 1), (0, 1)])[0]
    expected = first.size / square.size
    chi_square = ((square - expected) ** 2 / expected).sum()
    assert abs(chi_square - 399) < 4 * np.sqrt(2 * 399)


def test_draw_and_prefix_length_are_not_interchangeable() -> None:
    one, other = a_million(length=2, draw=1), a_million(length=1, draw=2)
    assert abs(np.corrcoef(one, other)[0, 1]) < 0.004


def test_whoever_asks_in_between_changes_nothing() -> None:
    keys = keys_of(10)
    before = torch_uniforms(keys, 3, EVENT, "cpu")
    torch.rand(3), np.random.default_rng().random(), torch_uniforms(keys, 4, TIME, "cpu")
    assert (torch_uniforms(keys, 3, EVENT, "cpu") == before).all()
    state = torch.get_rng_state()
    torch_uniforms(keys, 5, EVENT, "cpu")
    assert (torch.get_rng_state() == state).all()


def test_an_event_of_probability_zero_is_never_drawn() -> None:
    probabilities = torch.tensor([[0.0, 0.5, 0.0, 0.5, 0.0]], dtype=torch.float64)
    for u in (0.0, 0.5 - 2**-54, 0.5, 1 - 2.0**-53):
        drawn = draw(probabilities, torch.tensor([u], dtype=torch.float64))
        assert drawn.item() == (1 if u < 0.5 else 3)


def test_the_largest_chance_still_draws_an_event_whatever_the_sum() -> None:
    generator = torch.Generator().manual_seed(0)
    weights = torch.rand(20_000, 7, generator=generator, dtype=torch.float64)
    weights[:, -2:] = 0
    weights[::2] *= torch.rand(10_000, 1, generator=generator, dtype=torch.float64) * 3
    drawn = draw(weights, torch.full((20_000,), 1 - 2.0**-53, dtype=torch.float64))
    assert (drawn == 4).all()
