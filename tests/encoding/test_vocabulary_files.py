"""A vocabulary file that is wrong is refused at the exact place, with what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from edsim.encoding.vocabulary import load, packaged_names
from edsim.errors import BadVocabularyError

GOOD = """
[[token]]
name = "A"
[[token]]
name = "B"
discharge = true
[[rule]]
token = "A"
activity = "a"
detail.keyword = ["x", "y*"]
[[rule]]
token = "B"
activity = "a"
fallback = true
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_good_file_gives_its_tokens_after_end(tmp_path: Path) -> None:
    vocabulary = load(written(tmp_path, GOOD)).resolve()
    assert vocabulary.name == "mine"
    assert vocabulary.tokens == ("END", "A", "B")
    assert vocabulary.discharges == (2,)


def rule(text: str) -> str:
    """A good file with one more rule, in front."""
    return GOOD.replace("[[rule]]", f"[[rule]]\n{text}\n[[rule]]", 1)


FIT = GOOD + '[[fit]]\nsplit = ["A"]\nby = "detail"\ntop = 3\n'

WRONG = {
    "not TOML": ("[[token", "is not valid TOML"),
    "empty": ("", "there is no [[token]]"),
    "no rules": ('[[token]]\nname = "A"', "there is no [[rule]]"),
    "unknown key of the file": (
        "tokens = 3" + GOOD,
        "unknown key 'tokens' (did you mean 'token'?)",
    ),
    "token is no table": ('token = ["A"]', "under [[token]], in double brackets"),
    "unknown key of a token": (
        GOOD.replace("discharge =", "discharged ="),
        "[[token]] number 2: unknown key 'discharged' (did you mean 'discharge'?)",
    ),
    "discharge is no yes or no": (
        GOOD.replace("= true\n[[rule]]", '= "yes"\n[[rule]]', 1),
        "[[token]] number 2: 'discharge' must be true or false",
    ),
    "token without a name": (
        GOOD.replace('name = "A"', ""),
        "[[token]] number 1: 'name' is missing",
    ),
    "name is no text": (GOOD.replace('name = "A"', "name = 3"), "'name' must be a text"),
    "name with a line break": (GOOD.replace('"A"', '"A\\n"'), "1 to 120 printable characters"),
    "name too long": (GOOD.replace('"A"', f'"{"A" * 121}"'), "1 to 120 printable characters"),
    "END written": (GOOD.replace('"A"', '"End"'), "END is token 0 of every vocabulary"),
    "two tokens of one name": (
        GOOD.replace('name = "B"', 'name = "a"'),
        "[[token]] number 2: there is already a token named 'a'",
    ),
    "token without a rule": (
        GOOD.replace("[[rule]]", '[[token]]\nname = "C"\n[[rule]]', 1),
        "1 tokens have no rule, the first is 'C'",
    ),
    "rule for an unknown token": (
        GOOD.replace('token = "A"', 'token = "Ab"'),
        "[[rule]] number 1: no [[token]] is named 'Ab'",
    ),
    "rule for END": (rule('token = "END"\nactivity = "z"'), "no [[token]] is named 'END'"),
    "rule without a token": (rule('activity = "z"'), "[[rule]] number 1: 'token' is missing"),
    "unknown key of a rule": (
        rule('token = "A"\nactivty = "z"'),
        "[[rule]] number 1 ('A'): unknown key 'activty' (did you mean 'activity'?)",
    ),
    "unknown kind of condition": (
        rule('token = "A"\nactivity.keywords = ["z"]'),
        "[[rule]] number 1 ('A'), activity: unknown key 'keywords' (did you mean 'keyword'?)",
    ),
    "rule without a condition": (rule('token = "A"'), "it has no condition"),
    "condition without a value": (
        rule('token = "A"\nactivity = {}'),
        "'activity' holds no condition",
    ),
    "empty list": (rule('token = "A"\nactivity = []'), "'activity' is an empty list"),
    "empty text": (
        rule('token = "A"\nactivity.prefix = ["z", " "]'),
        "'prefix' holds an empty text",
    ),
    "number for a text": (rule('token = "A"\ndetail = 3'), "'detail' must be a text"),
    "number in a list": (rule('token = "A"\ndetail = ["z", 3]'), "'detail' must be a text"),
    "keyword without a letter": (
        rule('token = "A"\ndetail.keyword = "%"'),
        "the keyword '%' must hold a letter or digit",
    ),
    "star inside a keyword": (
        rule('token = "A"\ndetail.keyword = "a*b"'),
        "`*` only at its end",
    ),
    "value twice": (
        rule('token = "A"\ndetail.keyword = ["Q", "q"]'),
        "'keyword' lists 'q' twice",
    ),
    "missing is not true": (
        rule('token = "A"\ndetail.missing = false'),
        "'missing' can only be true",
    ),
    "fallback that looks at detail": (
        rule('token = "A"\ndetail = "z"\nfallback = true'),
        "it cannot look at detail or flag",
    ),
    "the same rule twice": (
        rule('token = "B"\nactivity = "A"\ndetail.keyword = ["y*", "x"]'),
        "[[rule]] number 2 ('A'): it can never apply: rule number 1 ('B') comes first",
    ),
    "a rule behind a wider one": (
        rule('token = "B"\nactivity = "a"'),
        "[[rule]] number 2 ('A'): it can never apply",
    ),
    "fit of an unknown token": (
        FIT.replace('split = ["A"]', 'split = ["C"]'),
        "[[fit]] number 1: no [[token]] is named 'C'",
    ),
    "fit without split": (FIT.replace('split = ["A"]', ""), "'split' is missing"),
    "fit by something unknown": (
        FIT.replace('by = "detail"', 'by = "details"'),
        "'by' cannot be 'details' (did you mean 'detail'?)",
    ),
    "fit of no tokens": (FIT.replace("top = 3", "top = 0"), "'top' must be a whole number"),
    "fit of a yes": (FIT.replace("top = 3", "top = true"), "'top' must be a whole number"),
    "fit naming all the same": (FIT + 'name = "New"\n', "'name' must hold {value}"),
    "fit with an unknown blank": (FIT + 'name = "{value} {what}"\n', "'name' may hold"),
    "one token split twice": (
        FIT + FIT[len(GOOD) :],
        "[[fit]] number 2: 'A' is already split by [[fit]] number 1",
    ),
    "too many tokens": (FIT.replace("top = 3", "top = 40000"), "at most 32,767 are possible"),
    "extends something unknown": (
        'extends = "ed33"',
        "it cannot extend 'ed33' (did you mean 'ed32'?)",
    ),
    "catch-all in front of what is extended": (
        'extends = "ed7"\n[[rule]]\ntoken = "Triage in the ED"\nfallback = true',
        "this catch-all would leave nothing",
    ),
}


