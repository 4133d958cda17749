"""`edsim check` of a rollouts table: what its rows alone can tell."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from edsim.conformance.copied import check_copied
from edsim.conformance.launching import Scene
from edsim.conformance.recorded_rule import check_recorded_rule, read_rule
from edsim.conformance.repeats import unlike
from edsim.conformance.table import check_rows, check_units
from edsim.conformance.verdicts import CHECKS, NEEDS_THE_SIMULATOR, Findings, Verdict
from edsim.tables.facts import VocabularyFacts
from edsim.tables.rollouts import Rollouts
from edsim.tables.visits import Launches, Visits

MOST_PAIRS = 2_000
"""Draws that are compared with the next; one pair that differs is enough."""


def check_rollouts(
    rollouts: Rollouts,
    visits: Visits,
    facts: VocabularyFacts,
    expected_launches: Launches | None = None,
) -> list[Verdict]:
    """Every check of a table, one verdict each, in the order of CHECKS.

    Without `expected_launches` the table's own launches are taken: each must then hold all draws,
    and a warning says that a missing launch would not be seen.
    """
    findings = Findings()
    _check_launches(findings, rollouts, expected_launches)
    outside = _outside(rollouts, len(facts.tokens))
    findings.judge("shapes", bool(outside), outside, f"{len(rollouts)} rows are well formed")
    if not outside:
        # where a table repeats launches, `Scene` still compares row with row
        scene = Scene.of(visits, rollouts.launches)
        check_rows(findings, rollouts.generated, scene.prefixes, rollouts.header.cap)
        check_units(findings, rollouts.generated, scene)
        check_recorded_rule(findings, rollouts, scene.prefixes, facts)
        _check_draws(findings, rollouts)
    if rollouts.header.privileged:
        findings.skip("no look at the future", "shares unseen state with the truth on purpose")
    elif not outside:
        first = np.flatnonzero(rollouts.draw == 0)
        scene = Scene.of(visits, rollouts.launches[first])
        check_copied(findings, rollouts.generated.take(first), scene, rollouts.header.cap)
    for name in CHECKS:
        findings.skip(name, NEEDS_THE_SIMULATOR)
    return findings.verdicts()


def _check_launches(findings: Findings, rollouts: Rollouts, expected: Launches | None) -> None:
    """Every launch once with every draw from 0 on, and no launch besides."""
    draws = rollouts.header.draws
    rows = _names(rollouts.launches, rollouts.draw)
    distinct = np.unique(rows)
    asked_for = rollouts.launches if expected is None else expected
    wanted = np.unique(_names(asked_for, np.zeros(len(asked_for), dtype=np.int64)))
    promised = (wanted[:, None] + np.arange(draws)).ravel()
    twice = len(rows) - len(distinct)
    missing = len(np.setdiff1d(promised, distinct, assume_unique=True))
    strange = len(np.setdiff1d(distinct, promised, assume_unique=True))
    findings.judge(
        "launches",
        twice + missing + strange,
        f"of {len(promised)} rows expected ({len(wanted)} launches, {draws} draws each) {missing} "
        f"are missing, {twice} are there twice, and {strange} others are there",
        f"{len(wanted)} launches are there once with each of {draws} draws",
    )
    if expected is None:
        findings.add(
            "launches",
            "warning",
            f"{len(wanted)} launches are no launch set of the cohort, so one that is missing would "
            "not be seen: name the set they should be with --launches",
        )


def _names(launches: Launches, draw: NDArray[np.integer]) -> NDArray[np.int64]:
    """One number for each launch and draw, draws next to each other."""
    row, length = launches.astype(np.int64).T
    return np.asarray((row << 32) + (length << 16) + draw)


def _outside(rollouts: Rollouts, n_tokens: int) -> str:
    generated = rollouts.generated
    if (generated.lengths() < 1).any():
        n = int((generated.lengths() < 1).sum())
        return f"{n} of {len(rollouts)} rows hold no event"
    outside = int(((generated.tokens < 0) | (generated.tokens >= n_tokens)).sum())
    return (
        f"{outside} of {len(generated.tokens)} tokens are outside the vocabulary of {n_tokens}"
        if outside
        else ""
    )


def _check_draws(findings: Findings, rollouts: Rollouts) -> None:
    """Not every launch has the same suffix in all its draws."""
    if rollouts.header.draws < 2:
        findings.skip("draws", "the table holds one draw a launch")
        return
    names = _names(rollouts.launches, rollouts.draw)
    order = np.argsort(names, kind="stable")
    same_launch = names[order][1:] >> 16 == names[order][:-1] >> 16
    pairs = np.flatnonzero(same_launch)[:MOST_PAIRS]
    first, second = (rollouts.generated.take(order[pairs + i]) for i in (0, 1))
    different = int(unlike(first, second).sum())
    if not different and "greedy" in (read_rule(rollouts.header.rule) or {}):
        findings.skip("draws", "greedy leaves nothing to chance where times have none")
        return
    findings.judge(
        "draws",
        len(pairs) > 0 and different == 0,
        f"all {rollouts.header.draws} draws are the same in every launch",
        f"{different} of {len(pairs)} draws differ from the draw before",
    )
