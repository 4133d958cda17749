"""The process itself, compiled: one stay drawn row by row, in the final order of the rows.

Import this module only inside a function: it needs numba. Chance is drawn one number after the
other at the moment it is needed, so the stream may be exchanged after any row (`write`) and all
that is drawn later is fresh. Clocks are whole minutes since arrival. At one minute a check comes
before reconciliation, reconciliation before dispensation; no clock is ever set to a minute whose
place in that order has passed, which is why rows come out sorted. See docs/synthetic.md.

All compiled code of the process is in this one file, because numba looks at the file of a function,
and not at those it calls, when it decides whether what it compiled earlier still holds. For the
same reason every number comes in through `Rates`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from edsim.compiled import compiled
from edsim.sources.synthetic.rates import Rates

NEVER = 1 << 40
MAX_CODES = 9

ENTER, TRIAGE, CHECK, RECONCILE, DISPENSE, DISCHARGE = 0, 3, 7, 9, 16, 24
"""First token of each activity: Enter x3, Triage x4, Vitals x2, Reconciliation x7, ..."""

HOME, ADMIT, TRANSFER, LWBS, ELOPED, AMA, OTHEXP = range(7)
AMBULANCE = 1
MISSING_ACUITY = 4
EARLY = 5
"""A first check before this minute is early, and brings dispensing forward."""

ROW = np.dtype([("second", np.int32), ("token", np.uint8), ("item", np.uint8)])
"""Seconds since arrival; token number; medicine of the formulary, or number of the dispensed
medicine within the stay (one number for the identical rows of an act), else 0."""

_WHOLE = (
    *("minute", "acuity", "transport", "disposition", "pathway", "profile"),
    *("left", "abnormal", "spread", "single", "early"),
    *("next_check", "next_recon", "next_disp", "decision", "departure", "seconds"),
    *("last_check", "has_checks", "entered", "position", "n_home"),
    *("last_class", "n_acts", "n_rows", "begin", "branch_row", "max_rows", "period"),
)
STATE = np.dtype(
    [
        *((name, np.uint64) for name in ("base", "counter", "branch_base")),
        *((name, np.int64) for name in _WHOLE),
        *((name, np.float64) for name in ("load", "chronic", "interval")),
        ("home", np.int64, (120,)),
    ]
)
"""Everything a stay is at one moment: latents, clocks, counters, home list, and its stream."""

STAY = np.dtype(
    [(name, np.int16) for name in ("minute", "acuity", "transport", "disposition", "pathway")]
    + [("n_rows", np.int16), ("departure", np.int32)]
)
"""What is kept of a stay beside its rows; `minute` is of the day, `departure` a second."""

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_ONE = np.uint64(1)


@compiled
def mix(z: Any) -> Any:
    """`seeds.mix` of one word."""
    z = z + _GOLDEN
    z = (z ^ (z >> np.uint64(30))) * _MIX_1
    z = (z ^ (z >> np.uint64(27))) * _MIX_2
    return z ^ (z >> np.uint64(31))


@compiled
def uniform(s: Any) -> float:
    """The next number in [0, 1) of the stay's stream: `seeds.combine` of its key and a count."""
    word = mix(s.base + mix(s.counter) * _MIX_2)
    s.counter = s.counter + _ONE
    return np.float64(word >> np.uint64(11)) * 2.0**-53


@compiled
def normal(s: Any) -> float:
    """Standard normal; both numbers are used up at once, so that nothing outlives a branch."""
    radius = math.sqrt(-2.0 * math.log(1.0 - uniform(s)))
    return radius * math.cos(2.0 * math.pi * uniform(s))


@compiled
def exponential(s: Any, mean: float) -> float:
    return -mean * math.log(1.0 - uniform(s))


@compiled
def log_normal(s: Any, mean: float, sd: float) -> float:
    return math.exp(mean + sd * normal(s))


@compiled
def gamma(s: Any, shape: float) -> float:
    """Gamma of scale 1 and a shape above 1, by squeeze and rejection."""
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = normal(s)
        v = 1.0 + c * x
        if v <= 0.0:
            continue
        v = v * v * v
        if math.log(1.0 - uniform(s)) < 0.5 * x * x + d - d * v + d * math.log(v):
            return d * v


@compiled
def choose(s: Any, cumulative: Any) -> int:
    """A place of a cumulative table; its last place where rounding leaves a gap below 1."""
    u = uniform(s)
    last = len(cumulative) - 1
    for i in range(last):
        if u < cumulative[i]:
            return i
    return last


