"""What has to be true of each generated suffix by itself: END, cap, tokens, minutes, stop."""

from __future__ import annotations

import numpy as np

from edsim.tables.rollouts_fault import Fault, Found, of_events, of_rows, row_of
from edsim.tables.rollouts_rows import Rows
from edsim.tables.visits import END


def suffix_faults(rows: Rows, n_tokens: int) -> list[Fault]:
    """The faults of the suffixes of a table with `n_tokens` tokens."""
    lengths = np.diff(rows.offsets)
    cap, ended = rows.header.cap, rows.ended
    is_end = rows.tokens == END
    last_is_end = np.zeros(len(rows), dtype=bool)
    filled = lengths > 0
    last_is_end[filled] = is_end[rows.offsets[1:][filled] - 1]
    return [
        *of_rows(
            rows,
            "lengths_differ",
            lengths != np.diff(rows.minutes_offsets),
            "do not have as many `tokens` as `minutes`",
            "Each generated event has one gap before it, END too.",
        ),
        *of_rows(
            rows,
            "empty",
            ~filled,
            "have no event at all",
            "A visit that ends at once is one END.",
        ),
        *of_events(
            rows,
            rows.offsets,
            "token_range",
            (rows.tokens < 0) | (rows.tokens >= n_tokens),
            f"events have a token outside 0 to {n_tokens - 1}",
            "Use the token numbers of the cohort's vocabulary.json (END is 0).",
        ),
        *_end_inside(rows, is_end, last_is_end),
        *_minutes_faults(rows),
        *of_rows(
            rows,
            "stop",
            filled & (ended != last_is_end),
            "have a `stop` that contradicts their tokens",
            "`end` goes with END as the last token, `cap` with none.",
        ),
        *of_rows(
            rows,
            "too_long",
            lengths > cap,
            f"hold more events than the cap of {cap} allows, END counted",
            "Stop at the cap, or write the cap that was used into the header.",
        ),
        *of_rows(
            rows,
            "cap_not_full",
            filled & ~ended & ~last_is_end & (lengths < cap),
            f"have no END and fewer events than the cap of {cap}",
            "A visit that is over has END as its last event; one that was cut off holds as many "
            "events as the cap: go on until then, or write the cap that was used into the header.",
        ),
    ]


def _end_inside(rows: Rows, is_end: Found, last_is_end: Found) -> list[Fault]:
    if np.count_nonzero(is_end) == np.count_nonzero(last_is_end):
        return []
    inside = is_end.copy()
    inside[rows.offsets[1:][last_is_end] - 1] = False
    found = np.zeros(len(rows), dtype=bool)
    found[row_of(rows.offsets, np.flatnonzero(inside))] = True
    return of_rows(
        rows,
        "end_inside",
        found,
        "have END before their last event",
        "Nothing follows END: drop what was generated after it, or take END out of the middle.",
    )


def _minutes_faults(rows: Rows) -> list[Fault]:
    with np.errstate(invalid="ignore"):
        good = (rows.minutes >= 0) & (rows.minutes < np.inf)
    if good.all():
        return []
    kinds = {
        "negative": int(np.count_nonzero(rows.minutes < 0)),
        "not a number": int(np.count_nonzero(np.isnan(rows.minutes))),
        "infinite": int(np.count_nonzero(rows.minutes == np.inf)),
    }
    said = ", ".join(f"{n:,} {kind}" for kind, n in kinds.items() if n)
    return of_events(
        rows,
        rows.minutes_offsets,
        "minutes",
        ~good,
        f"gaps are no minutes ({said})",
        "A gap is the minutes since the event before it: finite and at least 0.",
    )
