"""Checks that need nothing but the rows of a table and what was observed. numpy only."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from edsim.conformance.launching import Scene
from edsim.conformance.verdicts import Findings
from edsim.tables.visits import END, Prefixes, Suffixes

YEAR = 525_600.0
"""Minutes. No gap of an emergency visit is longer: it would be another unit."""
UNITS_RATIO = 20.0
DAY = 1440.0


def check_rows(findings: Findings, rows: Suffixes, prefixes: Prefixes, cap: int) -> None:
    """END, the cap, gaps and the prefix boundary. `prefixes` has an entry for each row."""
    check_end(findings, rows)
    check_cap(findings, rows, cap)
    check_gaps(findings, rows.minutes, "gaps of the table")
    check_prefix(findings, rows, prefixes)


def check_end(findings: Findings, rows: Suffixes) -> None:
    """END stands at the end of a row and nowhere else."""
    last = np.zeros(len(rows.tokens), dtype=bool)
    last[rows.offsets[1:][rows.lengths() > 0] - 1] = True
    early = (rows.tokens == END) & ~last
    n_rows = len(np.unique(_row_of(rows)[early]))
    findings.judge(
        "END last",
        n_rows,
        f"{n_rows} of {len(rows)} rows hold events after END",
        f"in none of {len(rows)} rows anything follows END",
    )


def check_cap(findings: Findings, rows: Suffixes, cap: int) -> None:
    """No row is longer than the cap, and one without END is exactly as long."""
    lengths = rows.lengths()
    long = int((lengths > cap).sum())
    if long:
        findings.add("cap", "fail", f"{long} of {len(rows)} rows hold more than {cap} events")
    ended = np.zeros(len(rows), dtype=bool)
    filled = lengths > 0
    ended[filled] = rows.tokens[rows.offsets[1:][filled] - 1] == END
    short = ~ended & (lengths < cap)
    if short.any():
        least = float(rows.total_minutes()[short].min())
        when = f", none before {least:.0f} minutes were generated" if least > 60 else ""
        findings.add(
            "cap",
            "fail",
            f"{int(short.sum())} of {len(rows)} rows stop without END before {cap} events{when}",
        )
    if not long and not short.any():
        findings.add(
            "cap",
            "pass",
            f"{int(ended.sum())} of {len(rows)} rows end with END, the others hold {cap} events",
        )


def check_gaps(findings: Findings, minutes: NDArray[np.floating], what: str) -> None:
    """Gaps are finite and not negative, and none is as long as only another unit makes it."""
    bad = ~np.isfinite(minutes) | (minutes < 0)
    n_nan, n_negative = int((~np.isfinite(minutes)).sum()), int((minutes < 0).sum())
    findings.judge(
        "gaps",
        int(bad.sum()),
        f"{n_negative} of {minutes.size} {what} are negative and {n_nan} not finite",
        f"{minutes.size} {what} are finite and not negative",
    )
    impossible = int((minutes[~bad] > YEAR).sum())
    if impossible:
        findings.add(
            "clock units", "fail", f"{impossible} of {minutes.size} {what} are longer than a year"
        )


def check_prefix(findings: Findings, rows: Suffixes, prefixes: Prefixes) -> None:
    """The rows do not begin with the prefix, nor the first gap with the time before it."""
    known = prefixes.lengths()
    comparable = known >= 3
    n = int(comparable.sum())
    repeated = int(repeats_prefix(rows, prefixes)[comparable].sum())
    if n and repeated > 0.5 * n:
        findings.add(
            "prefix boundary",
            "fail",
            f"{repeated} of {n} rows begin with the whole prefix again: write the suffix only",
        )
        return
    elapsed = prefixes.elapsed_minutes()
    waited = (elapsed > 1) & (rows.lengths() > 0)
    first = rows.minutes[np.minimum(rows.offsets[:-1], max(len(rows.minutes) - 1, 0))]
    ratio = first[waited] / elapsed[waited]
    summed = int((ratio >= 0.999).sum())
    # gaps in another unit are long, too, and far longer than the time before
    if waited.sum() >= 20 and summed > 0.95 * waited.sum() and np.median(ratio) < 3:
        findings.add(
            "prefix boundary",
            "fail",
            f"in {summed} of {int(waited.sum())} rows the first gap holds all minutes before the "
            "launch: count from the last event of the prefix",
        )
        return
    findings.add(
        "prefix boundary",
        "pass",
        f"{repeated} of {n} rows begin like their prefix of three or more events",
    )


def repeats_prefix(rows: Suffixes, prefixes: Prefixes) -> NDArray[np.bool_]:
    """Whether each row begins with all tokens of its prefix."""
    lengths = prefixes.lengths()
    able = rows.lengths() >= lengths
    place = np.arange(lengths.sum()) - np.repeat(prefixes.offsets[:-1], lengths)
    where = np.repeat(rows.offsets[:-1], lengths) + place
    inside = np.repeat(able, lengths)
    same = np.zeros(len(where), dtype=bool)
    same[inside] = rows.tokens[where[inside]] == prefixes.tokens[inside]
    return able & np.logical_and.reduceat(same, prefixes.offsets[:-1])


def check_units(findings: Findings, rows: Suffixes, scene: Scene) -> None:
    """The mean generated gap is of the size of the observed one; a warning, for models differ."""
    events = rows.tokens != END
    observed = scene.observed_mean_gap()
    gaps = rows.minutes[events]
    if not (gaps.size and observed > 0 and np.isfinite(gaps).all()):
        findings.skip("clock units", "there are no gaps to compare")
        return
    generated = float(gaps.mean(dtype=np.float64))
    ratio = generated / observed
    said = f"the mean gap is {generated:.3g} minutes generated, {observed:.3g} observed"
    if ratio < 1 / UNITS_RATIO:
        guess = "hours (divide by 60) or log1p (invert with expm1) written as minutes?"
        findings.add("clock units", "warning", f"{said}, a ratio of {ratio:.3g}: {guess}")
    elif ratio > UNITS_RATIO:
        guess = "seconds written as minutes (or log1p inverted twice, or minutes as hours)?"
        findings.add("clock units", "warning", f"{said}, a ratio of {ratio:.3g}: {guess}")
    elif gaps.max() < 10 and _looks_like_log1p(gaps, scene):
        findings.add(
            "clock units",
            "warning",
            f"{said}, and no gap is longer than {gaps.max():.3g}: log1p not inverted with expm1?",
        )
    else:
        findings.add("clock units", "pass", said)


def _looks_like_log1p(gaps: NDArray[np.floating], scene: Scene) -> bool:
    """Nothing above the logarithm of the longest observed gaps, which are hours."""
    suffixes = scene.visits.suffixes(scene.launches)
    high = float(np.quantile(suffixes.minutes, 0.99))
    return high > 60 and float(gaps.max()) < 1.5 * np.log1p(high)


def _row_of(rows: Suffixes) -> NDArray[np.int64]:
    return np.repeat(np.arange(len(rows)), rows.lengths())
