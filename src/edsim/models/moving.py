"""Moving a frozen dataclass of tensors to another device."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import torch
    from _typeshed import DataclassInstance

Record = TypeVar("Record", bound="DataclassInstance")


def moved(record: Record, device: torch.device | str) -> Record:
    """The record with every tensor, and all else that can be moved, on `device`."""
    values = {field.name: getattr(record, field.name) for field in fields(record)}
    return replace(
        record,
        **{name: value.to(device) for name, value in values.items() if hasattr(value, "to")},
    )
