"""What a rollouts table looks like from afar: how many, how long, how they stopped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edsim.tables.rollouts import Rollouts


@dataclass(frozen=True, slots=True, kw_only=True)
class RolloutsSummary:
    """Sizes and shares of a table. A length counts END; minutes are from the launch to the end.

    Means over nothing are nan. `mean_minutes` is over rows that terminated: a capped row has no
    end of its own.
    """

    n_rows: int
    n_stays: int
    n_launches: int
    n_draws: int
    n_events: int
    terminated: float
    capped: float
    mean_length: float
    median_length: float
    longest: int
    mean_minutes: float
    median_minutes: float
    share_zero_gaps: float


def summarise_rollouts(rollouts: Rollouts) -> RolloutsSummary:
    """The figures that `edsim rollouts show` prints below the header."""
    lengths = rollouts.generated.lengths()
    ended = rollouts.terminated()
    minutes = rollouts.generated.total_minutes()[ended]
    stays = rollouts.launches[:, 0].astype(np.int64)
    return RolloutsSummary(
        n_rows=len(rollouts),
        n_stays=len(np.unique(stays)),
        n_launches=len(np.unique(stays << 32 | rollouts.launches[:, 1])),
        n_draws=len(np.unique(rollouts.draw)),
        n_events=int(lengths.sum()),
        terminated=_mean(ended),
        capped=_mean(~ended),
        mean_length=_mean(lengths),
        median_length=float(np.median(lengths)) if len(lengths) else float("nan"),
        longest=int(lengths.max(initial=0)),
        mean_minutes=_mean(minutes),
        median_minutes=float(np.median(minutes)) if len(minutes) else float("nan"),
        share_zero_gaps=_mean(rollouts.generated.minutes == 0),
    )


def _mean(values: NDArray[Any]) -> float:
    return float(values.mean()) if len(values) else float("nan")
