"""`edsim check` of a Simulator: its four calls by themselves, then the loop around it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, cast

import numpy as np
import torch

from edsim.conformance.launching import N_LAUNCHES, Scene, choose_launches
from edsim.conformance.loop import Loop, RollOut, RollOutFast
from edsim.conformance.model import check_model
from edsim.conformance.probe import Probe
from edsim.conformance.repeats import SEED, NoRollout, Repeats
from edsim.conformance.rules import TRIED, name_of
from edsim.conformance.seen import Seen, check_rule, check_seen, shares_chance, watch
from edsim.conformance.table import check_units
from edsim.conformance.time_chance import check_time_chance
from edsim.conformance.verdicts import CHECKS, Findings, Verdict
from edsim.errors import raised
from edsim.models.protocol import Simulator
from edsim.rollout.decoding import BoundRule, parse_rule
from edsim.rollout.engine import roll_out as the_loop
from edsim.rollout.slots import roll_out_fast as the_fast_loop
from edsim.rollout.threads import one_thread
from edsim.tables.facts import VocabularyFacts
from edsim.tables.visits import Launches, Visits

State = TypeVar("State")
Make = Callable[[], Simulator[Any]] | Simulator[Any]

PROBE = "the probe"
PROBE_CAP = 64
"""Events: at an hour each, more than two days pass in most rows."""
RULE_CAP = 16
"""Events a rule is watched for."""


def check_simulator(
    make: Make,
    visits: Visits,
    facts: VocabularyFacts,
    *,
    cap: int,
    rules: Sequence[str] | Mapping[str, BoundRule] = TRIED,
    roll_out: RollOut = the_loop,
    roll_out_fast: RollOutFast | None = None,
    launches: Launches | None = None,
    n_launches: int = N_LAUNCHES,
) -> list[Verdict]:
    """Every check of a simulator, one verdict each, in the order of CHECKS.

    `make` is the simulator, or makes one; where it makes one, the seed is also tried on another
    instance. `rules` are the texts of single rules, or bound rules by such texts. `roll_out` is the
    loop to certify with it, and `roll_out_fast` a form of it that has to give the same in slots of
    any size; by default both are the project's own.
    """
    if launches is None:
        launches = choose_launches(visits, n_launches)
    if roll_out_fast is None and roll_out is the_loop:
        roll_out_fast = the_fast_loop
    scene = Scene.of(visits, launches)
    loop = Loop(roll_out, roll_out_fast, facts, scene, _bound(rules, facts))
    findings = Findings()
    with torch.no_grad(), one_thread():  # a few hundred rows are done sooner than threads are woken
        _check_all(findings, make, loop, cap)
    return findings.verdicts()


def _check_all(findings: Findings, make: Make, loop: Loop, cap: int) -> None:
    shared = _check_with_probe(findings, loop)
    try:
        model = _made(make)
    except (Exception, SystemExit) as error:
        findings.add("calls", "fail", f"making the simulator {raised(error)}")
        return
    if check_model(findings, model, loop.scene, len(loop.facts.tokens), cap):
        _check_rolled_out(findings, loop, make, model, cap, shared)


def _check_with_probe(findings: Findings, loop: Loop) -> bool:
    """The loop around the probe; whether it uses the shared chance."""
    findings = findings.about(PROBE)
    probe = Probe(len(loop.facts.tokens))
    seen = watch(findings, loop, probe, "vanilla", PROBE_CAP)
    if seen is None or not check_seen(findings, loop, seen):
        return True
    shared = shares_chance(loop, seen)
    check_rule(findings, loop, seen, shared)
    check_time_chance(findings, seen.record, loop.prefixes, SEED, shared)
    n = len(seen.rows.tokens)
    findings.add(
        "common chance",
        "pass" if shared else "warning",
        f"{n} draws come out again from seed, stay, prefix length, draw and step"
        if shared
        else f"{n} draws use another chance: producers do not meet the same random numbers",
    )
    _check_rules(findings, loop, probe, RULE_CAP, shared, PROBE)
    try:
        _repeats(findings, loop, probe, seen, certain=False).check()
    except NoRollout as error:
        findings.add("calls", "fail", str(error))
    return shared


def _check_rolled_out(
    findings: Findings,
    loop: Loop,
    make: Make,
    model: Simulator[Any],
    cap: int,
    shared: bool,
) -> None:
    seen = watch(findings, loop, model, "vanilla", cap)
    if seen is None:
        return
    check_units(findings, seen.rows, loop.scene)
    if check_seen(findings, loop, seen):
        check_rule(findings, loop, seen, shared)
        check_time_chance(findings, seen.record, loop.prefixes, SEED, shared)
        _check_rules(findings, loop, model, min(cap, RULE_CAP), shared)
    try:
        repeats = _repeats(findings, loop, model, seen, _certain(seen))
        repeats.check()
        repeats.check_seed(loop.of(_made(make)))
    except NoRollout as error:
        findings.add("calls", "fail", str(error))


def _check_rules(
    findings: Findings, loop: Loop, model: Simulator[Any], cap: int, shared: bool, who: str = ""
) -> None:
    for rule in loop.rules:
        if rule == "vanilla":
            continue
        under = findings.about(f"{who} under {rule}".strip())
        seen = watch(under, loop, model, rule, cap)
        if seen is not None and check_seen(under, loop, seen):
            check_rule(under, loop, seen, shared)


def _repeats(
    findings: Findings, loop: Loop, model: Simulator[Any], seen: Seen, certain: bool
) -> Repeats:
    return Repeats(
        findings,
        loop.of(model),
        loop.prefixes,
        seen.cap,
        seen.rows,
        certain,
        in_slots=loop.in_slots(model, seen.cap),
    )


def _bound(
    rules: Sequence[str] | Mapping[str, BoundRule], facts: VocabularyFacts
) -> dict[str, BoundRule]:
    if isinstance(rules, Mapping):
        bound = dict(rules)
    else:
        bound = {text: parse_rule(text).bind(facts) for text in rules}
    unknown = [text for text in bound if f"rule {name_of(text)}" not in CHECKS]
    assert not unknown, f"no second statement of the rules {unknown}"
    return {"vanilla": parse_rule("vanilla").bind(facts)} | bound


def _certain(seen: Seen) -> bool:
    """Whether chance cannot have changed the events."""
    return bool(np.all(seen.record.proposed.max(axis=1) > 1 - 1e-6))


def _made(make: Make) -> Simulator[Any]:
    if isinstance(make, type) or not hasattr(make, "propose"):
        return cast("Callable[[], Simulator[Any]]", make)()
    return cast("Simulator[Any]", make)
