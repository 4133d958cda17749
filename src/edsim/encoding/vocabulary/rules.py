"""The rules of a vocabulary: which words on activity, detail and flag make which token.

A rule looks at up to three fields. All fields it names must fit; within a field any of its values
is enough. The first rule that fits wins. Matching ignores case:

- `exact`: the whole text, with runs of blanks taken as one;
- `prefix`: how the text begins, punctuation included (a blank at the end counts: "NS ");
- `keyword`: a word, or several in a row, anywhere in the text. Everything that is neither letter
  nor digit separates words. A keyword that ends in `*` may go on: `vancomyc*` finds "Vancomycin"
  and the truncated "Vancomyci"; `aspirin` finds "Aspirin 81mg TAB" but not "aspirinol";
- `missing`: the field is not recorded.

Rules are matched against distinct texts, never against rows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import polars as pl

FIELDS = ("activity", "detail", "flag")
NO_RULE = -1

_BLANKS = re.compile(r"\s+")
_SEPARATORS = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Condition:
    """What one field must say: any of these values, written as in the file."""

    exact: tuple[str, ...] = ()
    prefix: tuple[str, ...] = ()
    keyword: tuple[str, ...] = ()
    missing: bool = False

    def matches(self, texts: pl.Series) -> NDArray[np.bool_]:
        """Which of the distinct `texts` (no nulls) fit; the last entry is for a missing one."""
        found = np.zeros(len(texts) + 1, dtype=np.bool_)
        found[-1] = self.missing
        whole = [f"\x02{plain(v)}\x03" for v in self.exact]
        whole += [f"\x02{opening(v)}" for v in self.prefix]
        if whole:
            found[:-1] |= _contains_any("\x02" + _plain_texts(texts) + "\x03", whole)
        if self.keyword:
            words = [f" {w}" if open_ended else f" {w} " for w, open_ended in self.words()]
            found[:-1] |= _contains_any(" " + word_texts(texts) + " ", words)
        return found

    def words(self) -> list[tuple[str, bool]]:
        """The keywords in the form texts are compared in, and whether each may go on."""
        return [(words(v.rstrip("*")), v.endswith("*")) for v in self.keyword]

    def covers(self, other: Condition) -> bool:
        """Whether every text that fits `other` certainly fits this one."""
        return (
            (self.missing or not other.missing)
            and all(self._covers_exact(v) for v in other.exact)
            and all(self._covers_prefix(v) for v in other.prefix)
            and all(self._covers_keyword(v, go_on) for v, go_on in other.words())
        )

    def _covers_exact(self, value: str) -> bool:
        text, padded = plain(value), f" {words(value)} "
        return (
            any(text == plain(v) for v in self.exact)
            or any(text.startswith(opening(v)) for v in self.prefix)
            or any((f" {w}" if go_on else f" {w} ") in padded for w, go_on in self.words())
        )

    def _covers_prefix(self, value: str) -> bool:
        return any(opening(value).startswith(opening(v)) for v in self.prefix)

    def _covers_keyword(self, value: str, value_goes_on: bool) -> bool:
        padded = f" {value}" if value_goes_on else f" {value} "
        return any((f" {w}" if go_on else f" {w} ") in padded for w, go_on in self.words())

    def as_json(self) -> dict[str, Any]:
        """The values that are there, for `vocabulary.json`."""
        kinds = ("exact", "prefix", "keyword")
        lists: dict[str, Any] = {k: list(getattr(self, k)) for k in kinds if getattr(self, k)}
        return lists | ({"missing": True} if self.missing else {})

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Condition:
        """The inverse of `as_json`."""
        return cls(
            exact=tuple(content.get("exact", ())),
            prefix=tuple(content.get("prefix", ())),
            keyword=tuple(content.get("keyword", ())),
            missing=bool(content.get("missing", False)),
        )


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: the token it gives, the conditions by field, and whether it is a catch-all."""

    token: int
    conditions: Mapping[str, Condition] = field(default_factory=dict)
    fallback: bool = False

    def covers(self, other: Rule) -> bool:
        """Whether nothing is left for `other` where this rule comes first."""
        return all(
            name in other.conditions and condition.covers(other.conditions[name])
            for name, condition in self.conditions.items()
        )

    def as_json(self) -> dict[str, Any]:
        """For `vocabulary.json`."""
        fields = {name: c.as_json() for name, c in self.conditions.items()}
        return {"token": self.token} | fields | ({"fallback": True} if self.fallback else {})

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Rule:
        """The inverse of `as_json`."""
        conditions = {f: Condition.from_json(content[f]) for f in FIELDS if f in content}
        return cls(int(content["token"]), conditions, bool(content.get("fallback", False)))


def plain(value: str) -> str:
    """A text as `exact` and `prefix` compare it: lower case, runs of blanks as one.

    >>> plain("Bipolar Therapy Agents -  Anticonvulsant Type")
    'bipolar therapy agents - anticonvulsant type'
    """
    return _BLANKS.sub(" ", value).strip().lower()


def opening(value: str) -> str:
    """A `prefix` in the form of `plain`; a blank at its end is meant and stays.

    >>> opening("NS ")
    'ns '
    """
    return _BLANKS.sub(" ", value).lstrip().lower()


def words(value: str) -> str:
    """A text as `keyword` compares it: its words in lower case, one blank between them.

    >>> words("Piperacillin-Tazobactam 4.5g")
    'piperacillin tazobactam 4 5g'
    """
    return _SEPARATORS.sub(" ", value).strip().lower()


def first_match(rules: tuple[Rule, ...], kinds: pl.DataFrame) -> NDArray[np.int32]:
    """The number of the first rule that fits each (activity, detail, flag); NO_RULE where none."""
    columns = {name: _distinct(kinds[name]) for name in FIELDS}
    known: dict[tuple[str, Condition], NDArray[np.bool_]] = {}
    found = np.full(len(kinds), NO_RULE, dtype=np.int32)
    left = np.arange(len(kinds))
    for number, rule in enumerate(rules):
        rows = left
        for name, condition in rule.conditions.items():
            texts, codes = columns[name]
            if (name, condition) not in known:
                known[name, condition] = condition.matches(texts)
            rows = rows[known[name, condition][codes[rows]]]
        found[rows] = number
        left = left[found[left] == NO_RULE]
    return found


def _distinct(column: pl.Series) -> tuple[pl.Series, NDArray[np.int64]]:
    """The distinct texts of a column and each row's place among them; the last place is missing."""
    import polars as pl

    column = column.cast(pl.String)
    texts = column.drop_nulls().unique(maintain_order=True)
    codes = column.cast(pl.Enum(texts)).to_physical().cast(pl.Int64)
    return texts, codes.fill_null(len(texts)).to_numpy()


def _contains_any(texts: pl.Series, patterns: list[str]) -> NDArray[np.bool_]:
    import polars as pl

    frame = pl.DataFrame({"text": texts})
    return frame.select(pl.col("text").str.contains_any(patterns))["text"].to_numpy()


def _plain_texts(texts: pl.Series) -> pl.Series:
    return texts.str.replace_all(r"\s+", " ").str.strip_chars().str.to_lowercase()


def word_texts(texts: pl.Series) -> pl.Series:
    """`words` of many texts at once."""
    return texts.str.replace_all(r"[\W_]+", " ").str.strip_chars().str.to_lowercase()
