"""The second process, behind the MC-MED layout: compiled, drawn row by row in its final order.

Import this module only inside a function: it needs numba. Uncalibrated and independent of
`process`, with the same contract: chance is drawn one number after the other when it is needed,
so the stream may be exchanged after any row (`write`) and all that is drawn later is fresh.
Clocks are seconds since arrival. At one second vital signs come before orders, orders before
medicines, then laboratory, imaging, decision, departure; no clock is ever set to a place in that
order that has passed, which is why rows come out sorted.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from edsim.compiled import compiled
from edsim.sources.synthetic.mcmed_catalogue import (
    AGAIN,
    BOARDING,
    EXTENSIVE,
    FIRST,
    IMAGING,
    LAB,
    MEDICINE,
    MINOR,
    PLAIN,
    Rates,
)
from edsim.sources.synthetic.process import (
    NEVER,
    choose,
    exponential,
    log_normal,
    mix,
    normal,
    uniform,
)

ARRIVAL, TRIAGE, ROOMED, VITALS, ORDER, GIVEN, RESULT, IMAGE, DECISION, DEPARTURE = range(10)
"""Places in `mcmed.labels.ACTIVITIES`."""
NORMAL, ABNORMAL, UNMEASURED = range(3)
DISCHARGE, OBSERVATION, INPATIENT, ICU = range(4)

ROW = np.dtype(
    [
        ("second", np.int32),
        ("activity", np.uint8),
        ("flag", np.uint8),
        ("item", np.uint8),
        ("part", np.uint8),
        ("order", np.uint16),
    ]
)
"""Seconds since arrival; activity; normal or not; orderable of the catalogue; component of a
result; number within the stay of the order that is placed, resulted or given."""

STAY = np.dtype(
    [(name, np.int16) for name in ("minute", "phase", "acuity", "transport", "disposition", "care")]
    + [("n_rows", np.int16), ("roomed", np.int32), ("decision", np.int32), ("departure", np.int32)]
)
"""What is kept of a stay beside its rows; `minute` of the day and `phase`, its second, of the
arrival; `roomed` is -1 where the patient never was."""

MAX_PENDING = 256
_MARGIN = 32
"""Rows that one step and the end of a stay may need."""

_WHOLE = (
    *("minute", "phase", "acuity", "transport", "disposition", "care", "abnormal"),
    *("next_room", "next_vitals", "next_order", "decision", "departure"),
    *("roomed", "decided", "decided_at", "occasion", "item", "n_orders", "n_pending"),
    *("n_rows", "begin", "branch_row", "max_rows"),
)
STATE = np.dtype(
    [("base", np.uint64), ("counter", np.uint64), ("branch_base", np.uint64)]
    + [(name, np.int64) for name in _WHOLE]
    + [("interval", np.float64), ("load", np.float64)]
    + [(name, np.int64, (MAX_PENDING,)) for name in ("due", "due_order", "due_item")]
)
"""Everything a stay is at one moment: latents, clocks, what is under way, and its stream."""


@compiled
def write(
    s: Any, rows: Any, second: int, activity: int, flag: int, item: int, part: int, order: int
) -> None:
    """One row; the stream is exchanged right after the row a branch starts from."""
    row = rows[s.begin + s.n_rows]
    row.second = second
    row.activity = activity
    row.flag = flag
    row.item = item
    row.part = part
    row.order = order
    s.n_rows += 1
    if s.n_rows == s.branch_row:
        s.base = s.branch_base


@compiled
def on_the_minute(s: Any, second: float) -> Any:
    """The first whole minute of the wall clock after a time: nurses chart by the minute."""
    return int((int(second) + s.phase) // 60 + 1) * 60 - s.phase


@compiled
def arrive(s: Any, r: Rates) -> None:
    """Who comes, when, how ill, and how much will be done."""
    while True:
        hour = 24.0 * uniform(s)
        if uniform(s) < 0.35 + 0.65 * math.exp(-(((hour - 14.5) / 6.0) ** 2)):
            break
    s.minute = int(hour * 60.0)
    s.phase = int(60.0 * uniform(s))
    s.load = math.sin(2.0 * math.pi * (hour - 10.0) / 24.0)
    s.acuity = choose(s, r.acuity)
    s.transport = choose(s, r.transport[s.acuity])
    s.care = choose(s, r.care[s.acuity])
    s.disposition = choose(s, r.disposition[s.care])
    s.abnormal = uniform(s) < r.sick[s.acuity]


@compiled
def open_record(s: Any, r: Rates, rows: Any) -> None:
    """Arrival and triage, and the clocks of all that comes first."""
    write(s, rows, 0, ARRIVAL, 0, s.transport, 0, 0)
    unmeasured = uniform(s) < 0.03
    write(s, rows, 0, TRIAGE, UNMEASURED if unmeasured else s.abnormal, 0, 0, 0)
    wait = log_normal(s, (1.2 if s.acuity == 0 else 3.0) + 0.35 * s.load, 0.9)
    s.next_room = int(60.0 * wait) if uniform(s) < 0.975 else NEVER
    s.decision = s.next_room if s.next_room < NEVER else 0
    s.decision += int(60.0 * log_normal(s, r.workup[s.care], 0.45))
    s.next_vitals = on_the_minute(s, 60.0 * exponential(s, 6.0))
    s.interval = r.interval[s.acuity] * math.exp(0.35 * normal(s))
    if s.disposition == ICU:
        s.interval *= 0.35
    if uniform(s) < 0.30:
        plan_set(s, r, FIRST, int(60.0 * (2.0 + exponential(s, 8.0))))
    elif s.next_room < NEVER:
        plan_set(s, r, FIRST, s.next_room + int(60.0 * log_normal(s, 2.4, 0.8)))


@compiled
def plan_set(s: Any, r: Rates, occasion: int, second: int) -> None:
    """A set of orders is begun; what is in it is decided order by order."""
    s.occasion = occasion
    s.item = -1
    next_in_set(s, r, second)


@compiled
def next_in_set(s: Any, r: Rates, second: int) -> None:
    """The next orderable of the set, walking through the catalogue, or the wait for a next set."""
    chances = r.orders[s.occasion, s.care]
    for item in range(s.item + 1, len(chances)):
        if uniform(s) < chances[item]:
            s.item = item
            s.next_order = second
            return
    s.next_order = NEVER
    if s.decided:
        if s.disposition != DISCHARGE:
            plan_later(s, BOARDING, second, 5.3)
    elif uniform(s) < (0.12 if s.care == MINOR else 0.88):
        plan_later(s, AGAIN, second, 4.2 if s.care == EXTENSIVE else 4.6)


@compiled
def plan_later(s: Any, occasion: int, second: int, mean: float) -> None:
    """A set that begins some time from now; its first order is chosen then (item -2)."""
    s.occasion = occasion
    s.item = -2
    s.next_order = second + 60 + int(60.0 * log_normal(s, mean, 0.6))


@compiled
def place_order(s: Any, r: Rates, rows: Any, now: int) -> None:
    """One order, what it sets going, and the next one."""
    if s.item == -2:
        plan_set(s, r, s.occasion, now)
        if s.next_order != now:
            return
    item = s.item
    write(s, rows, now, ORDER, 0, item, 0, s.n_orders)
    follows = r.follows[item]
    if follows != PLAIN and s.n_pending < MAX_PENDING:
        done = uniform(s) < (0.88 if follows == MEDICINE else 0.97)
        seconds = (
            60.0 * r.minutes[item] * math.exp((0.7 if follows == MEDICINE else 0.45) * normal(s))
        )
        if done:
            due = now + 1 + int(seconds)
            s.due[s.n_pending] = on_the_minute(s, due) if follows == MEDICINE else due
            s.due_order[s.n_pending] = s.n_orders
            s.due_item[s.n_pending] = item
            s.n_pending += 1
    s.n_orders += 1
    gap = 0 if uniform(s) < 0.55 else 1 + int(exponential(s, 25.0))
    next_in_set(s, r, now + gap)


@compiled
def chart(s: Any, r: Rates, rows: Any, now: int) -> None:
    """Vital signs, the state they leave, and the next ones."""
    write(s, rows, now, VITALS, s.abnormal, 0, 0, 0)
    if uniform(s) < 0.35:
        s.abnormal = uniform(s) < r.sick[s.acuity] * (0.85 if now > 7200 else 1.0)
    minutes = s.interval * (0.6 if s.abnormal else 1.0) * math.exp(0.45 * normal(s))
    s.next_vitals = on_the_minute(s, now + 60.0 * max(1.0, minutes))


@compiled
def finish(s: Any, r: Rates, rows: Any, now: int, which: int) -> None:
    """What was under way is done: a result with all its components, an image, a medicine."""
    item, order = s.due_item[which], s.due_order[which]
    s.n_pending -= 1
    s.due[which] = s.due[s.n_pending]
    s.due_order[which] = s.due_order[s.n_pending]
    s.due_item[which] = s.due_item[s.n_pending]
    follows = r.follows[item]
    if follows == MEDICINE:
        write(s, rows, now, GIVEN, 0, item, 0, order)
    elif follows == IMAGING:
        write(s, rows, now, IMAGE, 0, item, 0, order)
    else:
        share = r.abnormal[item] * (1.4 if s.abnormal else 0.85)
        for part in range(r.n_components[item]):
            write(s, rows, now, RESULT, uniform(s) < share, item, part, order)


@compiled
def decide(s: Any, r: Rates, rows: Any, now: int) -> None:
    """The decision, and when the patient will leave."""
    write(s, rows, now, DECISION, 0, 0, 0, 0)
    s.decided = 1
    s.decision = NEVER
    if s.disposition == DISCHARGE:
        delay = log_normal(s, 3.4, 0.7)
        s.next_order = NEVER
    else:
        delay = log_normal(s, 5.2 + 0.15 * s.load, 0.75)
        plan_later(s, BOARDING, now, 3.2)
    s.departure = now + 60 + int(60.0 * delay)


@compiled
def is_before(s: Any, r: Rates, a: int, b: int) -> Any:
    """Whether what is under way in place `a` is done before that in place `b`."""
    if s.due[a] != s.due[b]:
        return s.due[a] < s.due[b]
    rank_a, rank_b = rank(r.follows[s.due_item[a]]), rank(r.follows[s.due_item[b]])
    if rank_a != rank_b:
        return rank_a < rank_b
    return s.due_order[a] < s.due_order[b]


@compiled
def rank(follows: int) -> int:
    """The activity that ends an order."""
    if follows == MEDICINE:
        return GIVEN
    return RESULT if follows == LAB else IMAGE


@compiled
def draw_stay(s: Any, r: Rates, rows: Any) -> None:
    """One stay from arrival to departure.

    What would happen at the second of departure or later does not exist in the record. A stay
    that has come to `max_rows` writes nothing more but its decision and departure.
    """
    arrive(s, r)
    open_record(s, r, rows)
    while True:
        which = 0
        for i in range(1, s.n_pending):
            if is_before(s, r, i, which):
                which = i
        due = s.due[which] if s.n_pending > 0 else NEVER
        now = min(s.next_room, s.next_vitals, s.next_order, due, s.decision, s.departure)
        if s.n_rows > s.max_rows - _MARGIN and now < min(s.decision, s.departure):
            s.next_room = s.next_vitals = s.next_order = NEVER
            s.n_pending = 0
        elif now == s.departure:
            break
        elif now == s.next_room:
            write(s, rows, now, ROOMED, 0, 0, 0, 0)
            s.roomed = now
            s.next_room = NEVER
        elif now == s.next_vitals:
            chart(s, r, rows, now)
        elif now == s.next_order:
            place_order(s, r, rows, now)
        elif now == due:
            finish(s, r, rows, now, which)
        else:
            s.decided_at = now
            decide(s, r, rows, now)
    write(s, rows, s.departure, DEPARTURE, 0, s.disposition, 0, 0)


@compiled
def reset(s: Any) -> None:
    """Nothing has happened yet."""
    s.counter = np.uint64(0)
    s.next_room = s.next_vitals = s.next_order = s.decision = s.departure = NEVER
    s.roomed = -1
    s.decided = s.n_orders = s.n_pending = s.n_rows = 0


@compiled
def draw_stays(
    keys: Any,
    branch_rows: Any,
    branch_keys: Any,
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
        s.max_rows = max_rows
        s.begin = begin
        draw_stay(s, r, rows)
        begin += s.n_rows
        out = stays[i]
        out.minute = s.minute
        out.phase = s.phase
        out.acuity = s.acuity
        out.transport = s.transport
        out.disposition = s.disposition
        out.care = s.care
        out.n_rows = s.n_rows
        out.roomed = s.roomed
        out.decision = s.decided_at
        out.departure = s.departure
    return len(keys)
