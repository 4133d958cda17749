"""States as trees of tensors, so that rows of different batches can be brought together.

A tree is a tensor with one row per row of the batch in its first dimension, or a tuple, list,
dictionary or dataclass of trees; plain constants may stand beside them. Any other state is opaque:
only its model can handle it, and its rows stay together until all of them have ended.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

import torch
from torch import Tensor

State = TypeVar("State")


class _OpaqueError(Exception):
    """A state, or two of them beside each other, are no trees of rows."""


def is_tree(state: object, n_rows: int) -> bool:
    """Whether every tensor in `state` has `n_rows` rows and everything else is a constant."""

    def one(parts: Sequence[Any]) -> Any:
        if parts[0].dim() == 0 or parts[0].shape[0] != n_rows:
            raise _OpaqueError
        return parts[0]

    return _combined([state], one) is not None


def gathered(state: State, rows: Tensor) -> State | None:
    """Some rows of a tree, in the order given; None where it is opaque."""
    return _combined([state], lambda parts: parts[0].index_select(0, rows))


def joined(first: State, second: State) -> State | None:
    """The rows of two trees, one after the other; None where they do not go together."""

    def one(parts: Sequence[Tensor]) -> Tensor:
        if len({(part.shape[1:], part.dtype, part.device) for part in parts}) > 1:
            raise _OpaqueError
        return torch.cat(list(parts))

    return _combined([first, second], one)


def same(first: object, second: object) -> bool:
    """Whether two trees hold the same numbers."""

    def one(parts: Sequence[Tensor]) -> Tensor:
        a, b = parts
        if a.shape != b.shape or a.dtype != b.dtype or not bool(((a == b) | (a != a)).all()):
            raise _OpaqueError
        return a

    return _combined([first, second], one) is not None


def _combined(states: Sequence[State], one: Callable[[Sequence[Tensor]], Tensor]) -> State | None:
    try:
        combined: State = _walk(states, one)
    except _OpaqueError:
        return None
    return combined


def _walk(states: Sequence[Any], one: Callable[[Sequence[Tensor]], Tensor]) -> Any:
    """`one` applied to the tensors at each place of trees that are built alike."""
    first = states[0]
    kind = type(first)
    if any(type(state) is not kind for state in states):
        raise _OpaqueError
    if isinstance(first, Tensor):
        return one(states)
    if kind in (list, tuple) or (isinstance(first, tuple) and hasattr(first, "_fields")):
        if len({len(state) for state in states}) > 1:
            raise _OpaqueError
        items = [_walk(some, one) for some in zip(*states, strict=True)]
        return kind(*items) if hasattr(first, "_fields") else kind(items)
    if kind is dict:
        if any(state.keys() != first.keys() for state in states):
            raise _OpaqueError
        return {name: _walk([state[name] for state in states], one) for name in first}
    if is_dataclass(first) and all(field.init for field in fields(first)):
        parts = {
            field.name: _walk([getattr(state, field.name) for state in states], one)
            for field in fields(first)
        }
        return kind(**parts)
    if kind in (int, float, str, bool, type(None)) and all(state == first for state in states):
        return first
    raise _OpaqueError
