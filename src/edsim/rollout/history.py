"""What decoding rules may look at: the events of prefix and suffix so far, one row a rollout."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from edsim.tables.visits import Prefixes


@dataclass(frozen=True, slots=True)
class History:
    """Sufficient for every rule, and of fixed size however long a visit becomes."""

    last: Tensor
    """[rows] int64: the last event."""
    run: Tensor
    """[rows] int64: how many times in a row it has just happened."""
    seen: Tensor
    """[rows, tokens] bool: the events that have happened at all."""

    @classmethod
    def of(cls, prefixes: Prefixes, n_tokens: int, device: torch.device) -> History:
        """The history at the launches."""
        tokens = prefixes.tokens.astype(np.int64)
        ends = prefixes.offsets[1:] - 1
        begins = np.ones(len(tokens), dtype=bool)  # where another event, or another row, begins
        begins[1:] = tokens[1:] != tokens[:-1]
        begins[prefixes.offsets[:-1]] = True
        run_begin = np.maximum.accumulate(np.where(begins, np.arange(len(tokens)), 0))
        seen = np.zeros((len(prefixes), n_tokens), dtype=bool)
        seen[np.repeat(np.arange(len(prefixes)), prefixes.lengths()), tokens] = True
        return cls(
            torch.from_numpy(tokens[ends]).to(device),
            torch.from_numpy(ends - run_begin[ends] + 1).to(device),
            torch.from_numpy(seen).to(device),
        )

    def after(self, tokens: Tensor) -> History:
        """The history once these events have happened too."""
        return History(
            tokens,
            torch.where(tokens == self.last, self.run + 1, 1),
            self.seen.scatter(1, tokens[:, None], True),
        )

    def keep(self, rows: Tensor) -> History:
        """The history of some rows, in the order given."""
        return History(
            self.last.index_select(0, rows),
            self.run.index_select(0, rows),
            self.seen.index_select(0, rows),
        )
