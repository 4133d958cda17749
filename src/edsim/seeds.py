"""Chance addressed by purpose, seed and name: nothing here keeps a state.

A key is a 64-bit hash of (purpose, seed, UTF-8 id). The same key comes out on every machine and
in every order, so that adding data, batching or sharding never moves anyone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

U64Array = NDArray[np.uint64]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)


def key(purpose: str, seed: int, name: str = "") -> int:
    """The 64-bit key of one name.

    >>> key("split", 0, "10014729") == key("split", 0, "10014729")
    True
    """
    return int(keys(purpose, seed, [name])[0])


def keys(purpose: str, seed: int, names: Iterable[str | bytes]) -> U64Array:
    """The 64-bit keys of many names (BLAKE2b of the UTF-8 name, keyed by purpose and seed)."""
    base = hashlib.blake2b(
        digest_size=8, key=hashlib.blake2b(f"{purpose}\x00{seed}".encode()).digest()
    )
    digests = bytearray()
    for name in names:
        one = base.copy()
        one.update(name.encode() if isinstance(name, str) else name)
        digests += one.digest()
    return np.frombuffer(bytes(digests), dtype="<u8").astype(np.uint64)


def mix(values: U64Array) -> U64Array:
    """A bijection of 64-bit words that leaves no visible pattern (the SplitMix64 finaliser)."""
    with np.errstate(over="ignore"):
        z = values + _GOLDEN
        z = (z ^ (z >> np.uint64(30))) * _MIX_1
        z = (z ^ (z >> np.uint64(27))) * _MIX_2
        return z ^ (z >> np.uint64(31))


def combine(first: U64Array, second: NDArray[np.integer]) -> U64Array:
    """The keys of pairs, such as (stay, prefix length); the order of the two matters."""
    with np.errstate(over="ignore"):
        return mix(mix(first) + mix(second.astype(np.uint64)) * _MIX_2)


EVENT, TIME, OTHER = 1, 2, 3
"""What a step's chance is for: the event, the gap, and whatever else a model may need."""


def step_keys(launch_keys: U64Array, step: NDArray[np.integer] | int, purpose: int) -> U64Array:
    """The key of one step of each launch; `uniform` makes a number in [0, 1) of it.

    The torch form of the same bits is `rollout.chance`.
    """
    with np.errstate(over="ignore"):
        steps = np.asarray(step, dtype=np.uint64) * np.uint64(4) + np.uint64(purpose)
        return mix(launch_keys ^ mix(steps * _MIX_1))


def uniform(values: U64Array) -> NDArray[np.float64]:
    """Keys as numbers in [0, 1), from their upper 53 bits."""
    return (values >> np.uint64(11)).astype(np.float64) * 2.0**-53
