from __future__ import annotations

import hashlib

import numpy as np

from edsim import seeds


def test_a_key_is_the_documented_hash() -> None:
    outer = hashlib.blake2b(b"split\x000").digest()
    inner = hashlib.blake2b("päti-1".encode(), digest_size=8, key=outer).digest()
    assert seeds.key("split", 0, "päti-1") == int.from_bytes(inner, "little")


def test_purpose_seed_and_name_all_matter() -> None:
    keys = {seeds.key(p, s, n) for p in ("split", "launch") for s in (0, 1) for n in ("a", "b", "")}
    assert len(keys) == 12


def test_keys_do_not_depend_on_their_neighbours() -> None:
    many = seeds.keys("split", 3, [str(i) for i in range(100)])
    assert many[40] == seeds.key("split", 3, "40")


def test_pairs_are_ordered_and_distinct() -> None:
    stays = seeds.keys("launch", 0, [str(i) for i in range(300)])
    pairs = seeds.combine(np.repeat(stays, 300), np.tile(np.arange(300), 300))
    assert np.unique(pairs).size == pairs.size
    a, b = np.array([1], np.uint64), np.array([2], np.uint64)
    assert seeds.combine(a, b.astype(np.int64)) != seeds.combine(b, a.astype(np.int64))


def test_uniforms_fill_the_unit_interval_evenly() -> None:
    names = seeds.keys("launch", 0, [str(i) for i in range(1000)])
    u = seeds.uniform(seeds.combine(np.repeat(names, 100), np.tile(np.arange(100), 1000)))
    assert u.min() >= 0 and u.max() < 1
    counts = np.histogram(u, bins=100, range=(0, 1))[0]
    chi_square = ((counts - 1000) ** 2 / 1000).sum()
    assert 50 < chi_square < 165  # 99 degrees of freedom; outside one time in 10,000
    assert abs(np.corrcoef(u[:-1], u[1:])[0, 1]) < 0.015
