"""Chance and kernels of a training run: the same every time, and nobody else's are touched."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch


@contextmanager
def repeatable(device: torch.device) -> Iterator[None]:
    """A block whose random numbers are its own; on CUDA with kernels that always sum alike.

    A kernel that has no such form is used all the same: torch warns of it.
    """
    with ExitStack() as stack:
        cuda = device.type == "cuda"
        stack.enter_context(torch.random.fork_rng(devices=[device] if cuda else []))
        if cuda:
            stack.enter_context(torch.cuda.device(device))
            stack.enter_context(_alike())
        yield


@contextmanager
def _alike() -> Iterator[None]:
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    settings: Any = torch.utils.deterministic
    before = torch.are_deterministic_algorithms_enabled(), settings.fill_uninitialized_memory
    torch.use_deterministic_algorithms(True, warn_only=True)
    settings.fill_uninitialized_memory = False  # it would be a kernel more for every tensor
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before[0])
        settings.fill_uninitialized_memory = before[1]
