"""What a network says of the next event at places of observed visits: open loop.

A causal or recurrent network reads each stay once and answers at all its launches; the pooled
Transformer, which sees a whole prefix at a time, reads every prefix by itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from edsim.models.neural.clocks import SampledClock
from edsim.models.neural.heads import BinHeads, JointHeads, RegressionHeads
from edsim.models.neural.memory import Kept, attend_apart
from edsim.models.neural.model import NeuralModel
from edsim.models.neural.networks import Transformer
from edsim.models.neural.sheets import Sheet, sheet_of, with_room_between
from edsim.models.protocol import Foreseen
from edsim.tables.visits import Launches, Visits

MARGINAL_ROWS = 128
"""Launches at a time where all time bins are tried."""


@dataclass(frozen=True, slots=True)
class _Places:
    """Visits laid out, and where in them the launches are."""

    sheet: Sheet
    next_minutes: Tensor
    """float32 [rows, length]: the gap after each event of the sheet."""
    row: Tensor
    column: Tensor
    """int64 [launches]: the last event seen."""
    tokens: Tensor
    """int64 [launches]: the event that followed."""

    def at(self, values: Tensor) -> Tensor:
        """What a sheet has at the launches."""
        return values[self.row, self.column]


@torch.no_grad()
def foresee(model: NeuralModel, visits: Visits, launches: Launches) -> Foreseen:
    """Event probabilities, densities of the observed gaps and guesses of the remaining minutes."""
    model.eval()
    places = _places(model, visits, launches)
    gaps, elapsed = places.at(places.next_minutes), places.at(places.sheet.elapsed)
    heads = model.heads
    if isinstance(heads, BinHeads):
        return _foreseen_by_decoder(model, heads, places)
    output = places.at(model.forward(places.sheet))
    events = heads.event(output).log_softmax(dim=1, dtype=torch.float64)
    if isinstance(heads, JointHeads):
        said = heads.time(output, places.tokens)
        gap = model.time_classes.log_density(said, places.tokens, elapsed, gaps)
        return Foreseen(events, gap=gap)
    clock = model.clock("sampled")
    assert isinstance(clock, SampledClock), "regression heads are sampled by their quantiles"
    gap = clock.log_density(output, gaps)
    return Foreseen(events, gap=gap, remaining=remaining_minutes(model, output))


def remaining_minutes(model: NeuralModel, output: Tensor) -> Tensor:
    """What the paper's head of the remaining stay says, [rows]; nan where there is none."""
    if not isinstance(model.heads, RegressionHeads):
        return torch.full((len(output),), torch.nan, device=output.device)
    said: Tensor = model.heads.remaining(output)
    return torch.expm1(said[:, 0].float()).clamp(min=0)


def _places(model: NeuralModel, visits: Visits, launches: Launches) -> _Places:
    """One row a stay, as far as its last launch; one a launch for a network that is not causal."""
    once = not isinstance(model.network, Transformer) or model.network.causal
    if once:
        stays, row = np.unique(launches[:, 0], return_inverse=True)
        upto = np.zeros(len(stays), dtype=np.int32)
        np.maximum.at(upto, row, launches[:, 1])
        read = np.stack([stays, upto], axis=1).astype(np.int32)
    else:
        read, row = launches, np.arange(len(launches))
    seen = visits.prefixes(read)
    device = model.heads.event.weight.device
    sheet = sheet_of(seen.tokens, seen.minutes, seen.offsets).to(device)
    place = np.arange(seen.offsets[-1]) - np.repeat(seen.offsets[:-1], seen.lengths())
    following = np.repeat(visits.offsets[read[:, 0]], seen.lengths()) + place + 1
    after = sheet_of(seen.tokens, visits.minutes[following], seen.offsets).gaps.to(device)
    then = visits.tokens[visits.offsets[launches[:, 0]] + launches[:, 1]]
    return _Places(
        sheet,
        after,
        torch.from_numpy(row.astype(np.int64)).to(device),
        torch.from_numpy(launches[:, 1].astype(np.int64) - 1).to(device),
        torch.from_numpy(then.astype(np.int64)).to(device),
    )


def _foreseen_by_decoder(model: NeuralModel, heads: BinHeads, places: _Places) -> Foreseen:
    """The event given the observed time bin, as in the paper's row, and over all bins."""
    assert isinstance(model.network, Transformer), "the decoder is a Transformer"
    layers: list[tuple[Tensor, Tensor]] = []
    inputs = model.interleaved(places.sheet, places.next_minutes)
    output = model.network(inputs, with_room_between(places.sheet), layers)
    entries = torch.cat([part for pair in layers for part in pair], dim=-1)
    bins = heads.bins(output[places.row, 2 * places.column])
    given = heads.event(output[places.row, 2 * places.column + 1])
    parts = [
        _over_all_bins(model, heads, bins[some], entries, places.row[some], places.column[some])
        for some in (
            slice(first, first + MARGINAL_ROWS) for first in range(0, len(bins), MARGINAL_ROWS)
        )
    ]
    return Foreseen(
        torch.cat(parts),
        events_given_gap=given.log_softmax(dim=1, dtype=torch.float64),
        gap=model.time_bins.log_density(bins, places.at(places.next_minutes)),
    )


def _over_all_bins(
    model: NeuralModel, heads: BinHeads, bins: Tensor, entries: Tensor, row: Tensor, column: Tensor
) -> Tensor:
    """Log-probabilities of the next event, the time bin summed out, [rows, tokens]."""
    assert isinstance(model.network, Transformer), "the decoder is a Transformer"
    lengths = 2 * column + 1
    kept = Kept(entries[row, : int(lengths.max())], lengths)
    tried = model.bins.weight.expand(len(row), -1, -1)
    output = attend_apart(model.network, tried, lengths, kept)
    events = heads.event(output).log_softmax(dim=2, dtype=torch.float64)
    share = bins.log_softmax(dim=1, dtype=torch.float64)
    return torch.logsumexp(share[:, :, None] + events, dim=1)
