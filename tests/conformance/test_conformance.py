"""Every planted defect is found by the check that names it, and what is healthy passes all."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from mutants import MUTANTS
from private_loop import LOOP_MUTANTS, PrivateLoop
from ward import CAP, N_TOKENS, Clockwork, Recurrent, TimeFirst, Ward, WithParameters, facts, visits

from edsim.conformance.launching import take
from edsim.conformance.rules import STATEMENTS, TRIED, Past, stated
from edsim.conformance.simulator import check_simulator
from edsim.conformance.verdicts import CHECKS, Findings, Verdict
from edsim.models.blend import Blend
from edsim.models.counts import fit, fit_semi_markov
from edsim.models.protocol import Simulator
from edsim.rollout.decoding import RULES, parse_rule
from edsim.rollout.history import History
from edsim.rollout.slots import roll_out_fast
from edsim.tables.visits import Launches, Prefixes, Suffixes, Visits

DOCS = Path(__file__).parents[2] / "docs" / "check.md"


def verdicts_of(make: Any, **settings: Any) -> list[Verdict]:
    return check_simulator(make, visits(), facts(), cap=CAP, n_launches=150, **settings)


def problems(verdicts: list[Verdict]) -> dict[str, str]:
    """What did not pass, with its sentence."""
    return {
        verdict.name: verdict.sentence
        for verdict in verdicts
        if verdict.outcome in ("fail", "warning")
    }


HEALTHY = {
    "a class": Ward,
    "an instance": Ward(),
    "clockwork": Clockwork,
    "a network": Recurrent,
    "parameters": WithParameters,
    "time before event": TimeFirst,
    "order 3": lambda: fit(visits().part("train"), N_TOKENS, 3),
    "marginal": lambda: fit(visits().part("train"), N_TOKENS, 0),
    "a blend": lambda: Blend(Ward(), fit(visits().part("train"), N_TOKENS, 3), 0.25),
    "semi-Markov": lambda: fit_semi_markov(visits().part("train"), N_TOKENS),
}


@pytest.mark.parametrize("kind", HEALTHY)
def test_a_healthy_simulator_passes_every_check(kind: str) -> None:
    verdicts = verdicts_of(HEALTHY[kind])
    assert problems(verdicts) == {}
    assert [verdict.name for verdict in verdicts] == list(CHECKS)
    assert {verdict.outcome for verdict in verdicts} == {"pass"}


def test_a_healthy_loop_of_ones_own_passes_every_check() -> None:
    assert problems(verdicts_of(Ward, roll_out=PrivateLoop())) == {}


@pytest.mark.parametrize("n", [1, 3])
def test_a_few_stays_are_enough_to_run(n: int) -> None:
    verdicts = check_simulator(Ward, visits(), facts(), cap=CAP, n_launches=n)
    assert "fail" not in {verdict.outcome for verdict in verdicts}


def test_a_loop_may_batch_by_length() -> None:
    def by_length(model: Simulator[Any], prefixes: Prefixes, **settings: Any) -> Suffixes:
        order = np.argsort(prefixes.lengths(), kind="stable")
        rows = [
            PrivateLoop()(model, take(prefixes, part), **settings)
            for part in np.array_split(order, 3)
            if len(part)
        ]
        draws = settings.get("draws", 1)
        place = np.argsort(order)[:, None] * draws + np.arange(draws)
        return Suffixes.join(rows).take(place.ravel())

    assert problems(verdicts_of(Ward, roll_out=by_length)) == {}


def test_a_loop_with_another_chance_is_only_warned() -> None:
    """A generator for every row and step is sound, but no other producer can share it."""
    found = verdicts_of(Ward, roll_out=PrivateLoop("another chance for every row"))
    assert problems(found).keys() == {"common chance"}


def name_of(mutant: Any) -> str:
    if isinstance(mutant, partial):
        return f"{mutant.func.__name__}-{mutant.args[0]}"
    return str(mutant.__name__)


@pytest.mark.parametrize("mutant", MUTANTS, ids=name_of)
def test_a_broken_simulator_is_found(mutant: Callable[[], Simulator[Any]]) -> None:
    found = problems(verdicts_of(mutant, rules=()))
    assert MUTANTS[mutant] in found
    assert "s0003" not in " ".join(found.values())


@pytest.mark.parametrize("defect", LOOP_MUTANTS)
def test_a_broken_loop_is_found(defect: str) -> None:
    assert LOOP_MUTANTS[defect] in problems(verdicts_of(Ward, roll_out=PrivateLoop(defect)))


def test_a_fast_loop_that_mixes_up_its_slots_is_found() -> None:
    def turned(
        model: Simulator[Any], visits: Visits, launches: Launches, **settings: Any
    ) -> Suffixes:
        rows = roll_out_fast(model, visits, launches, **settings)
        return rows.take(np.roll(np.arange(len(rows)), settings["slots"] < len(rows)))

    assert "batches" in problems(verdicts_of(Ward, rules=(), roll_out_fast=turned))


def test_after_unusable_answers_nothing_is_said_to_pass_that_was_not_seen() -> None:
    broken = next(mutant for mutant in MUTANTS if name_of(mutant) == "RaisesWhenRowsAreDropped")
    outcome = {verdict.name: verdict.outcome for verdict in verdicts_of(broken, rules=())}
    assert outcome["calls"] == "fail"
    assert outcome["clock units"] == "not applicable"


def test_the_threads_of_torch_are_as_before() -> None:
    before = torch.get_num_threads()
    verdicts_of(Ward, rules=())
    assert torch.get_num_threads() == before


def test_every_rule_of_the_loop_is_stated_a_second_time() -> None:
    assert set(RULES) == set(STATEMENTS)


@pytest.mark.parametrize(
    "text",
    [*TRIED, "temperature=1.7", "top_k=1", "top_p=0.3", "repetition_penalty=4", "self_loop_cap=3"],
)
def test_both_statements_of_a_rule_agree(text: str) -> None:
    rng = np.random.default_rng(3)
    proposed = rng.dirichlet(np.full(N_TOKENS, 0.3), 400)
    proposed[rng.random(proposed.shape) < 0.2] = 0
    proposed = proposed[proposed.sum(axis=1) > 0]
    proposed /= proposed.sum(axis=1, keepdims=True)
    n = len(proposed)
    past = Past(
        rng.integers(1, N_TOKENS, n), rng.integers(1, 5, n), rng.random((n, N_TOKENS)) < 0.4
    )
    left, clear = stated(text, proposed, past, facts())
    history = History(*(torch.from_numpy(part) for part in (past.last, past.run, past.seen)))
    rule = parse_rule(text).bind(facts())
    applied = rule.probabilities(torch.from_numpy(proposed).log(), history).numpy()
    assert clear.mean() > 0.9
    np.testing.assert_allclose(left[clear], applied[clear], atol=1e-9)


def test_the_worst_finding_is_the_verdict() -> None:
    findings = Findings()
    findings.add("cap", "pass", "as it should be")
    findings.add("cap", "fail", "3 of 4 rows are too long")
    findings.skip("cap", "not looked at")
    verdict = next(verdict for verdict in findings.verdicts() if verdict.name == "cap")
    assert (verdict.outcome, verdict.sentence) == ("fail", "3 of 4 rows are too long")


def test_the_page_names_every_check() -> None:
    page = DOCS.read_text()
    missing = [name for name in CHECKS if f"| `{name}` |" not in page]
    assert not missing
