"""Attention of one query a row to what the row has kept, as one kernel of a graphics card.

It also writes the row's newest key and value to where they are kept, so that a step reads the
memory of each row once. Import this module only inside a function: it needs triton.
"""

from __future__ import annotations

import math
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor


@triton.jit  # type: ignore[untyped-decorator]
def _attend(  # type: ignore[no-untyped-def]
    q,
    k,
    v,
    keys,
    values,
    lengths,
    found,
    stride_in,
    stride_row,
    scale,
    WIDTH: tl.constexpr,
    HEADS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    size: tl.constexpr = WIDTH // HEADS
    n_kept = tl.load(lengths + row)
    columns = tl.arange(0, WIDTH)
    asked = tl.load(q + row * stride_in + columns).to(tl.float32) * scale
    newest_key = tl.load(k + row * stride_in + columns)
    newest_value = tl.load(v + row * stride_in + columns)
    base = row * stride_row
    tl.store(keys + base + n_kept * WIDTH + columns, newest_key)
    tl.store(values + base + n_kept * WIDTH + columns, newest_value)

    most = tl.sum(tl.reshape(asked * newest_key.to(tl.float32), (HEADS, size)), axis=1)
    total = tl.full((HEADS,), 1.0, tl.float32)
    answer = tl.reshape(newest_value.to(tl.float32), (HEADS, size))
    for first in range(0, n_kept, BLOCK):
        places = first + tl.arange(0, BLOCK)
        there = places < n_kept
        where = base + places[:, None] * WIDTH + columns[None, :]
        key = tl.load(keys + where, mask=there[:, None], other=0.0).to(tl.float32)
        score = tl.sum(tl.reshape(key * asked[None, :], (BLOCK, HEADS, size)), axis=2)
        score = tl.where(there[:, None], score, float("-inf"))
        higher = tl.maximum(most, tl.max(score, axis=0))
        shares = tl.exp(score - higher[None, :])
        less = tl.exp(most - higher)
        value = tl.load(values + where, mask=there[:, None], other=0.0).to(tl.float32)
        value = tl.reshape(value, (BLOCK, HEADS, size))
        answer = answer * less[:, None] + tl.sum(value * shares[:, :, None], axis=0)
        total = total * less + tl.sum(shares, axis=0)
        most = higher
    answer = answer / total[:, None]
    tl.store(found + row * WIDTH + columns, tl.reshape(answer, (WIDTH,)))


def fits(width: int, n_heads: int) -> bool:
    """Whether the kernel can be built for these sizes: powers of two."""
    return all(number & (number - 1) == 0 for number in (width, n_heads)) and width >= 16


def attend(
    q: Tensor, k: Tensor, v: Tensor, keys: Tensor, values: Tensor, lengths: Tensor, n_heads: int
) -> Tensor:
    """[rows, width]: each row looks at its first `lengths` entries and at the newest, `k` and `v`,
    which are written behind them into [rows, room, width]."""
    n_rows, width = q.shape
    found = torch.empty((n_rows, width), dtype=q.dtype, device=q.device)
    block = max(4, 4096 // width)
    kernel: Any = _attend
    kernel[(n_rows,)](
        q,
        k,
        v,
        keys,
        values,
        lengths,
        found,
        q.stride(0),
        keys.stride(0),
        1.0 / math.sqrt(width // n_heads),
        WIDTH=width,
        HEADS=n_heads,
        BLOCK=block,
        num_warps=4 if width >= 128 else 2,
    )
    return found
