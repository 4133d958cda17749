"""The decoding rule that a table names, where its rows show that it was not applied. numpy only.

Most rules leave every event possible, or need the proposals: of those rows tell nothing.
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from edsim.conformance.launching import follow
from edsim.conformance.rules import STATEMENTS
from edsim.conformance.verdicts import RULE_NAMES, Findings
from edsim.tables.facts import VocabularyFacts
from edsim.tables.rollouts import Rollouts
from edsim.tables.visits import END, Prefixes, Suffixes

UNKNOWN = "unknown"
"""What a text file that says nothing of itself is taken to say."""
EVENT_BEFORE_TIME = ("median", "sampled", "lattice")
"""Clocks that give the gap after the event, so that no chance of it decides a greedy event."""
TIME_BEFORE_EVENT = "bins"
MOST_PAIRS = 20_000
ROUNDED = 0.01
"""Share of draws that rounding may part where two events are all but equal."""

_PLUS = re.compile(r"(?<![0-9.][eE])\+")  # not that of 1e+16


def check_recorded_rule(
    findings: Findings, rollouts: Rollouts, prefixes: Prefixes, facts: VocabularyFacts
) -> None:
    """`prefixes` has an entry for each row."""
    text = rollouts.header.rule
    if text == UNKNOWN:
        for name in ("nothing by default", *(f"rule {name}" for name in RULE_NAMES)):
            findings.skip(name, "the table does not say which rule was applied")
        return
    rule = read_rule(text)
    if rule is None:
        findings.add(
            "nothing by default",
            "warning",
            "the table names a decoding rule that cannot be read, so that nobody knows what was "
            "applied: write `vanilla`, or the rule as `edsim rollout --rule` takes it",
        )
        return
    if "self_loop_cap" in rule:
        _check_self_loops(findings, rollouts.generated, prefixes, int(rule["self_loop_cap"]))
    if "process_mask" in rule:
        _check_mask(findings, rollouts.generated, prefixes, facts)
    if "greedy" in rule:
        _check_greedy(findings, rollouts)


def read_rule(text: str) -> dict[str, float] | None:
    """Each part of a rule with its setting; None for what is no rule.

    >>> read_rule("process_mask+top_k=3")
    {'process_mask': 0.0, 'top_k': 3.0}
    """
    rule: dict[str, float] = {}
    for part in _PLUS.split(text):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        takes_value = name not in ("vanilla", "greedy", "process_mask")
        if name not in STATEMENTS or name in rule or takes_value != bool(equals):
            return None
        try:
            rule[name] = float(value) if takes_value else 0.0
        except ValueError:
            return None
    least_of_whole = [rule.get(name, 1.0) for name in ("self_loop_cap", "top_k")]
    if any(not (value >= 1 and value == int(value)) for value in least_of_whole):
        return None
    return None if "vanilla" in rule and len(rule) > 1 else rule


def _check_self_loops(findings: Findings, rows: Suffixes, prefixes: Prefixes, most: int) -> None:
    whole = follow(prefixes, rows)
    begins = np.ones(len(whole.tokens), dtype=bool)
    begins[1:] = whole.tokens[1:] != whole.tokens[:-1]
    begins[whole.offsets[:-1]] = True
    place = np.arange(len(whole.tokens))
    run = place - np.maximum.accumulate(np.where(begins, place, 0)) + 1
    over = (run > most) & (whole.tokens != END) & _generated(whole, prefixes)
    _judge(
        findings,
        "self_loop_cap",
        int(over.sum()),
        f"generated events are the same as the {most} before them",
        len(rows.tokens),
    )


def _check_mask(
    findings: Findings, rows: Suffixes, prefixes: Prefixes, facts: VocabularyFacts
) -> None:
    whole = follow(prefixes, rows)
    before = np.concatenate([whole.tokens[:1], whole.tokens[:-1]])
    unseen = facts.transitions[before, whole.tokens] == 0
    unseen &= (whole.tokens != END) & _generated(whole, prefixes)
    _judge(
        findings,
        "process_mask",
        int(unseen.sum()),
        "generated events follow one that they never follow in training",
        len(rows.tokens),
    )


def _check_greedy(findings: Findings, rollouts: Rollouts) -> None:
    """Draws of a launch part where nothing but the event itself can have parted them."""
    order = np.lexsort((rollouts.draw, *rollouts.launches.T[::-1]))
    launches = rollouts.launches[order]
    pairs = np.flatnonzero((launches[1:] == launches[:-1]).all(axis=1))[:MOST_PAIRS]
    first, second = (rollouts.generated.take(order[pairs + i]) for i in (0, 1))
    parted = parting(first, second)
    if not len(pairs):
        return
    certain = rollouts.header.clock in EVENT_BEFORE_TIME
    n_wrong = int(((parted == 1) & certain).sum() + (parted == 2).sum())
    n_odd = 0 if rollouts.header.clock == TIME_BEFORE_EVENT else int((parted == 1).sum())
    said = f"{len(pairs)} draws go on otherwise than another of the launch with the same past"
    if n_wrong > ROUNDED * len(pairs):
        findings.add("rule greedy", "fail", f"{n_wrong} of {said}")
    elif n_odd > ROUNDED * len(pairs):
        findings.add(
            "rule greedy", "warning", f"{n_odd} of {said}: right only if times are drawn first"
        )
    else:
        findings.add("rule greedy", "pass", f"{n_wrong} of {said}")


def parting(first: Suffixes, second: Suffixes) -> NDArray[np.int64]:
    """0 where two rows have the same events or other gaps before the first that differs.

    1 where all gaps before it are the same, and 2 where its own gap is, too.
    """
    kinds = np.zeros(len(first), dtype=np.int64)
    lengths, others = first.lengths(), second.lengths()
    for row in range(len(first)):
        n = int(min(lengths[row], others[row]))
        here, there = (slice(s.offsets[row], s.offsets[row] + n) for s in (first, second))
        other = np.flatnonzero(first.tokens[here] != second.tokens[there])
        if other.size:
            same = first.minutes[here] == second.minutes[there]
            at = int(other[0])
            kinds[row] = 0 if not same[:at].all() else 2 if same[at] else 1
    return kinds


def _generated(whole: Prefixes, prefixes: Prefixes) -> NDArray[np.bool_]:
    """The events of a row that lie behind its prefix."""
    place = np.arange(len(whole.tokens)) - np.repeat(whole.offsets[:-1], whole.lengths())
    return np.asarray(place >= np.repeat(prefixes.lengths(), whole.lengths()))


def _judge(findings: Findings, name: str, n_bad: int, said: str, n: int) -> None:
    findings.judge(f"rule {name}", n_bad, f"{n_bad} of {n} {said}", f"none of {n} {said}")
