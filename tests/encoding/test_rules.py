"""How a rule reads a text, checked one text at a time and against a slow reader."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from slow_reader import slow_fit, slow_match

from edsim.encoding.vocabulary import load
from edsim.encoding.vocabulary.rules import NO_RULE, Condition, Rule, first_match

TEXT = st.text(alphabet="abAB é1%-( ", max_size=8)
VALUE = TEXT.filter(lambda text: any(c.isalnum() for c in text))


def fits(condition: Condition, text: str) -> bool:
    return bool(condition.matches(pl.Series([text]))[0])


@pytest.mark.parametrize(
    ("keyword", "text", "expected"),
    [
        ("aspirin", "Aspirin 81mg TAB", True),
        ("aspirin", "Acetaminophen/ASPIRIN-caffeine", True),
        ("aspirin", "aspirinol", False),
        ("aspirin", "Noaspirin", False),
        ("morphine", "Apomorphine", False),
        ("vancomyc*", "Vancomyci 1000mg/200mL", True),
        ("vancomyc*", "Vancomycin", True),
        ("vancomyc*", "Provancomycin", False),
        ("sodium chloride", "Sodium  Chloride 0.9%", True),
        ("sodium chloride", "Sodium-Chloride", True),
        ("sodium chloride", "Sodium (Na) Chloride", False),
        ("0.9%", "Sodium Chloride 0.9%", True),
        ("b-12", "Vitamin B 12", True),
    ],
)
def test_a_keyword_is_whole_words_in_a_row_and_a_star_lets_the_last_go_on(
    keyword: str, text: str, expected: bool
) -> None:
    assert fits(Condition(keyword=(keyword,)), text) is expected


def test_exact_and_prefix_ignore_case_and_doubled_blanks_but_not_punctuation() -> None:
    assert fits(Condition(exact=("walk in",)), " WALK  IN ")
    assert not fits(Condition(exact=("walk in",)), "WALK-IN")
    assert not fits(Condition(exact=("walk",)), "WALK IN")
    assert fits(Condition(prefix=("ns ",)), "NS 1000 mL")
    assert not fits(Condition(prefix=("ns ",)), "NSAID")
    assert not fits(Condition(prefix=("in",)), "WALK IN")


def test_a_missing_text_fits_only_where_missing_is_asked_for() -> None:
    texts = pl.Series(["4"])
    assert Condition(exact=("4",)).matches(texts).tolist() == [True, False]
    assert Condition(exact=("4",), missing=True).matches(texts).tolist() == [True, True]


KEYWORD = st.builds(lambda v, star: v.rstrip() + star, VALUE, st.sampled_from(["", "*"])).filter(
    lambda v: v.rstrip("*")[-1:].isalnum() or not v.endswith("*")
)
CONDITION = st.builds(
    Condition,
    exact=st.lists(TEXT.filter(str.strip), max_size=2).map(tuple),
    prefix=st.lists(TEXT.filter(str.strip), max_size=2).map(tuple),
    keyword=st.lists(KEYWORD, max_size=2).map(tuple),
    missing=st.booleans(),
)
RULES = st.lists(
    st.dictionaries(st.sampled_from(["activity", "detail", "flag"]), CONDITION).map(
        lambda conditions: Rule(1, conditions)
    ),
    max_size=4,
).map(tuple)
ROWS = st.lists(st.tuples(TEXT, st.none() | TEXT, st.none() | TEXT), max_size=12)


@settings(deadline=None)
@given(RULES, ROWS)
def test_whole_columns_are_matched_as_one_text_after_the_other(
    rules: tuple[Rule, ...], rows: list[tuple[str | None, ...]]
) -> None:
    schema = dict.fromkeys(("activity", "detail", "flag"), pl.String)
    kinds = pl.DataFrame(rows, schema=schema, orient="row")
    assert first_match(rules, kinds).tolist() == [slow_match(rules, row) for row in rows]


@settings(deadline=None)
@given(CONDITION, CONDITION, st.lists(st.none() | TEXT, max_size=20))
def test_a_condition_that_covers_another_fits_whatever_the_other_fits(
    wide: Condition, narrow: Condition, texts: list[str | None]
) -> None:
    if wide.covers(narrow):
        assert all(slow_fit(wide, t) for t in texts if slow_fit(narrow, t))


@pytest.mark.parametrize(
    ("wide", "narrow", "covers"),
    [
        (Condition(prefix=("asp",)), Condition(exact=("Aspirin",)), True),
        (Condition(prefix=("aspirin",)), Condition(exact=("asp",)), False),
        (Condition(prefix=("asp",)), Condition(prefix=("Aspirin",)), True),
        (Condition(prefix=("aspirin",)), Condition(prefix=("asp",)), False),
        (Condition(keyword=("asp*",)), Condition(keyword=("aspirin",)), True),
        (Condition(keyword=("asp*",)), Condition(keyword=("aspirin*",)), True),
        (Condition(keyword=("aspirin",)), Condition(keyword=("aspirin*",)), False),
        (Condition(keyword=("aspirin",)), Condition(keyword=("low aspirin",)), True),
        (Condition(keyword=("aspirin",)), Condition(exact=("Aspirin 81mg",)), True),
        (Condition(keyword=("aspirin",)), Condition(prefix=("aspirin",)), False),
        (Condition(exact=("a",)), Condition(exact=("a",), missing=True), False),
    ],
)
def test_what_hides_what(wide: Condition, narrow: Condition, covers: bool) -> None:
    assert wide.covers(narrow) is covers


def test_categorical_columns_are_read_like_text() -> None:
    rules = (Rule(1, {"activity": Condition(exact=("a",))}), Rule(2, {}, fallback=True))
    text = pl.DataFrame({"activity": ["A", "b", "a"], "detail": [None] * 3, "flag": [None] * 3})
    coded = text.with_columns(pl.col("activity").cast(pl.Categorical))
    assert first_match(rules, text).tolist() == first_match(rules, coded).tolist() == [0, 1, 0]


@pytest.mark.parametrize("name", ["ed7", "ed32"])
def test_no_word_of_a_packaged_vocabulary_is_hidden_behind_another(name: str) -> None:
    hidden = []
    rules = load(name).written.rules
    for number, rule in enumerate(rules):
        for field, condition in rule.conditions.items():
            for word in condition.keyword:
                others = tuple(w for w in condition.keyword if w != word)
                alone = Condition(keyword=(word,))
                single = Rule(rule.token, {**rule.conditions, field: alone})
                if Condition(keyword=others).covers(alone) or any(
                    earlier.covers(single) for earlier in rules[:number]
                ):
                    hidden.append((number + 1, word))
    assert hidden == []


def test_no_rule_is_found_where_nothing_fits() -> None:
    kinds = pl.DataFrame({"activity": ["x"], "detail": [None], "flag": [None]})
    assert first_match((), kinds).tolist() == [NO_RULE]
    assert first_match((), kinds.head(0)).dtype == np.int32
