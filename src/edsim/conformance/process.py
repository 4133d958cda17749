"""`edsim check` of a Process: what it returns, and what changes when it is called otherwise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from edsim.conformance.copied import check_copied
from edsim.conformance.launching import (
    N_LAUNCHES,
    Scene,
    altered_after,
    choose_launches,
    in_turn,
    take,
    whole_stays,
)
from edsim.conformance.repeats import SEED, NoRollout, Repeats, Run, unlike
from edsim.conformance.table import check_rows, check_units
from edsim.conformance.verdicts import CHECKS, NEEDS_THE_SIMULATOR, Findings, Verdict
from edsim.errors import EdsimError, raised
from edsim.models.protocol import Process
from edsim.tables.facts import VocabularyFacts
from edsim.tables.visits import Launches, Prefixes, Suffixes, Visits

PRIVILEGED = "shares unseen state with the truth on purpose, as a floor does"


def check_process(
    process: Process,
    visits: Visits,
    facts: VocabularyFacts,
    *,
    cap: int,
    launches: Launches | None = None,
    n_launches: int = N_LAUNCHES,
) -> list[Verdict]:
    """Every check of a process, one verdict each, in the order of CHECKS.

    A process with `privileged = True` may look at the future. `launches`, one a stay, are those the
    process can continue where it cannot continue any.
    """
    findings = Findings()
    if launches is None:
        launches = choose_launches(visits, n_launches)
    scene = Scene.of(visits, launches)
    run = _runner(process, len(facts.tokens))
    try:
        _check(findings, process, run, scene, cap, len(facts.tokens))
    except NoRollout as error:
        findings.add("shapes" if error.shape else "calls", "fail", str(error))
        for name in CHECKS:
            findings.skip(name, "the process returned nothing that can be looked at")
    for name in CHECKS:
        findings.skip(name, NEEDS_THE_SIMULATOR)
    return findings.verdicts()


def _check(
    findings: Findings, process: Process, run: Run, scene: Scene, cap: int, n_tokens: int
) -> None:
    base = run(scene.prefixes, cap=cap)
    n = len(scene.prefixes)
    said = f"{len(base)} rows for {n} launches"
    findings.judge("launches", len(base) != n, said, said)
    findings.add("calls", "pass", f"the process returned {said}")
    findings.add("shapes", "pass", f"tokens, minutes and offsets of {len(base)} rows fit together")
    if len(base) != n:
        return
    check_rows(findings, base, scene.prefixes, cap)
    check_units(findings, base, scene)
    repeats = Repeats(findings, run, scene.prefixes, cap, base, shared_generator=True)
    repeats.check()
    if getattr(process, "privileged", False):
        findings.skip("no look at the future", PRIVILEGED)
    else:
        try:
            _check_future(findings, run, scene, cap, base, n_tokens)
        except NoRollout as error:
            findings.add("no look at the future", "fail", f"{error}, with other rows or futures")
        check_copied(findings, base, scene, cap)


def _check_future(
    findings: Findings, run: Run, scene: Scene, cap: int, base: Suffixes, n_tokens: int
) -> None:
    """Rows keep their ids, and with them their chance; all else that is not known is altered."""
    prefixes, n = scene.prefixes, len(scene.prefixes)
    altered = altered_after(scene.visits, scene.launches, n_tokens)
    launches = np.stack([np.arange(n), prefixes.lengths()], axis=1).astype(np.int32)
    changed = {
        "other rows of the cohort": unlike(run(altered.prefixes(launches), cap=cap), base),
    }
    rows = prefixes.stay_rows.astype(np.int64)
    beside = [
        replace(later, stay_rows=prefixes.stay_rows)
        for later in (whole_stays(scene.visits, rows), whole_stays(altered, np.arange(n)))
    ]
    every_other = np.arange(0, n, 2)
    alone = run(take(prefixes, every_other), cap=cap)
    if not unlike(alone, base.take(every_other)).any():  # else rows share a generator
        first, second = (
            run(in_turn(prefixes, later), cap=cap).take(np.arange(n) * 2) for later in beside
        )
        changed["the whole stay beside it"] = unlike(first, base)
        changed["another future beside it"] = unlike(second, base)
    worst = {what: int(rows.sum()) for what, rows in changed.items() if rows.any()}
    findings.judge(
        "no look at the future",
        len(worst),
        "rows change: " + ", ".join(f"{bad} of {n} with {what}" for what, bad in worst.items()),
        f"{n} rows come out the same with {', '.join(changed)}",
    )


def _runner(process: Process, n_tokens: int) -> Run:
    def run(prefixes: Prefixes, *, cap: int, seed: int = SEED, draws: int = 1) -> Suffixes:
        try:
            rows = process(prefixes, cap=cap, draws=draws, seed=seed)
        except (Exception, SystemExit) as error:
            said = f": {error}" if isinstance(error, EdsimError) else ""
            raise NoRollout(f"the process {raised(error)}{said}") from error
        problem = malformed(rows, n_tokens)
        if problem:
            raise NoRollout(problem, shape=True)
        return rows

    return run


def malformed(rows: object, n_tokens: int) -> str:
    """Why rows are no `Suffixes` of the vocabulary, "" where they are."""
    if not isinstance(rows, Suffixes):
        return f"the process returned {type(rows).__name__} and not Suffixes"
    wrong = [
        f"{name} are {said}"
        for name in ("tokens", "minutes", "offsets")
        if (said := _no_column(getattr(rows, name), whole=name != "minutes"))
    ]
    if wrong:
        return wrong[0]
    offsets = rows.offsets
    if not (len(offsets) and offsets[0] == 0):
        return "offsets do not begin at 0"
    if not (np.diff(offsets) >= 1).all():
        return f"{int((np.diff(offsets) < 1).sum())} of {len(rows)} rows hold no event"
    if not offsets[-1] == len(rows.tokens) == len(rows.minutes):
        return (
            f"offsets end at {int(offsets[-1])}, for {len(rows.tokens)} tokens and "
            f"{len(rows.minutes)} minutes"
        )
    outside = int(((rows.tokens < 0) | (rows.tokens >= n_tokens)).sum())
    return f"{outside} of {len(rows.tokens)} tokens are outside the vocabulary" if outside else ""


def _no_column(values: object, *, whole: bool) -> str:
    """Why values are no array of numbers in one dimension, "" where they are."""
    kind, numbers = (np.integer, "integers") if whole else (np.floating, "floating-point numbers")
    if not isinstance(values, np.ndarray):
        return f"of type {type(values).__name__} and not a numpy array"
    if values.ndim != 1:
        return f"an array of {values.ndim} dimensions and not of one"
    if not np.issubdtype(values.dtype, kind):
        return f"{values.dtype} and not {numbers}"
    return ""
