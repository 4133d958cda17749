"""How exactly networks compute: float32, or on a graphics card bf16 products where that is allowed.

Torch's own switch decides: `torch.set_float32_matmul_precision("medium")` allows it. Heads, clocks
and everything that is drawn stay in float32 or finer.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

import torch


def allow_faster(device: torch.device | str) -> None:
    """Allow bf16 products if this is a graphics card; a processor keeps to float32."""
    if torch.device(device).type == "cuda":
        torch.set_float32_matmul_precision("medium")


def is_faster(device: torch.device) -> bool:
    """Whether products are in bf16."""
    return device.type == "cuda" and torch.get_float32_matmul_precision() == "medium"


def faster(device: torch.device) -> AbstractContextManager[None]:
    """Within it a network's products are in bf16 where that is allowed."""
    if not is_faster(device):
        return nullcontext()
    context: AbstractContextManager[None] = torch.autocast("cuda", dtype=torch.bfloat16)
    return context


def kept_type(device: torch.device) -> torch.dtype:
    """What keys and values are kept as."""
    return torch.bfloat16 if is_faster(device) else torch.float32
