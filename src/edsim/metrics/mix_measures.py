"""The event mix as measures: divergences of histograms, by weighting and by the events cut off.

Histograms are those of `composition`; here they are kept stay by stay, and only of the runs of
events that either side has, so that triples fit into memory.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from edsim.metrics.composition import FIRST_EVENTS, Weighting, divergences, ngrams
from edsim.metrics.measure import Floats, Measure, RunCounts, ScoringFacts, SparseSums
from edsim.tables.rollouts import Scored

MixSums = Callable[[Scored, ScoringFacts], RunCounts | SparseSums]

_LARGEST_TABLE = 2**26
"""Kinds of runs up to this many are counted in a table; beyond it they are sorted."""


@cache
def mix_sums(n: int, weighting: Weighting, first: int | None) -> MixSums:
    """What a row adds to the histograms of runs of `n` events; one function for each way, so that
    measures of one histogram share its sums."""

    def sums(scored: Scored, facts: ScoringFacts) -> RunCounts | SparseSums:
        generated, observed = (
            side if first is None else side.cut(first)
            for side in (scored.generated, scored.observed)
        )
        counts = RunCounts(
            generated=generated,
            observed=observed,
            n=n,
            n_tokens=facts.n_tokens,
            per_row=weighting == "per_rollout",
        )
        return countable(counts)

    return sums


def countable(counts: RunCounts) -> RunCounts | SparseSums:
    """The counts, written out where there are too many kinds of runs for a table of them."""
    return counts if counts.n_tokens**counts.n <= _LARGEST_TABLE else _written_out(counts)


def mix_divergence(totals: Floats) -> Floats:
    """JSD of the generated and the observed half of the columns; nan where one counts nothing."""
    if totals.ndim == 2:
        from edsim.metrics.sum_kernels import divergence_of_halves

        found: Floats = divergence_of_halves(np.ascontiguousarray(totals.T))
        return found
    half = totals.shape[-1] // 2
    return divergences(totals[..., :half], totals[..., half:])


def _shares(totals: Floats, side: int) -> Floats:
    half = totals.shape[-1] // 2
    counts = totals[..., side * half : (side + 1) * half]
    total = counts.sum(axis=-1, keepdims=True)
    with np.errstate(invalid="ignore"):
        return np.asarray(counts / np.where(total > 0, total, np.nan))


def _written_out(counts: RunCounts) -> SparseSums:
    """The same counts for vocabularies so large that no table holds all runs."""
    sides = (counts.generated, counts.observed)
    ours, theirs = (ngrams(side, counts.n, n_tokens=counts.n_tokens) for side in sides)
    found, column = np.unique(np.concatenate([ours[1], theirs[1]]), return_inverse=True)
    column[len(ours[0]) :] += len(found)
    row = np.concatenate([ours[0], theirs[0]])
    value = np.ones(len(row), dtype=np.float32)
    if counts.per_row:
        pairs = zip((ours[0], theirs[0]), sides, strict=True)
        value = np.concatenate([_share_of_row(at, len(side)) for at, side in pairs])
    labels = np.concatenate([found, found + counts.n_tokens**counts.n])
    shape = (len(counts.generated), 2 * len(found))
    return SparseSums(row, column.astype(np.int64), value, shape, labels)


def _share_of_row(row: NDArray[np.int64], n_rows: int) -> NDArray[np.float32]:
    """One over the number of runs of the row each run lies in."""
    return (1.0 / np.bincount(row, minlength=max(n_rows, 1))[row]).astype(np.float32)


def _divergence(name: str, title: str, n: int, kind: str) -> Measure:
    weighting: Weighting = "per_rollout" if kind == "per_rollout" else "pooled"
    first = FIRST_EVENTS if kind == "first10" else None
    return Measure(
        name=name,
        title=title,
        sums=mix_sums(n, weighting, first),
        value=mix_divergence,
        interval="divergence",
        unit="nats",
        undefined="a side has no such run of events",
    )


_RUNS = {1: ("", "JSD"), 2: ("_pairs", "JSD pairs"), 3: ("_triples", "JSD triples")}
_KINDS = {"": "", "per_rollout": " per rollout", "first10": " first 10"}

DIVERGENCES = tuple(
    _divergence(f"jsd{run}{kind and '_'}{kind}", title + said, n, kind)
    for n, (run, title) in _RUNS.items()
    for kind, said in _KINDS.items()
)


def _token_share(name: str, title: str, side: int) -> Measure:
    value: Callable[[Floats], Floats] = partial(_shares, side=side)
    target: Callable[[Floats], Floats] | None = None if side else partial(_shares, side=1)
    return Measure(
        name=name,
        title=title,
        sums=mix_sums(1, "pooled", None),
        value=value,
        target=target,
        loss="none" if side else "distance",
        by_token=True,
        support=lambda n_columns: np.arange(n_columns // 2, n_columns)[:, None],
        adds_up=True,
        undefined="there are no events",
    )


MEASURES = (
    *DIVERGENCES,
    _token_share("token_share_generated", "Share of generated events", 0),
    _token_share("token_share_observed", "Share of observed events", 1),
)
