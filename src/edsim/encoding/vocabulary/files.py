"""Reading a vocabulary from a TOML file, and saying exactly what is wrong with it.

The format, by example:

    title = "A small emergency department"           # optional; also `description`

    [[token]]                                         # numbered 1, 2, ... in this order; END is 0,
    name = "Enter by ambulance"                       # always there, and never written

    [[token]]
    name = "Medicine given: opioid"

    [[token]]
    name = "Medicine given: other"

    [[token]]
    name = "Discharge"
    discharge = true                                  # optional: this event is a discharge

    [[rule]]                                          # the first rule that fits wins
    token = "Enter by ambulance"
    activity = "Enter the ED"                         # a text, or a list: any of them
    detail = ["AMBULANCE", "HELICOPTER"]

    [[rule]]
    token = "Medicine given: opioid"
    activity = "Medicine dispensations"
    detail.keyword = ["morphine", "hydromorphon*"]    # words; `*` at the end: the word may go on
    detail.prefix = ["oxycodone ("]                   # any of one field's values is enough

    [[rule]]
    token = "Medicine given: other"
    activity = "Medicine dispensations"
    fallback = true                                   # takes what is left of the activity

    [[rule]]
    token = "Discharge"
    activity.prefix = "Discharge"

A field is `activity`, `detail` or `flag`; under it stand `exact`, `prefix`, `keyword` (see
`rules.py`) or `missing = true` (nothing recorded). All fields that a rule names must fit. A rule
without `detail` and `flag` takes its whole activity; with `fallback = true` it is the catch-all
("and other") whose rows are listed by name in reports and do not count as caught by a written rule.
A fallback rule without `activity` takes whatever is left of everything.

A vocabulary that learns its tokens from the training split says how (see `fit.py`):

    [[fit]]
    split = ["Medicine given: opioid", "Medicine given: other"]   # tokens of this file
    by = "first word of detail"          # or "activity", "detail", "flag"
    top = 40                             # at most so many new tokens, the most frequent
    at_least = 10                        # optional: rows that a new token needs; 10 by default
    name = "{token}: {value}"            # optional: how the new tokens are called

A file that changes little need not say everything again: `extends = "ed32"` takes over a
packaged vocabulary. Tokens written here are added behind its tokens, rules written here come before
its rules, and fits are added.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from edsim.encoding.vocabulary.fit import Fit
from edsim.encoding.vocabulary.places import Place, near
from edsim.encoding.vocabulary.rules import Rule
from edsim.encoding.vocabulary.tables import read_fit, read_rule
from edsim.errors import BadVocabularyError

PACKAGED = Path(__file__).parent.parent / "vocabularies"
MOST_TOKENS = 32_767
"""Tokens are int16 everywhere."""
_LONGEST_NAME = 120


@dataclass(frozen=True, slots=True)
class Written:
    """What a vocabulary file says: tokens with END first, and rules and fits by token number."""

    title: str
    description: str
    tokens: tuple[str, ...]
    discharges: tuple[int, ...]
    rules: tuple[Rule, ...]
    fits: tuple[Fit, ...]


_NOTHING = Written("", "", ("END",), (), (), ())


def packaged_names() -> tuple[str, ...]:
    """The vocabularies that come with the package."""
    return tuple(sorted(path.stem for path in PACKAGED.glob("*.toml")))


def read(path: Path) -> Written:
    """The vocabulary of a TOML file; `BadVocabularyError` says where it is wrong."""
    return parse(_content(path), path.name)


def parse(content: Mapping[str, Any], file: str) -> Written:
    """The vocabulary that a TOML document describes; `file` is its name in messages."""
    whole = Place(file, "the file")
    whole.only(content, ("title", "description", "extends", "token", "rule", "fit"))
    old = _extended(whole, content)
    complete = old is _NOTHING
    tokens, discharges = _tokens(file, whole.tables(content, "token", needed=complete), old)
    numbers = {name: number for number, name in enumerate(tokens)}
    rules = tuple(
        read_rule(Place(file, f"[[rule]] number {i}"), table, numbers)
        for i, table in enumerate(whole.tables(content, "rule", needed=complete), 1)
    )
    _check_reached(file, tokens, rules)
    _check_kept(file, tokens, rules, old.rules)
    _check_used(file, tokens, rules + old.rules)
    fits = old.fits + tuple(
        read_fit(Place(file, f"[[fit]] number {i}"), table, numbers)
        for i, table in enumerate(whole.tables(content, "fit", needed=False), 1)
    )
    _check_fits(file, tokens, fits)
    return Written(
        title=whole.text(content, "title", old.title),
        description=whole.text(content, "description", old.description),
        tokens=tokens,
        discharges=discharges,
        rules=rules + old.rules,
        fits=fits,
    )


def _extended(whole: Place, content: Mapping[str, Any]) -> Written:
    """The packaged vocabulary that a file takes over, or nothing but END."""
    if "extends" not in content:
        return _NOTHING
    name = whole.text(content, "extends")
    if name not in packaged_names():
        raise whole.error(
            f"it cannot extend '{name}'{near(name, packaged_names())}. "
            f"Packaged: {', '.join(packaged_names())}."
        )
    return read(PACKAGED / f"{name}.toml")


def _content(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise BadVocabularyError(f"there is no vocabulary file at '{path}'.") from None
    except OSError as error:
        raise BadVocabularyError(
            f"the vocabulary file '{path}' cannot be read ({type(error).__name__})."
        ) from None
    except UnicodeDecodeError:
        raise BadVocabularyError(
            f"{path.name} is not UTF-8 text. Save it as UTF-8 and try again."
        ) from None
    except tomllib.TOMLDecodeError as error:
        raise BadVocabularyError(f"{path.name} is not valid TOML: {error}.") from None


def _tokens(
    file: str, tables: list[Mapping[str, Any]], old: Written
) -> tuple[tuple[str, ...], tuple[int, ...]]:
    names, discharges = list(old.tokens), list(old.discharges)
    seen = {name.casefold() for name in names if name != "END"}
    for number, table in enumerate(tables, 1):
        place = Place(file, f"[[token]] number {number}")
        place.only(table, ("name", "discharge"))
        name = place.text(table, "name")
        if name.strip().casefold() == "end":
            raise place.error(
                "END is token 0 of every vocabulary and is never written. Remove this token."
            )
        if not name.isprintable() or name != name.strip() or not 0 < len(name) <= _LONGEST_NAME:
            raise place.error(
                f"a name is 1 to {_LONGEST_NAME} printable characters, with no blank at its ends."
            )
        if name.casefold() in seen:
            raise place.error(f"there is already a token named '{name}' (case does not matter).")
        seen.add(name.casefold())
        if place.yes(table, "discharge"):
            discharges.append(len(names))
        names.append(name)
    if len(names) > MOST_TOKENS:
        raise Place(file, "the file").error(
            f"{len(names):,} tokens with END; at most {MOST_TOKENS:,} are possible."
        )
    return tuple(names), tuple(discharges)


def _check_reached(file: str, tokens: tuple[str, ...], rules: tuple[Rule, ...]) -> None:
    """No rule of this file is hidden behind one that comes before it in the file."""
    for number, rule in enumerate(rules, 1):
        for earlier, other in enumerate(rules[: number - 1], 1):
            if other.covers(rule):
                raise Place(file, f"[[rule]] number {number} ('{tokens[rule.token]}')").error(
                    f"it can never apply: rule number {earlier} ('{tokens[other.token]}') comes "
                    "first and fits whatever this one fits. Move it up, narrow that one, or "
                    "remove it."
                )


def _check_kept(
    file: str, tokens: tuple[str, ...], rules: tuple[Rule, ...], old: tuple[Rule, ...]
) -> None:
    """No catch-all of this file hides the rules of the vocabulary that it extends."""
    for number, rule in enumerate(rules, 1):
        if rule.fallback and any(rule.covers(other) for other in old):
            raise Place(file, f"[[rule]] number {number} ('{tokens[rule.token]}')").error(
                "rules of this file come before those that it extends, so this catch-all would "
                "leave nothing to them. Remove it: they have their own."
            )


def _check_used(file: str, tokens: tuple[str, ...], rules: tuple[Rule, ...]) -> None:
    """Every token but END has a rule."""
    used = {rule.token for rule in rules}
    without = [name for number, name in enumerate(tokens) if number and number not in used]
    if without:
        raise Place(file, "the file").error(
            f"{len(without)} tokens have no rule, the first is '{without[0]}'. Write a [[rule]] "
            "for it or remove the token."
        )


def _check_fits(file: str, tokens: tuple[str, ...], fits: tuple[Fit, ...]) -> None:
    seen: dict[int, int] = {}
    for number, fit in enumerate(fits, 1):
        for token in fit.split:
            if token in seen:
                raise Place(file, f"[[fit]] number {number}").error(
                    f"'{tokens[token]}' is already split by [[fit]] number {seen[token]}."
                )
            seen[token] = number
    most = len(tokens) + sum(fit.top for fit in fits)
    if most > MOST_TOKENS:
        raise Place(file, "the file").error(
            f"up to {most:,} tokens with those that are fitted; at most {MOST_TOKENS:,} "
            "are possible."
        )