@compiled
def write(s: Any, rows: Any, second: int, token: int, item: int) -> None:
    """One row; the stream is exchanged right after the row a branch starts from."""
    row = rows[s.begin + s.n_rows]
    row.second = second
    row.token = token
    row.item = item
    s.n_rows += 1
    if s.n_rows == s.branch_row:
        s.base = s.branch_base


@compiled
def arrive(s: Any, r: Rates) -> None:
    """Section 4: hour, acuity, transport, disposition, pathway, chronic profile and load."""
    while True:
        hour = 24.0 * uniform(s)
        if uniform(s) < 0.35 + 0.65 * math.exp(-(((hour - 14.5) / 6.0) ** 2)):
            break
    s.minute = int(hour * 60.0)
    s.load = math.sin(2.0 * math.pi * (hour - 10.0) / 24.0)
    s.acuity = choose(s, r.acuity)
    s.transport = choose(s, r.transport[s.acuity])
    s.disposition = choose(s, r.disposition[s.period, s.acuity])
    s.pathway = choose(s, r.pathway[s.acuity])
    s.profile = choose(s, r.profile)
    s.left = LWBS <= s.disposition <= AMA
    s.chronic = gamma(s, 1.178) if s.profile > 0 else 0.831 * gamma(s, 1.236)
    if s.disposition == ADMIT or s.disposition == TRANSFER or s.disposition == OTHEXP:
        s.chronic *= 1.2
    if s.acuity == 3:
        s.chronic *= 0.55


@compiled
def set_decision(s: Any, r: Rates) -> None:
    """Section 5: the minute of the unseen decision."""
    if uniform(s) < 0.0131 * (4.0 if s.left else 0.8):
        workup = 3.3 + 0.6 * normal(s)
    elif s.disposition == LWBS:
        workup = 4.75 + 0.75 * normal(s)
    else:
        workup = r.workup[s.period, s.acuity] + 0.494 * normal(s)
        workup += 0.160 * s.load + 0.045 * min(s.chronic, 4.0)
        if s.left:
            workup -= 0.25
        elif s.disposition == TRANSFER:
            workup += 0.25
    s.decision = int(math.exp(workup))


@compiled
def set_first_check(s: Any, r: Rates) -> None:
    """Section 6: when the first check is due, and how often this stay is checked."""
    u = uniform(s)
    early = 0.268 * (1.3 if s.transport == AMBULANCE else 0.85)
    if u < 0.190:
        s.next_check = 0
    elif u < 0.190 + early:
        s.next_check = int(1.0 + exponential(s, 2.5))
    else:
        s.next_check = int(3.0 + log_normal(s, 4.379, 0.8))
    if s.next_check > 0:
        unchecked = uniform(s) < 0.047 * (3.0 if s.acuity == MISSING_ACUITY else 1.0)
        if unchecked or (s.disposition == LWBS and u > 0.44):
            s.next_check = NEVER
    s.has_checks = s.next_check < NEVER
    s.early = s.next_check < EARLY
    s.interval = log_normal(s, r.check_interval[s.period, s.acuity], 0.400)
    if uniform(s) < 0.0085 * (3.0 if s.acuity == 0 else 1.0):
        s.interval = 6.0 + 14.0 * uniform(s)
    s.abnormal = uniform(s) < r.abnormal[s.acuity]


@compiled
def set_medicines(s: Any, r: Rates) -> None:
    """Sections 7 and 8: first reconciliation row and first act of dispensing, and their styles."""
    share = r.reconciles[s.acuity]
    if s.left:
        share *= 0.2 if s.disposition == LWBS else 0.9
    if uniform(s) < share:
        s.next_recon = int(1.0 + log_normal(s, 4.165 + 0.25 * s.load, 0.589))
    s.spread = uniform(s) < r.spread[s.period]
    share = r.dispenses[s.acuity] * (1.06 if s.disposition == ADMIT else 0.97)
    if s.left:
        share *= 0.15 if s.disposition == LWBS else 0.92
    if uniform(s) < share:
        mean = 4.824 + 0.15 * s.load
        mean -= (0.5 if s.acuity == 0 else 0.0) + (0.3 if s.early else 0.0)
        s.next_disp = int(1.0 + log_normal(s, mean, 0.850))
    s.single = uniform(s) < 0.154


