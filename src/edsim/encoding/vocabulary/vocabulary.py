"""The vocabulary itself: what an event is called, and which events there are."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from edsim.encoding.vocabulary.fit import Split, values
from edsim.encoding.vocabulary.rules import NO_RULE, Rule, first_match
from edsim.errors import BadVocabularyError
from edsim.tables.visits import END

if TYPE_CHECKING:
    import polars as pl

_SCHEMA = 1


@dataclass(frozen=True)
class Vocabulary:
    """Token names by number (END first), which are discharges, and how a row finds its token."""

    name: str
    tokens: tuple[str, ...]
    discharges: tuple[int, ...]
    rules: tuple[Rule, ...] = ()
    splits: tuple[Split, ...] = ()

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def n_rules(self) -> int:
        """Rules of the file, then one for each token that was learned."""
        return len(self.rules) + sum(len(split.tokens) for split in self.splits)

    @cached_property
    def rule_tokens(self) -> NDArray[np.int16]:
        """The token each rule gives, [rules]."""
        learned = [t for split in self.splits for t in split.tokens.values()]
        return np.array([rule.token for rule in self.rules] + learned, dtype=np.int16)

    @cached_property
    def rule_is_fallback(self) -> NDArray[np.bool_]:
        """Which rules are catch-alls and no written rule, [rules]."""
        found = np.zeros(self.n_rules, dtype=np.bool_)
        found[: len(self.rules)] = [rule.fallback for rule in self.rules]
        return found

    def assign(self, kinds: pl.DataFrame) -> pl.DataFrame:
        """`kinds` (activity, detail, flag and whatever else) with `token` (i16) and `rule` (i32).

        A kind that no rule fits is an error. Its activity is named, its detail and flag never:
        activities are words of the process, the others may be words about a patient.
        """
        import polars as pl

        rule = first_match(self.rules, kinds)
        self._refuse_uncovered(kinds, rule)
        token = self.rule_tokens[rule]
        found = kinds.with_columns(token=pl.Series(token), rule=pl.Series(rule))
        number = len(self.rules)
        for split in self.splits:
            learned = self._learned(split, number)
            keyed = found.with_columns(values(found, split.by))
            joined = keyed.join(learned, on=["token", "value"], how="left", maintain_order="left")
            found = joined.with_columns(
                token=pl.coalesce("new_token", "token"), rule=pl.coalesce("new_rule", "rule")
            ).drop("value", "new_token", "new_rule")
            number += len(split.tokens)
        return found

    def _learned(self, split: Split, number: int) -> pl.DataFrame:
        import polars as pl

        rows = [(of, v, t, number + i) for i, ((of, v), t) in enumerate(split.tokens.items())]
        schema = {
            "token": pl.Int16,
            "value": pl.String,
            "new_token": pl.Int16,
            "new_rule": pl.Int32,
        }
        return pl.DataFrame(rows, schema=schema, orient="row")

    def _refuse_uncovered(self, kinds: pl.DataFrame, rule: NDArray[np.int32]) -> None:
        uncovered = rule == NO_RULE
        if not uncovered.any():
            return
        activities = kinds["activity"].filter(uncovered).cast(str).unique().sort()
        more = f" and {len(activities) - 1} more" if len(activities) > 1 else ""
        raise BadVocabularyError(
            f"vocabulary '{self.name}' has no rule for {uncovered.sum()} of {len(kinds)} kinds of "
            f"event, of activity '{activities[0]}'{more}. Add a [[rule]] for it, at the end one "
            "with fallback = true, or choose a vocabulary made for this source."
        )

    @cached_property
    def sha256(self) -> str:
        """Hash of everything that decides a token; the vocabulary's own name does not."""
        content = {k: v for k, v in self._as_json().items() if k != "name"}
        text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def _as_json(self) -> dict[str, Any]:
        return {
            "schema": _SCHEMA,
            "name": self.name,
            "end": END,
            "tokens": list(self.tokens),
            "discharges": list(self.discharges),
            "rules": [rule.as_json() for rule in self.rules],
            "fitted": [split.as_json() for split in self.splits],
        }

    def to_json(self) -> str:
        """The text of `vocabulary.json`."""
        content = self._as_json() | {"sha256": self.sha256}
        return json.dumps(content, indent=1, ensure_ascii=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Vocabulary:
        """The vocabulary of a `vocabulary.json`; a changed one is refused."""
        try:
            content = json.loads(text)
            found = cls._from_content(content)
            same = content["sha256"] == found.sha256 and content["schema"] == _SCHEMA
        except (ValueError, KeyError, TypeError, AttributeError):
            same = False
        if not same:
            raise BadVocabularyError(
                "vocabulary.json is damaged or was written by another version: its content does "
                "not match its own hash. Build the cohort again."
            )
        return found

    @classmethod
    def _from_content(cls, content: Mapping[str, Any]) -> Vocabulary:
        return cls(
            name=str(content["name"]),
            tokens=tuple(str(token) for token in content["tokens"]),
            discharges=tuple(int(number) for number in content["discharges"]),
            rules=tuple(Rule.from_json(rule) for rule in content["rules"]),
            splits=tuple(Split.from_json(split) for split in content["fitted"]),
        )
