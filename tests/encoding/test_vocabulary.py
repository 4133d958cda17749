"""A vocabulary is resolved once, told by its hash, and gives every kind of event one token."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from edsim.encoding.vocabulary import Vocabulary, load
from edsim.errors import BadVocabularyError


def kinds(*rows: tuple[str, str | None, str | None, int]) -> pl.DataFrame:
    schema = {"activity": pl.String, "detail": pl.String, "flag": pl.String, "n": pl.Int64}
    return pl.DataFrame(rows, schema=schema, orient="row")


LOG = kinds(("draw blood", None, None, 9), ("leave", None, None, 1), ("END", None, None, 5))


def own(folder: Path, text: str) -> Path:
    path = folder / "own.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_only_a_fitted_vocabulary_needs_the_training_split() -> None:
    assert not load("ed32").needs_data
    assert load("activities").needs_data
    with pytest.raises(BadVocabularyError, match="fitted on the training split"):
        load("activities").resolve()


def test_activities_are_numbered_by_frequency_behind_other() -> None:
    vocabulary = load("activities").resolve(LOG)
    assert vocabulary.tokens == ("END", "OTHER", "draw blood", "END (recorded)", "leave")
    assert vocabulary.assign(LOG)["token"].to_list() == [2, 4, 3]


def test_an_activity_that_training_never_saw_is_other_and_no_written_rule() -> None:
    vocabulary = load("activities").resolve(LOG)
    assigned = vocabulary.assign(kinds(("scan", None, None, 1), ("leave", None, None, 1)))
    assert [vocabulary.tokens[t] for t in assigned["token"]] == ["OTHER", "leave"]
    assert vocabulary.rule_is_fallback[assigned["rule"].to_numpy()].tolist() == [True, False]


def test_a_discharge_activity_always_has_a_token_and_is_marked() -> None:
    rows = [(f"activity {n:02d}", None, None, 100) for n in range(70)]
    log = kinds(*rows, ("leave", None, None, 1))
    without = load("activities").resolve(log)
    assert len(without) == 62
    assert "leave" not in without.tokens
    assert without.discharges == ()
    marked = load("activities").resolve(log, discharges=("leave",))
    assert len(marked) == 62
    assert [marked.tokens[t] for t in marked.discharges] == ["leave"]


def test_equal_counts_are_ordered_by_name() -> None:
    forwards = kinds(("b", None, None, 1), ("a", None, None, 1), ("c", None, None, 1))
    one, other = (load("activities").resolve(log) for log in (forwards, forwards.reverse()))
    assert one == other
    assert one.tokens[2:] == ("a", "b", "c")


def test_a_token_of_discharge_activities_alone_is_marked_in_any_file(tmp_path: Path) -> None:
    text = """
    [[token]]
    name = "Gone"
    [[token]]
    name = "Rest"
    [[rule]]
    token = "Gone"
    activity = ["leave", "die"]
    [[rule]]
    token = "Rest"
    fallback = true
    """
    specification = load(own(tmp_path, text))
    assert specification.resolve().discharges == ()
    assert specification.resolve(discharges=("leave",)).discharges == ()
    assert specification.resolve(discharges=("Leave", "die", "x")).discharges == (1,)


def test_a_split_discharge_stays_a_discharge(tmp_path: Path) -> None:
    text = """
    [[token]]
    name = "Gone"
    discharge = true
    [[rule]]
    token = "Gone"
    activity = "leave"
    [[fit]]
    split = ["Gone"]
    by = "detail"
    top = 5
    at_least = 2
    """
    training = kinds(("leave", "home", None, 3), ("leave", "ward", None, 1))
    vocabulary = load(own(tmp_path, text)).resolve(training)
    assert vocabulary.tokens == ("END", "Gone", "Gone: home")
    assert vocabulary.discharges == (1, 2)


def test_the_first_word_splits_what_rules_gave_and_never_merges_it(tmp_path: Path) -> None:
    text = """
    [[token]]
    name = "Salt"
    [[token]]
    name = "Rest"
    [[rule]]
    token = "Salt"
    detail.keyword = "sodium chloride"
    [[rule]]
    token = "Rest"
    fallback = true
    [[fit]]
    split = ["Salt", "Rest"]
    by = "first word of detail"
    top = 3
    at_least = 1
    """
    table = kinds(
        ("give", "SODIUM chloride 0.9%", None, 5),
        ("give", "Sodium citrate", None, 4),
        ("give", "(iron)", None, 3),
        ("give", "zinc", None, 2),
        ("give", None, None, 9),
        ("give", "%", None, 9),
    )
    vocabulary = load(own(tmp_path, text)).resolve(table)
    names = [vocabulary.tokens[t] for t in vocabulary.assign(table)["token"]]
    assert names == ["Salt: sodium", "Rest: sodium", "Rest: iron", "Rest", "Rest", "Rest"]


@pytest.mark.parametrize("activity", ["END", "end", "End"])
def test_an_activity_called_end_never_takes_the_name_of_the_token(activity: str) -> None:
    vocabulary = load("activities").resolve(kinds((activity, None, None, 1)))
    assert vocabulary.tokens == ("END", "OTHER", f"{activity} (recorded)")


def test_every_learned_token_has_a_rule_of_its_own() -> None:
    table = kinds(
        ("Medicine reconciliation", "x", "Diuretic - Loop", 20),
        ("Medicine dispensations", "Aspirin", None, 20),
    )
    vocabulary = load("ed182").resolve(table)
    assigned = vocabulary.assign(table)
    assert assigned["rule"].to_list() == [vocabulary.n_rules - 2, vocabulary.n_rules - 1]
    assert vocabulary.rule_tokens[assigned["rule"]].tolist() == assigned["token"].to_list()


def test_assigning_keeps_the_rows_and_columns_of_the_table() -> None:
    vocabulary = load("activities").resolve(LOG)
    shuffled = LOG.sample(fraction=1.0, shuffle=True, seed=3).with_columns(extra=pl.lit(1))
    assigned = vocabulary.assign(shuffled)
    assert assigned.drop("token", "rule").equals(shuffled)
    assert assigned.schema["token"] == pl.Int16
    assert assigned.schema["rule"] == pl.Int32


def test_what_no_rule_fits_is_an_error_that_names_no_detail() -> None:
    table = kinds(
        ("Enter the ED", "WALK IN", None, 1),
        ("Reticulate", "secret", "hidden", 1),
        ("Splines", None, None, 1),
    )
    with pytest.raises(BadVocabularyError) as refused:
        load("ed7").resolve().assign(table)
    message = str(refused.value)
    assert "no rule for 2 of 3 kinds" in message
    assert "'Reticulate' and 1 more" in message
    assert "secret" not in message
    assert "hidden" not in message


@pytest.mark.parametrize("name", ["ed7", "ed32", "activities", "ed182"])
def test_a_vocabulary_survives_its_file(name: str) -> None:
    table = kinds(("Medicine dispensations", "Aspirin é", None, 20))
    specification = load(name)
    vocabulary = specification.resolve(table if specification.needs_data else None)
    again = Vocabulary.from_json(vocabulary.to_json())
    assert again == vocabulary
    assert again.sha256 == vocabulary.sha256
    assert again.assign(table).equals(vocabulary.assign(table))


def test_the_hash_is_of_what_decides_a_token_and_not_of_the_name(tmp_path: Path) -> None:
    text = '[[token]]\nname = "A"\n[[rule]]\ntoken = "A"\nactivity = "a"\n'
    first = load(own(tmp_path, text)).resolve()
    (tmp_path / "other.toml").write_text('title = "t"\n' + text, encoding="utf-8")
    assert load(tmp_path / "other.toml").resolve().sha256 == first.sha256
    for old, new in [('"a"', '"b"'), ('"A"', '"B"'), ('"A"\n[', '"A"\ndischarge = true\n[')]:
        changed = load(own(tmp_path, text.replace(old, new))).resolve()
        assert changed.sha256 != first.sha256


@pytest.mark.parametrize("change", ["drop", "token", "text", "list", "schema"])
def test_a_changed_vocabulary_file_is_refused(change: str) -> None:
    text = load("ed7").resolve().to_json()
    content = json.loads(text)
    if change == "drop":
        del content["tokens"]
    elif change == "token":
        content["tokens"][1] = "Enter"
    elif change == "schema":
        content["schema"] = 2
    broken = {"text": text[:-20], "list": "[]"}.get(change, json.dumps(content))
    with pytest.raises(BadVocabularyError, match="does not match its own hash"):
        Vocabulary.from_json(broken)