@compiled
def open_record(s: Any, r: Rates, rows: Any) -> None:
    """Section 9 and the first rows: before arrival, Enter, checks of minute 0, triage."""
    if uniform(s) < 0.0020:
        second = -60 * (1 + int(30.0 * uniform(s)))
        if uniform(s) < 0.7:
            write(s, rows, second, CHECK + s.abnormal, 0)
        else:
            token = DISPENSE + choose(s, r.dispensed_class[s.period, s.pathway])
            s.n_acts = 1
            write(s, rows, second, token, 0)
    write(s, rows, 0, ENTER + s.transport, 0)
    if s.next_check == 0:
        check(s, r, rows, 0)
    write(s, rows, 1, TRIAGE + min(s.acuity, 3), 0)


@compiled
def check(s: Any, r: Rates, rows: Any, now: int) -> None:
    """One check, the state it leaves, and the next."""
    write(s, rows, 60 * now, CHECK + s.abnormal, 0)
    if s.last_check:
        s.next_check = NEVER
        return
    if uniform(s) < 0.35:
        s.abnormal = uniform(s) < r.abnormal[s.acuity] * (0.85 if now > 120 else 1.0)
    if uniform(s) < 0.012:
        gap = 1 + int(2.0 * uniform(s))
    else:
        minutes = s.interval * (0.6 if s.abnormal else 1.0) * math.exp(0.420 * normal(s))
        if now > 480:
            minutes *= (now / 480.0) ** 0.518
        gap = int(max(2.0, minutes))
    s.next_check = now + gap


@compiled
def draw_home_list(s: Any, r: Rates) -> None:
    """The medicines taken at home, in name order, or scrambled in the spread style."""
    n = 0
    rate = 0.0612 * s.chronic
    for medicine in range(len(r.medicine_class)):
        if uniform(s) < 1.0 - math.exp(-rate * r.home_rate[s.profile, medicine]):
            s.home[n] = medicine
            n += 1
    if n == 0:
        s.home[0] = int(uniform(s) * len(r.medicine_class))
        n = 1
    if s.spread:
        for i in range(n - 1, 0, -1):
            j = int(uniform(s) * (i + 1))
            s.home[i], s.home[j] = s.home[j], s.home[i]
    s.n_home = n


@compiled
def reconcile(s: Any, r: Rates, rows: Any, now: int) -> None:
    """One medicine of the home list with its second class row, and the next."""
    if s.n_home == 0:
        draw_home_list(s, r)
    medicine = s.home[s.position]
    write(s, rows, 60 * now, RECONCILE + r.medicine_class[medicine], medicine)
    if r.second_class[medicine] >= 0:
        write(s, rows, 60 * now, RECONCILE + r.second_class[medicine], medicine)
    s.position += 1
    if s.position < s.n_home:
        if s.spread:
            s.next_recon = now + spread_gap(s)
        return
    s.position = 0
    s.entered += 1
    s.next_recon = NEVER
    if s.entered == 1 and uniform(s) < 0.058:
        s.next_recon = now + int(20.0 + exponential(s, 240.0))


@compiled
def spread_gap(s: Any) -> int:
    """Minutes between the medicines of a list that is entered one by one."""
    u = uniform(s)
    if u < 0.72:
        return 0
    if u < 0.92:
        return 1
    if u < 0.965:
        return 2
    return int(3.0 + exponential(s, 25.0))


@compiled
def dispense(s: Any, r: Rates, rows: Any, now: int) -> None:
    """One medicine in one to three identical rows, and what comes after it."""
    if s.last_class < 0 or uniform(s) >= 0.45:
        s.last_class = choose(s, r.dispensed_class[s.period, s.pathway])
    n = 1
    if not s.single:
        u = uniform(s)
        n = 2 if u < 0.419 else (3 if u < 0.419 + 0.069 else 1)
    for _ in range(n):
        write(s, rows, 60 * now, DISPENSE + s.last_class, s.n_acts % 256)
    s.n_acts += 1
    if uniform(s) < 0.286 * (0.3 if s.single else 1.0):
        u = uniform(s)
        s.next_disp = now + (0 if u < 0.62 else (1 if u < 0.90 else 2))
        if uniform(s) < 0.75:
            s.last_class = -1
        return
    s.next_disp = NEVER
    again = r.dispenses_again[s.acuity] * (1.08 if s.disposition == ADMIT else 0.95)
    if uniform(s) < again:
        s.next_disp = now + int(3.0 + log_normal(s, 4.302, 1.250))
        if uniform(s) < 0.45 and s.next_check < NEVER and not s.last_check:
            s.next_check = min(s.next_check, now + max(1, int(log_normal(s, 3.2, 0.7))))


