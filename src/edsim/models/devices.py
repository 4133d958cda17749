"""Devices by name: refused in one sentence where they are not there."""

from __future__ import annotations

import torch

from edsim.errors import BadInputError


def checked_device(name: str) -> torch.device:
    """The device of that name; refused where it is not there."""
    try:
        device = torch.device(name)
    except RuntimeError:
        raise BadInputError(f"there is no device '{name}': cpu, cuda, or cuda:N.") from None
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise BadInputError(
            f"'{name}' was asked for, and this machine has {torch.cuda.device_count()} CUDA "
            "devices that torch can use. Use --device cpu, or install a torch with CUDA."
        )
    if device.type not in ("cpu", "cuda"):
        raise BadInputError(f"models are trained and run on cpu or cuda, not on '{name}'.")
    return device
