"""Checks of a watched rollout: its table beside what the simulator saw and was told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edsim.conformance.drawn import Draws, compare
from edsim.conformance.launching import append, take
from edsim.conformance.loop import Loop
from edsim.conformance.repeats import SEED, NoRollout
from edsim.conformance.rules import name_of
from edsim.conformance.table import check_rows, repeats_prefix
from edsim.conformance.verdicts import Findings
from edsim.conformance.watched import Record, Watched
from edsim.models.protocol import Simulator
from edsim.tables.visits import END, Prefixes, Suffixes


@dataclass(frozen=True, slots=True)
class Seen:
    """A rollout under one rule and what the simulator saw of it."""

    rule: str
    cap: int
    rows: Suffixes
    record: Record
    started: Prefixes
    """What the simulator was started on, in the order of the rows."""
    watched: Watched[Any]


def watch(
    findings: Findings, loop: Loop, model: Simulator[Any], rule: str, cap: int
) -> Seen | None:
    """Roll out under watch; None where nothing comes back that can be compared."""
    watched = Watched(model)
    try:
        rows = loop.of(watched, rule)(loop.prefixes, cap=cap)
    except NoRollout as error:
        name = "proposals" if watched.n_bad_proposals else "gaps" if _bad_gaps(watched) else "calls"
        findings.add(name, "fail", str(error))
        return None
    n = len(loop.prefixes)
    findings.judge(
        "launches",
        len(rows) != n,
        f"{len(rows)} rows for {n} launches",
        f"{n} rows for {n} launches",
    )
    if len(rows) != n:
        return None
    if not watched.n_committed:
        findings.add("events as drawn", "fail", "no event was committed to the simulator")
        return None
    order = watched.order_of(loop.prefixes.stay_rows)
    if order is None:
        n_started = sum(len(prefixes) for prefixes in watched.started)
        said = f"the simulator was started on {n_started} prefixes that are not the {n} asked for"
        findings.add("prefix boundary", "fail", said)
        return None
    started = take(append(watched.started), order)
    return Seen(rule, cap, rows, watched.record(order), started, watched)


def check_seen(findings: Findings, loop: Loop, seen: Seen) -> bool:
    """The table against what the simulator saw; whether the two hold the same events."""
    check_rows(findings, seen.rows, loop.prefixes, seen.cap)
    _check_gaps(findings, seen)
    if not _check_starts(findings, loop, seen):
        return False
    _check_fed_back(findings, seen)
    return _check_as_drawn(findings, loop, seen)


def check_rule(findings: Findings, loop: Loop, seen: Seen, shared_chance: bool) -> None:
    """The events of a rollout were drawn under its rule, at the first step and at the others."""
    draws = Draws.of(seen.record, loop.prefixes, len(loop.facts.tokens), SEED)
    name = "nothing by default" if seen.rule == "vanilla" else f"rule {name_of(seen.rule)}"
    drawn = compare(draws, seen.rule, loop.facts)
    broken = drawn.broken(shared_chance)
    if broken:
        findings.add(name, "fail", broken)
    elif seen.rule == "vanilla":
        findings.add(name, "pass", f"{drawn.n} events were drawn from the proposals as they are")
    elif drawn.n_changed:
        said = f"{drawn.n} events were drawn as it says; it changed {drawn.n_changed} proposals"
        findings.add(name, "pass", said)
    else:
        findings.skip(name, f"it changes none of {drawn.n} events")
    if seen.rule == "vanilla":
        return
    first = compare(draws.some(draws.steps == 0), seen.rule, loop.facts)
    later = compare(draws.some(draws.steps > 0), seen.rule, loop.facts)
    if later.broken(shared_chance) and not first.broken(shared_chance) and first.n_changed:
        findings.add(
            "rules at every step",
            "fail",
            f"kept at the first step, then {later.broken(shared_chance)}",
        )
    elif not broken and drawn.n_changed:
        said = f"kept at {first.n} first and {later.n} later steps"
        findings.add("rules at every step", "pass", said)


def shares_chance(loop: Loop, seen: Seen) -> bool:
    """Whether most vanilla draws of the probe come out again with the shared chance."""
    draws = Draws.of(seen.record, loop.prefixes, len(loop.facts.tokens), SEED)
    drawn = compare(draws, "vanilla", loop.facts)
    return drawn.n_repeated > 0.5 * drawn.n


def _bad_gaps(watched: Watched[Any]) -> bool:
    return any(not (np.isfinite(gaps) & (gaps >= 0)).all() for gaps in watched.gaps)


def _check_gaps(findings: Findings, seen: Seen) -> None:
    watched = seen.watched
    if watched.n_bad_proposals:
        findings.add(
            "proposals",
            "fail",
            f"{watched.n_bad_proposals} of {watched.n_proposed} proposals are no distribution",
        )
    if _bad_gaps(watched):
        findings.add("gaps", "fail", "commit answered gaps that no table may hold")


def _check_starts(findings: Findings, loop: Loop, seen: Seen) -> bool:
    """The simulator was started on exactly the prefixes asked for."""
    started, wanted = seen.started, loop.prefixes
    n, more = len(wanted), started.lengths() - wanted.lengths()
    off = int((more != 0).sum())
    if off:
        kinds = ", ".join(f"{difference:+d}" for difference in np.unique(more)[:4])
        said = f"{off} of {n} rows were started with more or fewer events than asked for ({kinds})"
        findings.add("prefix boundary", "fail", said)
        return False
    tokens = int((started.tokens != wanted.tokens).sum())
    gaps = int((started.minutes != wanted.minutes).sum())
    findings.judge(
        "prefix boundary",
        tokens + gaps,
        f"{tokens} events and {gaps} gaps of the prefixes were altered before the simulator was "
        "started",
        f"{n} rows were started on exactly their prefix",
    )
    return not tokens


def _check_fed_back(findings: Findings, seen: Seen) -> None:
    """The state used for each event has read all events before it."""
    record = seen.record
    late = record.steps > 0
    behind = int((record.events_read[late] != record.steps[late]).sum())
    findings.judge(
        "history",
        behind,
        f"{behind} of {int(late.sum())} events were drawn from a state that had not "
        "read the events before them",
        f"{int(late.sum())} events were drawn from a state that had read all before",
    )


def _check_as_drawn(findings: Findings, loop: Loop, seen: Seen) -> bool:
    rows, record = seen.rows, seen.record
    n = len(rows)
    events, gaps = _differing(rows, record)
    if not events.any() and not gaps.any():
        findings.add("events as drawn", "pass", f"{n} rows hold what was drawn and answered")
        findings.add("order of rows", "pass", f"{n} rows kept their state through the rollout")
        return True
    said = f"{int(events.sum())} of {n} rows hold other events than were drawn"
    if events.any():
        findings.add("events as drawn", "fail", f"{said}")
    stripped = repeats_prefix(rows, loop.prefixes) & events
    if stripped.sum() > 0.5 * n:
        findings.add(
            "prefix boundary", "fail", f"{int(stripped.sum())} of {n} rows hold the prefix too"
        )
    if events.any() and record.n_after_end:
        findings.add(
            "order of rows",
            "fail",
            f"{record.n_after_end} events went to states of rows that had ended, and {said}",
        )
    on_after_end = int((rows.lengths() > record.lengths)[_ended(record)].sum())
    if on_after_end:
        findings.add("END last", "fail", f"{on_after_end} of {n} rows go on after END was drawn")
    if gaps.any():
        _say_gaps(findings, seen, gaps)
    return not events.any()


def _say_gaps(findings: Findings, seen: Seen, gaps: NDArray[np.bool_]) -> None:
    """Which unit the table's gaps may be in, where they are not those the simulator answered."""
    same = seen.rows.lengths() == seen.record.lengths
    inside = np.repeat(same, seen.rows.lengths())
    written = seen.rows.minutes[inside].astype(np.float64)
    answered = seen.record.minutes[np.repeat(same, seen.record.lengths)].astype(np.float64)
    n = f"{int(gaps.sum())} of {len(gaps)} rows hold other gaps than the simulator answered"
    findings.add("events as drawn", "fail", f"{n}")
    for unit, turned in (
        ("hours", answered / 60),
        ("seconds", answered * 60),
        ("log1p of minutes", np.log1p(np.maximum(answered, 0))),
    ):
        if len(written) and np.allclose(written, turned, rtol=1e-3, atol=1e-6):
            findings.add("clock units", "fail", f"the table holds {unit}; {n}")


def _differing(rows: Suffixes, record: Record) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """The rows whose events, and whose gaps, are not those of the record."""
    offsets = record.offsets()
    events = np.zeros(len(rows), dtype=bool)
    gaps = np.zeros(len(rows), dtype=bool)
    for row in range(len(rows)):
        here = slice(rows.offsets[row], rows.offsets[row + 1])
        there = slice(offsets[row], offsets[row + 1])
        events[row] = not np.array_equal(rows.tokens[here], record.tokens[there])
        n = min(here.stop - here.start, there.stop - there.start)
        gaps[row] = not np.array_equal(
            rows.minutes[here][:n].astype(np.float32), record.minutes[there][:n], equal_nan=True
        )
    return events, gaps


def _ended(record: Record) -> NDArray[np.bool_]:
    ended = np.zeros(len(record.lengths), dtype=bool)
    ended[record.rows[record.tokens == END]] = True
    return ended
