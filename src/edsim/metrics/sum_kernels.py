"""The hot loops of the bootstrap, compiled. Import this module only inside a function."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from edsim.compiled import compiled


@compiled
def by_column(
    stay: NDArray[np.int32],
    column: NDArray[np.int32],
    value: NDArray[np.float64],
    n_columns: int,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
    """Entries column after column, in their order within one; neighbours of one stay are added."""
    begin = np.zeros(n_columns + 1, dtype=np.int64)
    for c in column:
        begin[c + 1] += 1
    for c in range(n_columns):
        begin[c + 1] += begin[c]
    put = begin[:-1].copy()
    of_stay = np.empty(len(stay), dtype=np.int32)
    amount = np.empty(len(stay), dtype=np.float64)
    for i in range(len(stay)):
        c = column[i]
        at = put[c]
        if at > begin[c] and of_stay[at - 1] == stay[i]:
            amount[at - 1] += value[i]
        else:
            of_stay[at] = stay[i]
            amount[at] = value[i]
            put[c] = at + 1
    n = 0
    for c in range(n_columns):
        first, last = begin[c], put[c]
        begin[c] = n
        for at in range(first, last):
            of_stay[n] = of_stay[at]
            amount[n] = amount[at]
            n += 1
    begin[n_columns] = n
    return begin, of_stay[:n].copy(), amount[:n].copy()


@compiled
def weighted_totals(
    begin: NDArray[np.int64],
    stay: NDArray[np.int32],
    value: NDArray[np.float64] | NDArray[np.int32],
    weights: NDArray[np.uint8],
) -> NDArray[np.float64]:
    """[columns, replicates]: the sum over stays of value times weight [stays, replicates].

    Sums are kept in the type of the values: twice as many whole numbers go through at a time.
    """
    n_columns, n_replicates = len(begin) - 1, weights.shape[1]
    totals = np.empty((n_columns, n_replicates))
    total = np.zeros(n_replicates, dtype=value.dtype)
    for c in range(n_columns):
        total[:] = 0
        for i in range(begin[c], begin[c + 1]):
            amount = value[i]
            weight = weights[stay[i]]
            for r in range(n_replicates):
                total[r] += amount * value.dtype.type(weight[r])
        for r in range(n_replicates):
            totals[c, r] = total[r]
    return totals


@compiled
def runs_by_stay(
    tokens: NDArray[np.int16],
    offsets: NDArray[np.int64],
    stay: NDArray[np.int32],
    n: int,
    n_tokens: int,
    per_row: bool,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
    """Runs of `n` events, run after run; rows come stay by stay, and a stay's are added up."""
    n_codes = n_tokens**n
    begin = np.zeros(n_codes + 1, dtype=np.int64)
    for row in range(len(offsets) - 1):
        code = 0
        for at in range(offsets[row], offsets[row + 1]):
            code = (code * n_tokens + tokens[at]) % n_codes
            if at - offsets[row] >= n - 1:
                begin[code + 1] += 1
    for code in range(n_codes):
        begin[code + 1] += begin[code]
    put = begin[:-1].copy()
    of_stay = np.empty(begin[n_codes], dtype=np.int32)
    amount = np.empty(begin[n_codes], dtype=np.float64)
    for row in range(len(offsets) - 1):
        n_runs = offsets[row + 1] - offsets[row] - (n - 1)
        value = 1.0 / n_runs if per_row and n_runs > 0 else 1.0
        code = 0
        for at in range(offsets[row], offsets[row + 1]):
            code = (code * n_tokens + tokens[at]) % n_codes
            if at - offsets[row] < n - 1:
                continue
            last = put[code]
            if last > begin[code] and of_stay[last - 1] == stay[row]:
                amount[last - 1] += value
            else:
                of_stay[last] = stay[row]
                amount[last] = value
                put[code] = last + 1
    kept = 0
    for code in range(n_codes):
        first, last = begin[code], put[code]
        begin[code] = kept
        for at in range(first, last):
            of_stay[kept] = of_stay[at]
            amount[kept] = amount[at]
            kept += 1
    begin[n_codes] = kept
    return begin, of_stay[:kept].copy(), amount[:kept].copy()


@compiled
def dense_by_column(
    sums: NDArray[np.float64], stay: NDArray[np.int32], n_stays: int
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
    """Rows [rows, columns] added up by stay, column after column, zeros left out."""
    n_rows, n_columns = sums.shape
    by_stay = np.zeros((n_stays, n_columns))
    for row in range(n_rows):
        for c in range(n_columns):
            by_stay[stay[row], c] += sums[row, c]
    begin = np.zeros(n_columns + 1, dtype=np.int64)
    for s in range(n_stays):
        for c in range(n_columns):
            if by_stay[s, c] != 0:
                begin[c + 1] += 1
    for c in range(n_columns):
        begin[c + 1] += begin[c]
    of_stay = np.empty(begin[n_columns], dtype=np.int32)
    amount = np.empty(begin[n_columns], dtype=np.float64)
    put = begin[:-1].copy()
    for s in range(n_stays):
        for c in range(n_columns):
            if by_stay[s, c] != 0:
                of_stay[put[c]] = s
                amount[put[c]] = by_stay[s, c]
                put[c] += 1
    return begin, of_stay, amount


@compiled
def divergence_of_halves(totals: NDArray[np.float64]) -> NDArray[np.float64]:
    """Jensen-Shannon divergence of the upper and the lower half of the rows, for each column;
    nan where a half counts nothing."""
    half, n = totals.shape[0] // 2, totals.shape[1]
    ours, theirs, found = np.zeros(n), np.zeros(n), np.zeros(n)
    for c in range(half):
        for r in range(n):
            ours[r] += totals[c, r]
            theirs[r] += totals[half + c, r]
    for c in range(half):
        for r in range(n):
            p, q = totals[c, r] / ours[r], totals[half + c, r] / theirs[r]
            if p > 0:
                found[r] += p * np.log(2 * p / (p + q))
            if q > 0:
                found[r] += q * np.log(2 * q / (p + q))
    for r in range(n):
        found[r] = found[r] / 2 if ours[r] > 0 and theirs[r] > 0 else np.nan
    return found
