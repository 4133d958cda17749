"""The event mix: histograms of suffixes, and how far two of them lie apart.

Histograms hold the events of suffixes only, END included, the prefix never; pairs and triples lie
within one suffix and so never cross the launch. Observed suffixes are never cut at the cap.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from edsim.metrics.measure import Floats, share
from edsim.tables.rollouts import Scored
from edsim.tables.visits import Suffixes

Counts = NDArray[np.integer] | NDArray[np.floating]

FIRST_EVENTS = 10
"""Where the paper cuts both sides to see past the length of rollouts."""
FEWEST_ROWS = 100
"""Below so many rows on either side a histogram of one step says nothing."""
Weighting = Literal["pooled", "per_rollout"]


def jsd(p_counts: Counts, q_counts: Counts) -> float:
    """Jensen-Shannon divergence of two histograms, natural logarithm: 0 is best, ln 2 is worst.

    nan when either histogram counts nothing: an absent event mix is not a perfect one.

    >>> jsd(np.array([2, 2]), np.array([5, 5]))
    0.0
    """
    return float(divergences(p_counts, q_counts))


def divergences(p_counts: Counts, q_counts: Counts) -> Floats:
    """`jsd` of many pairs of histograms: [..., columns] to [...]."""
    p, q = _frequencies(p_counts), _frequencies(q_counts)
    if p.shape[-1] == 0:
        return np.full(p.shape[:-1], np.nan)
    m = (p + q) / 2
    return np.asarray((_relative_entropy(p, m) + _relative_entropy(q, m)) / 2)


def event_counts(events: Suffixes, *, n_tokens: int) -> NDArray[np.int64]:
    """How often each event occurs in each row, [rows, tokens]. END is an event and is counted."""
    row = np.repeat(np.arange(len(events)), events.lengths())
    return np.bincount(row * n_tokens + events.tokens, minlength=len(events) * n_tokens).reshape(
        len(events), n_tokens
    )


def ngrams(
    events: Suffixes, n: int, *, n_tokens: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The row and the code of every run of `n` events, none reaching over the end of a row.

    A code is the tokens read as a number of base `n_tokens`, the first of the run most significant.
    """
    per_row = np.maximum(events.lengths() - (n - 1), 0)
    row = np.repeat(np.arange(len(events)), per_row)
    begin = np.arange(len(row)) + np.repeat(
        events.offsets[:-1] - (np.cumsum(per_row) - per_row), per_row
    )
    code = np.zeros(len(row), dtype=np.int64)
    for k in range(n):
        code = code * n_tokens + events.tokens[begin + k]
    return row, code


def mix(
    events: Suffixes, n: int = 1, *, n_tokens: int, weighting: Weighting = "pooled"
) -> NDArray[np.float64]:
    """The histogram of runs of `n` events, [n_tokens ** n].

    `pooled` counts them over all rows, so that long rows weigh more. `per_rollout` is the mean over
    rows of each row's own frequencies; rows too short to have a run are left out.
    """
    size = n_tokens**n
    row, code = ngrams(events, n, n_tokens=n_tokens)
    if weighting == "pooled":
        return np.bincount(code, minlength=size).astype(np.float64)
    per_row = np.bincount(row, minlength=len(events))
    n_rows = np.count_nonzero(per_row)
    if n_rows == 0:
        return np.zeros(size)
    return np.bincount(code, weights=1.0 / per_row[row], minlength=size) / n_rows


def composition_jsd(
    scored: Scored, n: int = 1, *, weighting: Weighting = "pooled", first: int | None = None
) -> float:
    """JSD of the generated and the observed event mix, 0 is best.

    n = 1, pooled is the paper's headline; 2 and 3 look at order. `first` cuts each side to so many
    events, which takes the length of rollouts out of the comparison. A capped rollout counts with
    the events it has. nan where a side has no run of `n` events.
    """
    sides = (scored.generated, scored.observed)
    generated, observed = (
        mix(
            events if first is None else events.cut(first),
            n,
            n_tokens=scored.n_tokens,
            weighting=weighting,
        )
        for events in sides
    )
    return jsd(generated, observed)


def step_jsd(scored: Scored, step: int) -> float:
    """JSD of the `step`-th events (the first is 1) over the rows of each side that have one.

    The paper's error by rollout step. nan where either side has fewer than 100 such rows.
    """
    histograms = []
    for events in (scored.generated, scored.observed):
        at = events.offsets[:-1][events.lengths() >= step] + step - 1
        if len(at) < FEWEST_ROWS:
            return float("nan")
        histograms.append(np.bincount(events.tokens[at], minlength=scored.n_tokens))
    return jsd(*histograms)


def times_reference(value: float, reference: float) -> float:
    """xF: a divergence as a multiple of the order-3 count model's on the same launches.

    nan where the reference's is 0 or missing.
    """
    return value / reference if reference > 0 else float("nan")


def _frequencies(counts: Counts) -> Floats:
    total = counts.sum(axis=-1, keepdims=True)
    return share(np.asarray(counts, dtype=np.float64), total)


def _relative_entropy(p: Floats, m: Floats) -> Floats:
    """Kullback-Leibler divergence; `m` is positive wherever `p` is."""
    held = p > 0
    ratio = np.divide(p, m, out=np.ones_like(p), where=held)
    return np.asarray((p * np.log(ratio)).sum(axis=-1))
