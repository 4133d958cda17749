"""Visits laid out for a network: rows of one length, each holding one visit or several."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from edsim.models.moving import moved

NOBODY = -1


@dataclass(frozen=True, slots=True)
class Sheet:
    """Events in [rows, length]; what is nobody's is padding."""

    tokens: Tensor
    """int64; 0 in padding."""
    gaps: Tensor
    """float32: minutes before the event, 0 for a visit's first."""
    elapsed: Tensor
    """float64: minutes since the visit's first event."""
    place: Tensor
    """int64: the event's number within its visit, from 0."""
    visit: Tensor
    """int32: whose event it is, a number within the sheet; NOBODY in padding. The events of a visit
    stand side by side, in order."""

    def to(self, device: torch.device | str) -> Sheet:
        """The same sheet on another device."""
        return moved(self, device)


def sheet_of(
    tokens: NDArray[np.integer],
    gaps: NDArray[np.floating],
    offsets: NDArray[np.integer],
    rows: NDArray[np.integer] | None = None,
    columns: NDArray[np.integer] | None = None,
    shape: tuple[int, int] | None = None,
) -> Sheet:
    """Lay out visits, given flat with offsets; where each begins, and one a row where not given.

    `rows` and `columns` say where a visit's first event goes; `shape` is that of the sheet.
    """
    lengths = np.diff(offsets)
    n = len(lengths)
    if rows is None or columns is None or shape is None:
        rows, columns = np.arange(n), np.zeros(n, dtype=np.int64)
        shape = (n, int(lengths.max(initial=1)))
    place = np.arange(offsets[-1]) - np.repeat(offsets[:-1], lengths)
    where = np.repeat(rows * shape[1] + columns, lengths) + place
    sums = np.concatenate([[0.0], np.cumsum(gaps, dtype=np.float64)])
    elapsed = sums[1:] - np.repeat(sums[offsets[:-1] + 1] if n else sums[:0], lengths)

    def laid(values: NDArray[np.generic], dtype: torch.dtype, empty: float) -> Tensor:
        flat = torch.full((shape[0] * shape[1],), empty, dtype=dtype)
        flat[torch.from_numpy(where)] = torch.from_numpy(np.ascontiguousarray(values)).to(dtype)
        return flat.view(shape)

    return Sheet(
        tokens=laid(tokens, torch.int64, 0),
        gaps=laid(gaps, torch.float32, 0),
        elapsed=laid(elapsed, torch.float64, 0),
        place=laid(place, torch.int64, 0),
        visit=laid(np.repeat(np.arange(n), lengths), torch.int32, NOBODY),
    )


def with_room_between(sheet: Sheet, *, after_last: bool = True) -> Sheet:
    """Two places an event: column 2i is event i, column 2i + 1 what stands between it and the next.

    Tokens, gaps and elapsed of the places between are those of the event before. The place after a
    visit's last event is the visit's too, or nobody's.
    """
    twice = {
        name: getattr(sheet, name).repeat_interleave(2, dim=1)
        for name in ("tokens", "gaps", "elapsed", "visit")
    }
    if not after_last:
        following = torch.nn.functional.pad(sheet.visit[:, 1:], (0, 1), value=NOBODY)
        twice["visit"][:, 1::2] = torch.where(following == sheet.visit, sheet.visit, NOBODY)
    between = torch.arange(2, device=sheet.place.device)
    return Sheet(**twice, place=(2 * sheet.place[:, :, None] + between).flatten(1))