@pytest.mark.parametrize(("text", "message"), WRONG.values(), ids=WRONG.keys())
def test_a_wrong_file_is_refused_where_it_is_wrong(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(BadVocabularyError) as refused:
        load(written(tmp_path, text))
    assert message in str(refused.value)
    assert str(refused.value).startswith("mine.toml")


def test_more_tokens_than_an_int16_holds_are_refused(tmp_path: Path) -> None:
    tokens = "".join(f'[[token]]\nname = "t{n}"\n' for n in range(32_767))
    with pytest.raises(BadVocabularyError, match="32,768 tokens with END"):
        load(written(tmp_path, tokens + '[[rule]]\ntoken = "t0"\nfallback = true'))


def test_bytes_that_are_not_utf8_are_named(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes(b'title = "caf\xe9"')
    with pytest.raises(BadVocabularyError, match=r"mine\.toml is not UTF-8 text"):
        load(path)


def test_a_byte_order_mark_is_no_matter(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes(b"\xef\xbb\xbf" + GOOD.encode())
    assert load(path).resolve().tokens == ("END", "A", "B")


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadVocabularyError, match="there is no vocabulary file"):
        load(tmp_path / "none.toml")
    with pytest.raises(BadVocabularyError, match="cannot be read"):
        (tmp_path / "folder.toml").mkdir()
        load(tmp_path / "folder.toml")


def test_an_unknown_name_lists_the_packaged_ones() -> None:
    with pytest.raises(BadVocabularyError) as refused:
        load("ed-32")
    assert "did you mean 'ed32'?" in str(refused.value)
    assert all(name in str(refused.value) for name in packaged_names())


def test_a_file_may_not_take_the_name_of_a_packaged_vocabulary(tmp_path: Path) -> None:
    path = tmp_path / "ed32.toml"
    path.write_text(GOOD, encoding="utf-8")
    with pytest.raises(BadVocabularyError, match="Give the file another name"):
        load(path)


def test_a_file_that_extends_puts_its_rules_first_and_its_tokens_last(tmp_path: Path) -> None:
    text = """
    extends = "ed7"
    [[token]]
    name = "Aspirin"
    [[rule]]
    token = "Aspirin"
    activity = "Medicine dispensations"
    detail.keyword = "aspirin"
    """
    ours, ed7 = load(written(tmp_path, text)).resolve(), load("ed7").resolve()
    assert ours.tokens == (*ed7.tokens, "Aspirin")
    assert ours.rules[1:] == ed7.rules
    assert ours.rules[0].token == len(ed7)


@pytest.mark.parametrize("name", packaged_names())
def test_every_packaged_vocabulary_can_be_read(name: str) -> None:
    specification = load(name)
    assert specification.written.title
    assert specification.written.tokens[0] == "END"