@compiled
def boarding(s: Any) -> float:
    """Minutes from the decision to the departure."""
    admitted = s.disposition == ADMIT
    u = uniform(s)
    if admitted and u < 0.0405:
        return log_normal(s, 7.05, 0.45)
    if not admitted and not s.left and u < 0.0101:
        return log_normal(s, 6.85, 0.45)
    if (admitted or s.disposition == TRANSFER) and uniform(s) < 0.85:
        return log_normal(s, 4.873 + 0.2 * s.load, 1.180)
    if s.left:
        return 2.0 * uniform(s)
    return log_normal(s, 1.620, 0.800)


@compiled
def decide(s: Any, now: int) -> None:
    """Section 5 at the decision: the departure, its seconds, and perhaps a last check."""
    delay = boarding(s)
    s.decision = NEVER
    s.departure = now + 1 + int(delay)
    if uniform(s) >= 0.86:
        s.seconds = 1 + int(59.0 * uniform(s))
    if delay < 90.0 and s.has_checks and uniform(s) < (0.15 if s.left else 0.625):
        s.next_check = max(now + 1, s.departure - int(1.0 + exponential(s, 22.0)))
        s.last_check = 1


@compiled
def depart(s: Any, r: Rates, rows: Any) -> None:
    """As many identical rows as the stay has ICD codes."""
    u = uniform(s)
    if s.left:
        u = u**1.6
    elif s.disposition == ADMIT:
        u = u**0.86
    else:
        u = u**1.12
    n = 1
    while n < MAX_CODES and u >= r.icd_codes[n - 1]:
        n += 1
    for _ in range(n):
        write(s, rows, 60 * s.departure + s.seconds, DISCHARGE + s.disposition, 0)


@compiled
def draw_stay(s: Any, r: Rates, rows: Any) -> None:
    """One stay from arrival to its last discharge row.

    Rows at the second of departure or later do not exist in the record. A stay that has come to
    `max_rows` writes nothing more until it departs.
    """
    arrive(s, r)
    set_decision(s, r)
    set_first_check(s, r)
    set_medicines(s, r)
    open_record(s, r, rows)
    while True:
        now = min(s.next_check, s.next_recon, s.next_disp, s.decision, s.departure)
        full = s.n_rows > s.max_rows - MAX_CODES - 3
        open_ = not full and 60 * now < 60 * s.departure + s.seconds
        if open_ and s.next_check == now:
            check(s, r, rows, now)
        elif open_ and s.next_recon == now:
            reconcile(s, r, rows, now)
        elif open_ and s.next_disp == now:
            dispense(s, r, rows, now)
        elif s.departure == NEVER:
            decide(s, s.decision)
        else:
            break
    depart(s, r, rows)


@compiled
def reset(s: Any) -> None:
    """Nothing has happened yet."""
    s.counter = np.uint64(0)
    s.next_recon = s.next_disp = s.decision = s.departure = NEVER
    s.seconds = s.last_check = s.entered = s.position = s.n_home = s.n_acts = s.n_rows = 0
    s.last_class = -1


@compiled
def draw_stays(
    keys: Any,
    branch_rows: Any,
    branch_keys: Any,
    periods: Any,
    r: Rates,
    max_rows: int,
    state: Any,
    rows: Any,
    stays: Any,
) -> int:
    """Stays one after the other until they are done or `rows` may not hold one more.

    Returns how many were drawn. A branch row of 0 is never met: the stay stays the original.
    """
    s = state[0]
    begin = 0
    for i in range(len(keys)):
        if begin + max_rows > len(rows):
            return i
        reset(s)
        s.base = mix(keys[i])
        s.branch_base = mix(branch_keys[i])
        s.branch_row = branch_rows[i]
        s.period = periods[i]
        s.max_rows = max_rows
        s.begin = begin
        draw_stay(s, r, rows)
        begin += s.n_rows
        out = stays[i]
        out.minute = s.minute
        out.acuity = s.acuity
        out.transport = s.transport
        out.disposition = s.disposition
        out.pathway = s.pathway
        out.n_rows = s.n_rows
        out.departure = 60 * s.departure + s.seconds
    return len(keys)
