"""No look at the future: what is altered after the launch, or hidden, changes no answer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from edsim.conformance.launching import Scene, altered_after, in_turn, renamed, whole_stays
from edsim.conformance.verdicts import Findings
from edsim.conformance.walking import ROUNDED_ROWS, Course, Driver, Unusable, Walk
from edsim.tables.visits import Prefixes

CHECK = "no look at the future"


def check_future(
    findings: Findings, driver: Driver, course: Course, walk: Walk, scene: Scene
) -> None:
    """Later events, hidden columns and other names, then the stay's own later rows in the batch."""
    rows, lengths = course.prefixes.stay_rows.astype(np.int64), course.prefixes.lengths()
    altered = altered_after(scene.visits, course.prefixes.launches(), walk.proposed.shape[2])
    places = np.arange(len(rows))
    again = altered.prefixes(np.stack([places, lengths], axis=1).astype(np.int32))
    changed = _with_other_names(
        findings,
        driver,
        course,
        walk,
        {"other events after the launch": again, "other names": renamed(course.prefixes)},
    ) | _beside_later_rows(
        driver,
        course,
        walk,
        {
            "the whole stay beside it": whole_stays(scene.visits, rows),
            "another future beside it": whole_stays(altered, places),
        },
    )
    n = len(rows)
    worst = [f"{bad} of {n} rows with {what}" for what, bad in changed.items() if bad]
    findings.judge(
        CHECK,
        max(changed.values(), default=0) > ROUNDED_ROWS * n,
        "answers change in " + ", ".join(worst),
        f"{n} rows answer the same with {', '.join(changed)}",
    )


def _with_other_names(
    findings: Findings,
    driver: Driver,
    course: Course,
    walk: Walk,
    variations: dict[str, Prefixes],
) -> dict[str, int]:
    """How many rows change where the same events stand under another name or row."""
    changed = {}
    for what, prefixes in variations.items():
        try:
            changed[what] = int(
                driver.walk(replace(course, prefixes=prefixes)).differing(walk).sum()
            )
        except Unusable as error:
            findings.add(CHECK, "fail", f"{error}, with {what}")
    return changed


def _beside_later_rows(
    driver: Driver, course: Course, walk: Walk, variations: dict[str, Prefixes]
) -> dict[str, int]:
    """How many rows change beside longer prefixes of their own stays, row by row in turn.

    Only proposals after `start` are looked at: the course's events need not be possible after a
    whole stay.
    """
    none, first = course.tokens[:, :0], course.u_time[:, :1]
    at_start = Walk(walk.proposed[:, :1], walk.minutes[:, :0])
    changed = {}
    for what, later in variations.items():
        later = replace(later, stay_rows=course.prefixes.stay_rows)
        try:
            driver.walk(Course(later, none, first))
        except Unusable:
            if what.startswith("the whole stay"):
                raise
            continue  # altered events may be in an order that a simulator refuses
        both = in_turn(course.prefixes, later)
        beside = Course(both, np.repeat(none, 2, axis=0), np.repeat(first, 2, axis=0))
        changed[what] = int(driver.walk(beside).some(slice(0, None, 2)).differing(at_start).sum())
    return changed
