"""The chance of every row and step as torch tensors: the same bits as `edsim.seeds` has in numpy.

torch has no unsigned 64-bit arithmetic, so keys are int64 of the same bits: sums and products wrap
alike, and a shift to the right has the copied sign bits cleared. Nothing here keeps a state.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from edsim.seeds import EVENT, TIME, U64Array

__all__ = ["EVENT", "TIME", "mix", "step_words", "torch_keys", "uniforms"]


def _signed(word: int) -> int:
    return word - 2**64 if word >= 2**63 else word


_GOLDEN = _signed(0x9E3779B97F4A7C15)
_MIX_1 = _signed(0xBF58476D1CE4E5B9)
_MIX_2 = _signed(0x94D049BB133111EB)


def torch_keys(keys: U64Array, device: torch.device | str = "cpu") -> Tensor:
    """numpy keys as int64 of the same bits, [rows]."""
    return torch.from_numpy(np.ascontiguousarray(keys).view(np.int64)).to(device)


def _shifted(words: Tensor, places: int) -> Tensor:
    """The shift to the right that fills with zeros."""
    return (words >> places).bitwise_and_((1 << (64 - places)) - 1)


def mix(words: Tensor) -> Tensor:
    """`seeds.mix`."""
    z = words + _GOLDEN
    z.bitwise_xor_(_shifted(z, 30)).mul_(_MIX_1)
    z.bitwise_xor_(_shifted(z, 27)).mul_(_MIX_2)
    return z.bitwise_xor_(_shifted(z, 31))


def step_words(steps: Tensor, purpose: int) -> Tensor:
    """What a step and a purpose add to a launch's key; the same for all rows, so worth keeping."""
    return mix((steps * 4 + purpose) * _MIX_1)


def uniforms(launch_keys: Tensor, words: Tensor) -> Tensor:
    """Numbers in [0, 1), float64, from launch keys and `step_words` (one, or one a row)."""
    return _shifted(mix(launch_keys ^ words), 11).to(torch.float64).mul_(2.0**-53)
