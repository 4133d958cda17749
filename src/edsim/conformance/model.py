"""Checks of a simulator by itself: its four calls, driven along chosen events without the loop."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from edsim.conformance.far import check_far
from edsim.conformance.future import check_future
from edsim.conformance.launching import Scene, at_minutes, extend
from edsim.conformance.verdicts import Findings
from edsim.conformance.walking import ROUNDED_ROWS, Course, Driver, Unusable, Walk, plan_course
from edsim.models.protocol import Simulator
from edsim.tables.visits import END

STEPS = 4
GUARDS = (4, 6, 8, 12, 16, 20, 24, 30, 36, 48, 72, 96)
"""Hours at which a private stop is looked for."""
SURE = 0.99
MOSTLY = 0.95
LATE = 0.9995
"""Chance of the time that gives the longest gaps."""

MODEL_CHECKS = ("chance", "rows independent", "order of rows", "history", "no look at the future")


def check_model(
    findings: Findings, model: Simulator[Any], scene: Scene, n_tokens: int, cap: int
) -> bool:
    """All checks of the four calls; whether the answers can be used at all."""
    driver = Driver(model, n_tokens)
    try:
        course = plan_course(driver, scene.prefixes, STEPS)
        walk = driver.walk(course)
        _say_usable(findings, walk)
        if driver.n_like_probabilities == driver.n_proposed:
            findings.add(
                "proposals",
                "warning",
                f"all {driver.n_proposed} proposals lie in [0, 1] and add up to 1: propose the "
                "logarithms of probabilities, for the loop takes the exponential",
            )
        _check_chance(findings, driver, course, walk)
        _check_rows(findings, driver, course, walk)
        _check_order(findings, driver, course, walk)
        check_future(findings, driver, course, walk, scene)
        _check_history(findings, driver, course, walk)
        _check_guards(findings, driver, course)
        check_far(findings, driver, scene, cap)
    except Unusable as error:
        findings.add(error.check, "fail", str(error))
        for name in MODEL_CHECKS:
            findings.skip(name, "the simulator's answers cannot be used")
        return False
    return True


def _say_usable(findings: Findings, walk: Walk) -> None:
    n_rows, n_proposals = len(walk.proposed), walk.proposed.shape[0] * walk.proposed.shape[1]
    findings.add("calls", "pass", f"start, propose, commit and keep returned for {n_rows} rows")
    findings.add("shapes", "pass", f"as promised for {n_rows} rows")
    findings.add("proposals", "pass", f"{n_proposals} proposals are distributions")
    findings.add("gaps", "pass", f"{walk.minutes.size} gaps are finite and not negative")


def _check_chance(findings: Findings, driver: Driver, course: Course, walk: Walk) -> None:
    """Asked twice, a simulator answers the same; and it does not draw the event for the loop."""
    again = int(driver.walk(course).differing(walk).sum())
    n = len(walk.proposed)
    other = driver.walk(replace(course, u_time=(course.u_time + 0.5) % 1)).proposed[:, 0]
    first = walk.proposed[:, 0]
    one_hot = (first.max(axis=1) > SURE) & (other.max(axis=1) > SURE)
    moved = int((one_hot & (first.argmax(axis=1) != other.argmax(axis=1))).sum())
    if again:
        findings.add(
            "chance",
            "fail",
            f"asked twice for the same, {again} of {n} rows answer otherwise: the simulator draws "
            "with a generator of its own, or keeps something besides its state",
        )
    elif one_hot.mean() > MOSTLY and moved > 0.2 * n:
        findings.add(
            "chance",
            "fail",
            f"in {moved} of {n} rows the chance of the time decides the event with certainty: "
            "propose the distribution and let the loop draw",
        )
    else:
        findings.add("chance", "pass", f"asked twice, {n} of {n} rows answer the same")


def _check_rows(findings: Findings, driver: Driver, course: Course, walk: Walk) -> None:
    """A row alone, in a part of the batch and in another order answers as it does in the batch."""
    n = len(course.tokens)
    halves = [rows for rows in (np.arange(0, n, 2), np.arange(1, n, 2)[::-1]) if rows.size]
    alone = [np.array([row]) for row in np.linspace(0, n - 1, 8).astype(int)]
    changed = sum(
        int(driver.walk(course.some(rows)).differing(walk.some(rows)).sum())
        for rows in (*halves, *alone)
    )
    together = driver.walk_together([course.some(rows) for rows in halves])
    mixed = sum(
        int(half.differing(walk.some(rows)).sum())
        for half, rows in zip(together, halves, strict=True)
    )
    if mixed > ROUNDED_ROWS * n and changed <= ROUNDED_ROWS * n:
        findings.add(
            "rows independent",
            "fail",
            f"{mixed} of {n} rows answer otherwise while another batch is under way: the simulator "
            "keeps something besides its state",
        )
        return
    findings.judge(
        "rows independent",
        changed > ROUNDED_ROWS * n,
        f"{changed} of {n + len(alone)} rows answer otherwise with other rows beside them",
        f"{n + len(alone)} rows answer the same alone, in halves and reversed",
    )


def _check_order(findings: Findings, driver: Driver, course: Course, walk: Walk) -> None:
    """After rows are dropped and reordered each goes on as if nothing had happened."""
    if not course.tokens.shape[1]:
        findings.skip("order of rows", "no row can go on after its first event")
        return
    n, n_steps = course.tokens.shape
    at, wrong, seen = min(1, n_steps - 1), 0, 0
    orders = (np.arange(n)[::-1], np.arange(n)[n // 3 :: 2], np.repeat(np.arange(n // 2), 2)[::-1])
    for rows in orders:
        state = driver.start(course.prefixes)
        for step in range(at):
            driver.propose(state, course.u_time[:, step])
            state, _ = driver.commit(state, course.tokens[:, step], course.u_time[:, step])
        state = driver.keep(state, rows)
        kept = driver.go_on(state, course.some(rows).since(at))
        wrong += int(kept.differing(walk.since(at).some(rows)).sum())
        seen += len(rows)
    findings.judge(
        "order of rows",
        wrong > ROUNDED_ROWS * n,
        f"{wrong} of {seen} rows go on with the state of another after `keep`",
        f"{seen} rows go on as before after `keep` dropped, repeated and reordered them",
    )


def _check_history(findings: Findings, driver: Driver, course: Course, walk: Walk) -> None:
    """The proposal after `commit` is the proposal after `start` on prefix and events."""
    n, n_steps = course.tokens.shape
    if not n_steps:
        findings.skip("history", "no row can go on after its first event")
        return
    forgot = np.zeros(n, dtype=bool)
    for step in range(1, n_steps + 1):
        forgot |= _started_again(driver, course, walk, step).differing(walk.since(step))
    slow = replace(course, u_time=np.full_like(course.u_time, LATE))
    late = driver.walk(slow)
    again, after = _started_again(driver, slow, late, n_steps), late.since(n_steps)
    forgot_late = after.differing(again)
    stopped = (after.proposed[:, 0, END] > SURE) & (again.proposed[:, 0, END] < SURE) & forgot_late
    if stopped.sum() > ROUNDED_ROWS * n:
        least = float(late.minutes[stopped].sum(axis=1).min())
        findings.add(
            "cap",
            "fail",
            f"END becomes certain in {int(stopped.sum())} of {n} rows after {least:.0f} minutes or "
            "more of generated time, though not after as many observed: a private stop",
        )
    forgot |= forgot_late
    findings.judge(
        "history",
        forgot.sum() > ROUNDED_ROWS * n,
        f"{int(forgot.sum())} of {n} rows propose otherwise after `commit` than after `start` on "
        "the same events and gaps",
        f"{n} rows propose the same after `commit` as after `start` on the same {n_steps} events",
    )


def _started_again(driver: Driver, course: Course, walk: Walk, step: int) -> Walk:
    """The rest of the course, started on prefix and the first `step` events and gaps."""
    longer = extend(course.prefixes, course.tokens[:, :step], walk.minutes[:, :step])
    return driver.walk(replace(course.since(step), prefixes=longer))


def _check_guards(findings: Findings, driver: Driver, course: Course) -> None:
    """No hour of the visit at which END becomes certain for every row at once."""
    course = course.some(np.flatnonzero(course.prefixes.lengths() > 1))
    none, first = course.tokens[:, :0], course.u_time[:, :1]
    if len(none) < 20:
        return
    for hours in GUARDS:
        before, after = (
            driver.walk(Course(at_minutes(course.prefixes, minutes), none, first))
            for minutes in (hours * 60 - 5, hours * 60 + 5)
        )
        ended, still = after.proposed[:, 0, END] > SURE, before.proposed[:, 0, END] <= SURE
        if ended.mean() > SURE and still.mean() > 0.5:
            findings.add(
                "cap",
                "fail",
                f"END becomes certain at {hours} hours in {int((ended & still).sum())} of "
                f"{len(ended)} rows: a private stop",
            )
            return
