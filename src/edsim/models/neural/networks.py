"""Networks: a visit's events in, one vector for each event out.

The same weights answer in two ways. `forward` reads a whole sheet at once, for training and for
prefixes; the parts below it are taken one event at a time where a visit is continued. Modules only:
what is kept between two events belongs to `memory`.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional

from edsim.models.neural.design import Design
from edsim.models.neural.sheets import Sheet

Attend = Callable[[int, Tensor, Tensor, Tensor], Tensor]
"""(layer, queries, keys, values) to what the queries find, all [..., width]."""


class Places(nn.Module):
    """Sinusoids for the number of an event in its visit; past the longest in training, the last.

    A place that training never saw would otherwise be an input like no other.
    """

    table: Tensor

    def __init__(self, width: int, longest: int) -> None:
        super().__init__()
        place = torch.arange(max(1, longest), dtype=torch.float64)[:, None]
        rate = torch.exp(
            -math.log(10_000.0) * torch.arange(0, width, 2, dtype=torch.float64) / width
        )
        table = torch.stack([torch.sin(place * rate), torch.cos(place * rate)], dim=2).flatten(1)
        self.register_buffer("table", table.float(), persistent=False)

    def forward(self, place: Tensor) -> Tensor:
        found: Tensor = self.table[place.clamp(max=len(self.table) - 1)]
        return found


class EventInput(nn.Module):
    """An event as a vector: its token, and what the clock says.

    Features: log1p of the gap, log1p of the elapsed minutes and, where there is a lattice of `tick`
    minutes, whether the event lies off it.
    """

    def __init__(self, width: int, n_tokens: int, tick: float | None) -> None:
        super().__init__()
        self.tick = tick
        self.token = nn.Embedding(n_tokens, width)
        self.time = nn.Linear(2 if tick is None else 3, width)

    def forward(self, tokens: Tensor, gaps: Tensor, elapsed: Tensor) -> Tensor:
        features = [torch.log1p(gaps), torch.log1p(elapsed).to(gaps.dtype)]
        if self.tick is not None:
            features.append(off_lattice(elapsed, self.tick).to(gaps.dtype))
        times = torch.stack(features, dim=-1).to(self.time.weight.dtype)
        read: Tensor = self.token(tokens) + self.time(times)
        return read


class TokenInput(nn.Module):
    """An event as its token alone: the decoder's clock stands between the events, as bins."""

    def __init__(self, width: int, n_tokens: int) -> None:
        super().__init__()
        self.token = nn.Embedding(n_tokens, width)

    def forward(self, tokens: Tensor, gaps: Tensor, elapsed: Tensor) -> Tensor:
        read: Tensor = self.token(tokens)
        return read


def off_lattice(elapsed: Tensor, tick: float) -> Tensor:
    """Whether a moment is more than 0.1 s from the lattice of `tick` minutes."""
    over = torch.remainder(elapsed, tick)
    return torch.minimum(over, tick - over) > 0.1 / 60


class Block(nn.Module):
    """One layer of a Transformer, normalised before each part; how it attends is the caller's."""

    def __init__(self, design: Design, layer: int) -> None:
        super().__init__()
        width = design.width
        self.layer = layer
        self.before_attention = nn.LayerNorm(width)
        self.queries_keys_values = nn.Linear(width, 3 * width)
        self.found = nn.Linear(width, width)
        self.before_feedforward = nn.LayerNorm(width)
        self.up = nn.Linear(width, design.feedforward)
        self.down = nn.Linear(design.feedforward, width)
        self.dropout = nn.Dropout(design.dropout)

    def forward(self, x: Tensor, attend: Attend) -> Tensor:
        q, k, v = self.queries_keys_values(self.before_attention(x)).chunk(3, dim=-1)
        x = x + self.dropout(self.found(attend(self.layer, q, k, v)))
        changed: Tensor = self.down(functional.gelu(self.up(self.before_feedforward(x))))
        taken: Tensor = x + self.dropout(changed)
        return taken


