"""What a causal network knows after every event of some stays, so that any launch can begin there.

Each stay is read once, however many launches it has.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from edsim.models.neural.design import Design
from edsim.models.neural.model import NeuralModel
from edsim.models.neural.networks import Recurrent, Transformer
from edsim.models.neural.precision import faster
from edsim.models.neural.sheets import Sheet, sheet_of, with_room_between
from edsim.tables.visits import Prefixes, Suffixes

AT_A_TIME = {"cpu": 2**13, "cuda": 2**20}
"""Events that are read together, padding included."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Flat over columns: a column is an event, or with time bins between them an event or a bin."""

    begin: Tensor
    """int64 [stays]: the first column of each stay."""
    columns: int
    """Columns an event takes: 1, or 2 with bins between events."""
    output: Tensor
    """[columns, width]: the network's vector."""
    elapsed: Tensor
    """float64 [columns]: minutes since the stay's first event."""
    kept: tuple[Tensor, ...]
    """What a network keeps: keys and values, each [layers, columns, width], or a memory
    [columns, layers, numbers]."""


def columns_of(design: Design) -> int:
    """How many places of the network an event takes."""
    return 2 if design.heads == "time_bins" else 1


def read_stays(model: NeuralModel, prefixes: Prefixes, device: torch.device) -> Reading:
    """Read one prefix of each stay; the memory of every network but the pooled one."""
    columns = columns_of(model.design)
    lengths = prefixes.lengths() * columns
    begin = np.concatenate([[0], np.cumsum(lengths)])
    dims = (0, 0, 1, 1) if isinstance(model.network, Transformer) else (0, 0, 0)
    whole: list[Tensor] = []
    for stays in _batches(prefixes.lengths(), AT_A_TIME.get(device.type, 2**20)):
        flat = Suffixes(prefixes.tokens, prefixes.minutes, prefixes.offsets).take(stays)
        sheet = sheet_of(flat.tokens, flat.minutes, flat.offsets).to(device)
        parts = _read_sheet(model, sheet, torch.from_numpy(lengths[stays]).to(device))
        if not whole:
            whole = [
                _room_for(part, dim, int(begin[-1])) for part, dim in zip(parts, dims, strict=True)
            ]
        of_stay = np.repeat(begin[stays] - _before(lengths[stays]), lengths[stays])
        where = torch.from_numpy(of_stay + np.arange(len(of_stay))).to(device)
        for room, part, dim in zip(whole, parts, dims, strict=True):
            room.index_copy_(dim, where, part)
    output, elapsed, *kept = whole
    return Reading(
        begin=torch.from_numpy(begin[:-1]).to(device),
        columns=columns,
        output=output,
        elapsed=elapsed,
        kept=tuple(kept),
    )


def _room_for(part: Tensor, dim: int, n_columns: int) -> Tensor:
    """For all columns, where a part has some of them along `dim`."""
    return part.new_empty(*part.shape[:dim], n_columns, *part.shape[dim + 1 :])


def _before(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.cumsum(lengths) - lengths


def _batches(lengths: NDArray[np.int64], most: int) -> Iterator[NDArray[np.int64]]:
    """Stays of like length together, longest first."""
    order = np.argsort(-lengths, kind="stable")
    first = 0
    while first < len(order):
        n = max(1, most // int(lengths[order[first]]))
        yield order[first : first + n]
        first += n


def _read_sheet(model: NeuralModel, sheet: Sheet, lengths: Tensor) -> tuple[Tensor, ...]:
    """Output, elapsed and what is kept at every column that is somebody's, stay by stay."""
    elapsed = sheet.elapsed
    if columns_of(model.design) == 2:
        inputs = model.interleaved(sheet, functional.pad(sheet.gaps[:, 1:], (0, 1)))
        sheet = with_room_between(sheet)
        elapsed = sheet.elapsed
    else:
        inputs = model.events(sheet.tokens, sheet.gaps, sheet.elapsed)
    there = torch.arange(elapsed.shape[1], device=elapsed.device) < lengths[:, None]
    with faster(elapsed.device):
        if isinstance(model.network, Recurrent):
            output, memory = _step_through(model.network, inputs, lengths)
            return output[there], elapsed[there], memory[there]
        layers: list[tuple[Tensor, Tensor]] = []
        output = model.network(inputs, sheet, layers)
    keys, values = (torch.stack([layer[which][there] for layer in layers]) for which in (0, 1))
    return output.float()[there], elapsed[there], keys, values


def _step_through(network: Recurrent, x: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """Output and memory after every event; the longest visits stand first."""
    memory = network.empty(len(x), x.device, x.dtype)
    n_rows = (lengths[:, None] > torch.arange(x.shape[1], device=x.device)).sum(dim=0).tolist()
    outputs = torch.zeros_like(x)
    memories = torch.zeros(*x.shape[:2], *memory.shape[1:], device=x.device, dtype=x.dtype)
    for column, n in enumerate(n_rows):
        output, memory = network.step(x[:n, column], memory[:n])
        outputs[:n, column], memories[:n, column] = output.to(x.dtype), memory.to(x.dtype)
        memory = memory.to(x.dtype)
    return outputs, memories
