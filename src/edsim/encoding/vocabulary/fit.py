"""Tokens that are learned: the most frequent values of the training split get one of their own.

A fit splits tokens that rules gave: a row keeps its token unless its value (its activity, detail,
flag, or the first word of its detail) is among the most frequent ones of that token. So a fitted
vocabulary is always a refinement of the one its rules describe.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from edsim.encoding.vocabulary.rules import word_texts

if TYPE_CHECKING:
    import polars as pl

FIRST_WORD = "first word of detail"
WAYS = ("activity", "detail", "flag", FIRST_WORD)

_LONGEST_NAME = 120


@dataclass(frozen=True, slots=True)
class Fit:
    """How to learn tokens: which to split, by what, and how many new ones at most."""

    split: tuple[int, ...]
    by: str
    top: int
    at_least: int
    name: str


@dataclass(frozen=True, slots=True)
class Split:
    """What was learned: (token of the rules, value) -> token. Their order is the tokens' order."""

    by: str
    tokens: Mapping[tuple[int, str], int]

    def as_json(self) -> dict[str, Any]:
        """For `vocabulary.json`."""
        values = [{"of": of, "value": v, "token": t} for (of, v), t in self.tokens.items()]
        return {"by": self.by, "values": values}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Split:
        """The inverse of `as_json`."""
        values = {(int(v["of"]), str(v["value"])): int(v["token"]) for v in content["values"]}
        return cls(str(content["by"]), values)


def values(kinds: pl.DataFrame, by: str) -> pl.Series:
    """What `by` looks at in each (activity, detail, flag), as text; null where not recorded."""
    import polars as pl

    if by != FIRST_WORD:
        return kinds[by].cast(pl.String).alias("value")
    first = word_texts(kinds["detail"].cast(pl.String)).str.split(" ").list.first()
    return first.replace("", None).alias("value")


def most_frequent(
    fit: Fit, kinds: pl.DataFrame, tokens: list[str], always: Collection[str] = ()
) -> Split:
    """The split that `fit` asks for; the names of the new tokens are appended to `tokens`.

    `kinds` has activity, detail, flag, token (given by the rules) and n (rows in the training
    split). Values in `always` come first, whatever their count. Equal counts: by token and value.
    """
    import polars as pl

    counts = (
        kinds.with_columns(values(kinds, fit.by))
        .filter(pl.col("value").is_not_null() & pl.col("token").is_in(list(fit.split)))
        .group_by("token", "value")
        .agg(pl.col("n").sum())
        .with_columns(first=pl.col("value").is_in(list(always)))
        .filter(pl.col("first") | (pl.col("n") >= fit.at_least))
        .sort("first", "n", "token", "value", descending=[True, True, False, False])
        .head(fit.top)
    )
    learned = {}
    for of, value in counts.select("token", "value").iter_rows():
        learned[of, value] = len(tokens)
        tokens.append(_free_name(fit.name.format(token=tokens[of], value=value), tokens))
    return Split(fit.by, learned)


def _free_name(wanted: str, taken: Collection[str]) -> str:
    """`wanted` made printable, short enough, and different from all names that are taken."""
    text = "".join(c if c.isprintable() else " " for c in wanted).strip()[:_LONGEST_NAME] or "?"
    name, number = text, 1
    while name in taken or name.casefold() == "end":
        name = f"{text} (recorded)" if number == 1 else f"{text} (recorded {number})"
        number += 1
    return name
