"""Is the chance that a loop hands out for times one number a row and step, and nobody else's?

Simulators draw gaps from it, so no draw of the loop shows it; it is read where it passes.
"""

from __future__ import annotations

import numpy as np

from edsim import seeds
from edsim.conformance.drawn import ROUNDING
from edsim.conformance.verdicts import Findings
from edsim.conformance.watched import Record
from edsim.tables.visits import Prefixes

CHECK = "chance of times"
EQUAL = 1e-6
"""Chance may pass in single precision."""
REPEATED = 0.1
"""Share of numbers that may occur again in other rows, where chance is coarse."""
OPEN = 0.9
"""An event less likely than this is not known beforehand."""
MOSTLY = 0.95


def check_time_chance(
    findings: Findings, record: Record, prefixes: Prefixes, seed: int, shared_chance: bool
) -> None:
    """`shared_chance` says that events are drawn with the addressed chance; so must times be."""
    broken = (
        _not_a_chance(record)
        or _another_in_commit(record)
        or _repeated(record)
        or _that_of_the_event(record)
        or (_not_as_addressed(record, prefixes, seed) if shared_chance else "")
    )
    n = len(record.tokens)
    whose = "those of seed, stay, prefix length, draw and step" if shared_chance else "all its own"
    findings.judge(
        CHECK, bool(broken), broken, f"{n} numbers, the same in both calls of a step, are {whose}"
    )


def _not_a_chance(record: Record) -> str:
    bad = sum(int((~((u >= 0) & (u < 1))).sum()) for u in (record.u_propose, record.u_commit))
    n = 2 * len(record.tokens)
    return f"{bad} of {n} numbers are not in [0, 1), one a row" if bad else ""


def _another_in_commit(record: Record) -> str:
    n, other = len(record.tokens), int((record.u_propose != record.u_commit).sum())
    said = f"at {other} of {n} events `commit` is given another number than `propose`"
    return f"{said}: the event would be drawn for one time and the gap for another" if other else ""


def _repeated(record: Record) -> str:
    """The same number in every row, or in a row at every step."""
    u, rows = record.u_propose, record.rows
    first = u[record.steps == 0]
    if len(first) - len(np.unique(first)) > max(1, REPEATED * len(first)):
        return f"{len(first)} rows are given {len(np.unique(first))} different numbers at a step"
    same_row = rows[1:] == rows[:-1]
    again = int((u[1:] == u[:-1])[same_row].sum())
    if again > max(1, REPEATED * same_row.sum()):
        return f"{again} of {int(same_row.sum())} events are given the number of the step before"
    return ""


def _that_of_the_event(record: Record) -> str:
    """Whether drawing with the chance of the time gives the events."""
    is_open = record.proposed.max(axis=1) < OPEN
    sums = record.proposed[is_open].cumsum(axis=1)
    drawn = (sums <= record.u_propose[is_open, None] * sums[:, -1:]).sum(axis=1)
    n, same = len(drawn), int((drawn == record.tokens[is_open]).sum())
    if n < 20 or same <= MOSTLY * n:
        return ""
    return f"{same} of {n} events are drawn with the chance of their times: they hang together"


def _not_as_addressed(record: Record, prefixes: Prefixes, seed: int) -> str:
    keys = prefixes.keys(seed)[record.rows]
    wanted = seeds.uniform(seeds.step_keys(keys, record.steps, seeds.TIME))
    n, other = len(wanted), int((np.abs(wanted - record.u_propose) > EQUAL).sum())
    if other <= ROUNDING * n:
        return ""
    return (
        f"{other} of {n} numbers are not those of seed, stay, prefix length, draw and step, "
        "although the events' are"
    )
