"""One `[[rule]]` or `[[fit]]` of a vocabulary file: read, or refused where it means nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from edsim.encoding.vocabulary.fit import WAYS, Fit
from edsim.encoding.vocabulary.places import Place, near
from edsim.encoding.vocabulary.rules import FIELDS, Condition, Rule, plain, words

_KINDS = ("exact", "prefix", "keyword")


def token_number(place: Place, name: str, numbers: Mapping[str, int]) -> int:
    """The number of a token that the file names."""
    if name not in numbers or name == "END":
        hint = near(name, [n for n in numbers if n != "END"])
        raise place.error(f"no [[token]] is named '{name}'{hint}.")
    return numbers[name]


def read_rule(place: Place, table: Mapping[str, Any], numbers: Mapping[str, int]) -> Rule:
    """A rule; `numbers` are the tokens of the file by name."""
    token = token_number(place, place.text(table, "token"), numbers)
    place = Place(place.file, f"{place.where} ('{table['token']}')")
    place.only(table, ("token", *FIELDS, "fallback"))
    conditions = {f: _condition(place, f, table[f]) for f in FIELDS if f in table}
    fallback = place.yes(table, "fallback")
    if fallback and ("detail" in conditions or "flag" in conditions):
        raise place.error(
            "a fallback rule takes what is left of its activity: it cannot look at detail or flag."
        )
    if not fallback and not conditions:
        raise place.error(
            "it has no condition. Name activity, detail or flag, or set fallback = true."
        )
    return Rule(token, conditions, fallback)


def _condition(place: Place, name: str, value: object) -> Condition:
    if not isinstance(value, Mapping):
        return Condition(exact=_distinct_texts(place, name, value))
    if not value:
        raise place.error(f"'{name}' holds no condition. Known: {', '.join(_KINDS)}, missing.")
    place = Place(place.file, f"{place.where}, {name}")
    place.only(value, (*_KINDS, "missing"))
    if "missing" in value and not place.yes(value, "missing"):
        raise place.error("'missing' can only be true: remove the line instead.")
    found = {kind: _distinct_texts(place, kind, value[kind]) for kind in _KINDS if kind in value}
    for keyword in found.get("keyword", ()):
        if not words(keyword) or "*" in keyword[:-1]:
            raise place.error(
                f"the keyword '{keyword}' must hold a letter or digit, and `*` only at its end."
            )
    return Condition(**found, missing="missing" in value)


def _distinct_texts(place: Place, key: str, value: object) -> tuple[str, ...]:
    texts = place.texts(value, key)
    seen = set()
    for text in texts:
        if plain(text) in seen:
            raise place.error(f"'{key}' lists '{text}' twice (case does not matter).")
        seen.add(plain(text))
    return texts


def read_fit(place: Place, table: Mapping[str, Any], numbers: Mapping[str, int]) -> Fit:
    """How tokens are to be learned."""
    place.only(table, ("split", "by", "top", "at_least", "name"))
    if "split" not in table:
        raise place.error("'split' is missing: which tokens of this file are to be split?")
    split = place.texts(table["split"], "split")
    by = place.text(table, "by")
    if by not in WAYS:
        raise place.error(f"'by' cannot be '{by}'{near(by, WAYS)}. Known: {', '.join(WAYS)}.")
    name = place.text(table, "name", "{token}: {value}")
    if "{value}" not in name:
        raise place.error("'name' must hold {value}, or all new tokens would be called the same.")
    if set("{}") & set(name.replace("{value}", "").replace("{token}", "")):
        raise place.error("'name' may hold {token} and {value} in braces and nothing else.")
    return Fit(
        split=tuple(token_number(place, s, numbers) for s in split),
        by=by,
        top=place.count(table, "top"),
        at_least=place.count(table, "at_least", 10),
        name=name,
    )