class Transformer(nn.Module):
    """Blocks over a sheet. `causal`: an event sees itself and what came before it in its visit."""

    def __init__(self, design: Design, longest: int, *, causal: bool) -> None:
        super().__init__()
        self.causal, self.n_heads, self.width = causal, design.attention_heads, design.width
        self.places = Places(design.width, longest)
        self.dropout = nn.Dropout(design.dropout)
        self.blocks = nn.ModuleList(Block(design, layer) for layer in range(design.layers))
        self.last = nn.LayerNorm(design.width)

    def forward(
        self, x: Tensor, sheet: Sheet, kept: list[tuple[Tensor, Tensor]] | None = None
    ) -> Tensor:
        """[rows, length, width]. Keys and values of each layer are appended to `kept`.

        Not causal: the mean over the visit's events, the same at each of them.
        """
        mask = self.mask(sheet)

        def attend(layer: int, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
            if kept is not None:
                kept.append((k, v))
            return self.found_by(q, k, v, mask)

        x = self.through(self.placed(x, sheet.place), attend)
        return x if self.causal else mean_over_visits(x, sheet)

    def placed(self, x: Tensor, place: Tensor) -> Tensor:
        """Inputs with their place in the visit."""
        placed: Tensor = self.dropout(x + self.places(place).to(x.dtype))
        return placed

    def through(self, x: Tensor, attend: Attend) -> Tensor:
        """All blocks and the last normalisation, of placed inputs [..., width]."""
        for block in self.blocks:
            x = block(x, attend)
        normal: Tensor = self.last(x)
        return normal

    def found_by(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
        """Attention of queries [rows, some, width] to keys and values [rows, length, width]."""
        found = functional.scaled_dot_product_attention(
            self._split(q), self._split(k), self._split(v), attn_mask=mask
        )
        return found.transpose(1, 2).flatten(2)

    def _split(self, x: Tensor) -> Tensor:
        """[rows, attention heads, length, width of a head]."""
        return x.view(*x.shape[:-1], self.n_heads, -1).transpose(1, 2)

    def mask(self, sheet: Sheet) -> Tensor:
        """[rows, 1, length, length]: whether the first may look at the second."""
        same = sheet.visit[:, :, None] == sheet.visit[:, None, :]
        if self.causal:
            same = same.tril()
        return same[:, None]


class Recurrent(nn.Module):
    """GRU or LSTM layers over a sheet that holds one visit a row, from its first column on."""

    def __init__(self, design: Design) -> None:
        super().__init__()
        self.kind = design.network
        self.width, self.n_layers = design.width, design.layers
        kind = nn.GRU if design.network == "gru" else nn.LSTM
        dropout = design.dropout if design.layers > 1 else 0.0
        self.cells = kind(
            design.width, design.width, design.layers, batch_first=True, dropout=dropout
        )

    def forward(self, x: Tensor, sheet: Sheet) -> Tensor:
        """[rows, length, width]; padding follows a visit and cannot reach back into it."""
        out: Tensor = self.cells(x)[0]
        return out

    def step(self, x: Tensor, memory: Tensor) -> tuple[Tensor, Tensor]:
        """One event [rows, width] after `memory` [rows, layers, width or twice width]: the output
        and the memory after it."""
        after = []
        for layer in range(self.n_layers):
            weights = [
                getattr(self.cells, f"{name}_l{layer}")
                for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
            ]
            if self.kind == "gru":
                x = torch.gru_cell(x, memory[:, layer], *weights)
                after.append(x)
            else:
                hidden, cell = memory[:, layer].chunk(2, dim=-1)
                x, cell = torch.lstm_cell(x, (hidden.contiguous(), cell.contiguous()), *weights)
                after.append(torch.cat([x, cell], dim=-1))
        return x, torch.stack(after, dim=1)

    def empty(self, n_rows: int, device: torch.device, dtype: torch.dtype) -> Tensor:
        """The memory before a visit's first event."""
        width = self.width * (1 if self.kind == "gru" else 2)
        return torch.zeros(n_rows, self.n_layers, width, device=device, dtype=dtype)


def mean_over_visits(x: Tensor, sheet: Sheet) -> Tensor:
    """Each event's vector replaced by the mean of its visit's."""
    whose = sheet.visit.flatten().long() + 1  # padding comes to 0, and is nobody's to read
    flat = x.flatten(0, 1)
    n_visits = flat.shape[0] + 1  # no more than there are places: a size known without looking
    sums = torch.zeros(n_visits, flat.shape[1], dtype=x.dtype, device=x.device)
    sums = sums.index_add(0, whose, flat)
    counts = torch.zeros(n_visits, dtype=x.dtype, device=x.device)
    counts = counts.index_add(0, whose, torch.ones_like(flat[:, 0]))
    means = sums / counts.clamp(min=1)[:, None]
    return means[whose].view_as(x)


def network_of(design: Design, longest: int) -> Transformer | Recurrent:
    """The untrained network of a design; `longest` is the longest visit in training.

    The decoder has two places an event: its own, and that of the time after it.
    """
    if design.heads == "time_bins":
        return Transformer(design, 2 * longest, causal=True)
    if design.network in ("gru", "lstm"):
        return Recurrent(design)
    return Transformer(design, longest, causal=design.network == "causal_transformer")
