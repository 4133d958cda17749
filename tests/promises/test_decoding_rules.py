"""What every decoding rule promises: it can be read back, is deterministic, does something, and
never leaves a row without a possible event."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from edsim.errors import BadInputError
from edsim.rollout.decoding import RULES, BoundRule, Rule, parse_rule
from edsim.rollout.engine import roll_out
from edsim.rollout.history import History
from edsim.tables.facts import VocabularyFacts
from edsim.tables.visits import END, Prefixes
from rollout.simulators import Table, facts_of, launches_of, random_visits, visits_of

N = 6
EXAMPLES = {
    "vanilla": "vanilla",
    "process_mask": "process_mask",
    "repetition_penalty": "repetition_penalty=1.75",
    "self_loop_cap": "self_loop_cap=3",
    "temperature": "temperature=0.7",
    "top_k": "top_k=2",
    "top_p": "top_p=0.9",
    "greedy": "greedy",
}
"""One way of asking for each rule. A new rule needs its line here."""

SKEWED = torch.tensor([0.02, 0.05, 0.5, 0.3, 0.1, 0.03], dtype=torch.float64).log()


def skewed_facts() -> VocabularyFacts:
    """Event 3 was followed by 1, 2, 4 and END; nothing followed event 5."""
    transitions = np.zeros((N, N), np.int64)
    transitions[3, [END, 1, 2, 4]] = 1
    transitions[[1, 2, 4]] = 1
    return facts_of(N, transitions)


def history_of(*rows: list[int]) -> History:
    tokens = np.concatenate([np.array(row, np.int16) for row in rows])
    prefixes = Prefixes(
        tokens=tokens,
        minutes=np.zeros(len(tokens), np.float32),
        offsets=np.cumsum([0, *map(len, rows)]).astype(np.int64),
        stay_rows=np.arange(len(rows), dtype=np.int32),
    )
    return History.of(prefixes, N, torch.device("cpu"))


def applied(text: str, history: History, log_probs: Tensor | None = None) -> Tensor:
    """Probabilities after the rule, for skewed proposals where no others are given."""
    rows = SKEWED.expand(len(history.last), N) if log_probs is None else log_probs
    return bound(text).probabilities(rows, history)


def bound(text: str) -> BoundRule:
    return parse_rule(text).bind(skewed_facts())


def test_every_rule_has_an_example() -> None:
    assert EXAMPLES.keys() == RULES.keys()


@pytest.mark.parametrize("name", RULES)
def test_a_rule_is_recorded_as_it_was_applied_and_can_be_read_back(name: str) -> None:
    rule = bound(EXAMPLES[name])
    assert str(rule) == EXAMPLES[name]
    assert parse_rule(str(rule)) == rule.rule
    value = EXAMPLES[name].partition("=")[2]
    assert rule.settings() == {name: float(value) if value else True}
    assert json.loads(json.dumps(rule.settings())) == rule.settings()


@pytest.mark.parametrize("name", RULES)
def test_a_rule_gives_the_same_answer_twice_and_leaves_its_input_alone(name: str) -> None:
    history = history_of([3, 3, 3], [1, 2], [5])
    proposed = SKEWED.repeat(3, 1)
    seen = history.seen.clone()
    once, again = (applied(EXAMPLES[name], history, proposed) for _ in range(2))
    assert (once == again).all()
    assert (proposed == SKEWED).all() and (history.seen == seen).all()


@pytest.mark.parametrize("name", RULES)
def test_every_rule_but_vanilla_changes_a_skewed_distribution(name: str) -> None:
    changed = not torch.allclose(applied(EXAMPLES[name], history_of([3, 3, 3])), SKEWED.exp())
    assert changed == (name != "vanilla")


@pytest.mark.parametrize("name", RULES)
def test_every_rule_but_vanilla_changes_rollouts(name: str) -> None:
    visits = random_visits(60, n_tokens=N)
    prefixes = visits.prefixes(launches_of(visits))
    facts = skewed_facts()
    plain = roll_out(Table(N), prefixes, rule=parse_rule("vanilla").bind(facts), cap=12, seed=0)
    ruled = roll_out(
        Table(N), prefixes, rule=parse_rule(EXAMPLES[name]).bind(facts), cap=12, seed=0
    )
    if name == "vanilla":
        assert plain.tokens.tolist() == ruled.tokens.tolist()
    else:
        assert plain.tokens.tolist() != ruled.tokens.tolist()


logits = st.lists(st.one_of(st.floats(-700, 700), st.just(-np.inf)), min_size=N, max_size=N).filter(
    lambda row: max(row) > -np.inf
)
past = st.lists(st.integers(1, N - 1), min_size=1, max_size=12)
parts = st.sampled_from(
    [
        ["process_mask"],
        ["repetition_penalty=1", "repetition_penalty=1.75", "repetition_penalty=1e+308"],
        ["self_loop_cap=1", "self_loop_cap=4"],
        ["temperature=0.01", "temperature=3", "temperature=1e-300"],
        ["top_k=1", "top_k=3", "top_k=1000"],
        ["top_p=1e-09", "top_p=0.5", "top_p=1"],
        ["greedy"],
    ]
).flatmap(st.sampled_from)
rules = st.lists(parts, min_size=1, max_size=5, unique_by=lambda text: text.partition("=")[0])


@settings(max_examples=300, deadline=None)
@given(row=logits, events=past, texts=rules)
def test_some_event_is_always_possible_and_only_possible_ones_are(
    row: list[float], events: list[int], texts: list[str]
) -> None:
    proposed = torch.tensor([row], dtype=torch.float64)
    after = applied("+".join(texts), history_of(events), proposed)[0]
    assert after.sum().item() == pytest.approx(1)
    possible = proposed[0] > -torch.inf
    possible[END] = True  # where a rule bars everything, the visit ends
    assert (after[~possible] == 0).all()


@settings(max_examples=100, deadline=None)
@given(
    texts=st.permutations(
        ["process_mask", "temperature=0.5", "top_k=3", "greedy", "self_loop_cap=2"]
    )
)
def test_the_order_of_writing_does_not_matter(texts: list[str]) -> None:
    rule = parse_rule("+".join(texts))
    assert str(rule) == "process_mask+self_loop_cap=2+temperature=0.5+top_k=3+greedy"


def test_the_process_mask_forbids_what_training_never_showed() -> None:
    after = applied("process_mask", history_of([2, 3], [1]))
    assert after[0].tolist() == pytest.approx(
        [0.02 / 0.67, 0.05 / 0.67, 0.5 / 0.67, 0, 0.1 / 0.67, 0]
    )
    assert torch.allclose(after[1], SKEWED.exp())


def test_the_visit_ends_where_the_process_mask_leaves_nothing() -> None:
    assert applied("process_mask", history_of([5])).tolist() == [[1, 0, 0, 0, 0, 0]]
    only_five = torch.full((1, N), -torch.inf, dtype=torch.float64)
    only_five[0, 5] = 0
    assert applied("process_mask", history_of([3]), only_five).tolist() == [[1, 0, 0, 0, 0, 0]]


def test_the_repetition_penalty_multiplies_log_probabilities_of_what_has_been() -> None:
    after = applied("repetition_penalty=2", history_of([3, 2, 3]))[0]
    weights = SKEWED.exp()
    weights[[2, 3]] **= 2
    assert torch.allclose(after, weights / weights.sum())


def test_the_repetition_penalty_sees_generated_events_and_spares_end() -> None:
    history = history_of([1]).after(torch.tensor([4])).after(torch.tensor([END]))
    after = applied("repetition_penalty=2", history)[0]
    weights = SKEWED.exp()
    weights[[1, 4]] **= 2
    assert torch.allclose(after, weights / weights.sum())


def test_the_self_loop_cap_bars_an_event_after_m_in_a_row() -> None:
    after = applied("self_loop_cap=2", history_of([2, 2], [2, 1, 2], [2, 2, 2, 3]))
    assert after[0, 2] == 0 and torch.allclose(
        after[0] * 0.5, SKEWED.exp().index_fill(0, torch.tensor(2), 0)
    )
    assert torch.allclose(after[1:], SKEWED.exp().expand(2, N))


def test_a_run_is_counted_across_the_launch() -> None:
    history = history_of([4, 2]).after(torch.tensor([2]))
    assert history.run.tolist() == [2]
    assert applied("self_loop_cap=2", history)[0, 2] == 0
    assert applied("self_loop_cap=2", history.after(torch.tensor([3])))[0, 2] > 0


def test_temperature_divides_log_probabilities() -> None:
    after = applied("temperature=0.5", history_of([1]))[0]
    assert torch.allclose(after, SKEWED.exp() ** 2 / (SKEWED.exp() ** 2).sum())


def test_top_k_keeps_exactly_k_and_breaks_ties_by_number() -> None:
    assert (applied("top_k=2", history_of([1]))[0] > 0).tolist() == [
        False,
        False,
        True,
        True,
        False,
        False,
    ]
    ties = torch.zeros(1, N, dtype=torch.float64)
    assert applied("top_k=2", history_of([1]), ties).tolist() == [[0.5, 0.5, 0, 0, 0, 0]]
    assert applied("greedy", history_of([1]), ties).tolist() == [[1, 0, 0, 0, 0, 0]]


@pytest.mark.parametrize(
    ("p", "kept"), [(0.4, 1), (0.6, 2), (0.8, 3), (0.9, 4), (0.96, 5), (0.98, 6)]
)
def test_top_p_keeps_the_fewest_events_that_reach_p(p: float, kept: int) -> None:
    halves = torch.tensor(
        [[1 / 32, 1 / 16, 1 / 2, 1 / 4, 1 / 8, 1 / 32]], dtype=torch.float64
    ).log()
    after = applied(f"top_p={p}", history_of([1]), halves)[0]
    assert after.nonzero()[:, 0].tolist() == sorted([2, 3, 4, 1, 0, 5][:kept])


def test_a_history_is_what_was_observed() -> None:
    history = history_of([3, 3, 1], [2], [4, 4, 4, 4])
    assert history.last.tolist() == [1, 2, 4]
    assert history.run.tolist() == [1, 1, 4]
    assert [row.nonzero()[:, 0].tolist() for row in history.seen] == [[1, 3], [2], [4]]


def test_rows_that_touch_do_not_share_a_run() -> None:
    assert history_of([3, 3], [3], [3, 3]).run.tolist() == [2, 1, 2]
    visits = visits_of([3, 3], [3])
    prefixes = visits.prefixes(np.array([[0, 2], [1, 1]], np.int32))
    assert History.of(prefixes, N, torch.device("cpu")).run.tolist() == [2, 1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("temprature=0.7", "no decoding rule 'temprature'.* mean 'temperature'"),
        ("nonsense", "no decoding rule 'nonsense'. There are vanilla, process_mask"),
        ("", "no decoding rule ''"),
        ("greedy+", "no decoding rule ''"),
        ("temperature", "needs a value: temperature=..."),
        ("greedy=1", "takes no value"),
        ("temperature=", "needs a number"),
        ("temperature=warm", "needs a number"),
        ("temperature=0", "above 0 .*greedy"),
        ("temperature=-1", "above 0"),
        ("temperature=nan", "above 0"),
        ("temperature=inf", "above 0"),
        ("top_k=0", "whole number from 1 on"),
        ("top_k=2.5", "needs a whole number"),
        ("top_p=0", "above 0 and at most 1"),
        ("top_p=1.1", "above 0 and at most 1"),
        ("repetition_penalty=0.5", "at least 1"),
        ("repetition_penalty=inf", "at least 1"),
        ("self_loop_cap=0", "whole number from 1 on"),
        ("top_k=2+top_k=3", "'top_k' is asked for twice"),
        ("vanilla+greedy", "stands alone"),
    ],
)
def test_a_rule_that_cannot_be_is_refused(text: str, message: str) -> None:
    with pytest.raises(BadInputError, match=message):
        parse_rule(text)


def test_spaces_and_hyphens_are_forgiven() -> None:
    assert str(parse_rule(" top-k = 4 + process-mask ")) == "process_mask+top_k=4"


@given(value=st.floats(1e-300, 1e300))
def test_any_number_survives_being_written_down(value: float) -> None:
    rule = parse_rule(f"temperature={value!r}")
    assert parse_rule(str(rule)) == rule
    assert isinstance(rule, Rule)
