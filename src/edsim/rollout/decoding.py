"""Decoding rules as the user names them: read from text, put in order, bound to a vocabulary.

`process_mask+repetition_penalty=1.75` means the same in whatever order it is written: the order of
application is that of `RULES`. Each rule works on what the one before left, without normalising in
between. What is recorded beside rollouts comes from the bound object, which is what was applied.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import torch
from torch import Tensor

from edsim.errors import BadInputError
from edsim.rollout.history import History
from edsim.rollout.rules import RULES, Apply, OneRule, Vanilla, idle
from edsim.tables.facts import VocabularyFacts

__all__ = ["RULES", "BoundRule", "Rule", "parse_rule"]


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule, or several applied one after the other in the order of `RULES`."""

    parts: tuple[OneRule, ...]

    def __post_init__(self) -> None:
        names = [part.name for part in self.parts]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise BadInputError(f"decoding rule '{twice}' is asked for twice.")
        if not names or (Vanilla.name in names and len(names) > 1):
            raise BadInputError(
                "'vanilla' means that no decoding rule is applied, so it stands alone."
            )
        order = list(RULES)
        object.__setattr__(
            self, "parts", tuple(sorted(self.parts, key=lambda part: order.index(part.name)))
        )

    def __str__(self) -> str:
        return "+".join(
            "=".join([part.name, *map(_shortest, _values(part).values())]) for part in self.parts
        )

    def settings(self) -> dict[str, Any]:
        """Name of each part and its setting, in the order applied; JSON values only."""
        return {part.name: next(iter(_values(part).values()), True) for part in self.parts}

    def bind(self, facts: VocabularyFacts) -> BoundRule:
        """The rule ready to be applied to proposals over this vocabulary."""
        return BoundRule(self, len(facts.tokens), tuple(part.bound(facts) for part in self.parts))


@dataclass(frozen=True, slots=True)
class BoundRule:
    """What the loop applies, and the only thing that says what was applied."""

    rule: Rule
    n_tokens: int
    applied: tuple[Apply, ...]

    def __call__(self, log_probs: Tensor, history: History) -> Tensor:
        """Log-probabilities of the events that may be drawn; they need not add up to 1."""
        for apply in self.applied:
            log_probs = apply(log_probs, history)
        return log_probs

    @property
    def is_vanilla(self) -> bool:
        """Whether nothing is changed, so that no history is needed."""
        return all(isinstance(part, Vanilla) for part in self.rule.parts)

    def idle(self) -> list[str]:
        """A sentence for each part that was meant to do something and cannot."""
        return [said for part in self.rule.parts if (said := idle(part, self.n_tokens))]

    def probabilities(self, proposed: Tensor, history: History | None) -> Tensor:
        """Unnormalised log-probabilities as probabilities, float64; nan where they are no such."""
        if self.is_vanilla:
            return proposed.softmax(dim=1, dtype=torch.float64)
        assert history is not None, "a rule other than vanilla is applied to a history"
        log_probs = proposed.log_softmax(dim=1, dtype=torch.float64)
        barred = log_probs.isnan()  # a rule must not hide that a proposal was none
        return self(log_probs, history).masked_fill(barred, torch.nan).softmax(dim=1)

    def __str__(self) -> str:
        return str(self.rule)

    def settings(self) -> dict[str, Any]:
        """`Rule.settings`."""
        return self.rule.settings()


_PLUS = re.compile(r"(?<![0-9.][eE])\+")  # not that of 1e+16


def parse_rule(text: str) -> Rule:
    """The rule of a text such as `temperature=0.7` or `process_mask+repetition_penalty=1.75`.

    >>> str(parse_rule("top_p=0.9 + process_mask"))
    'process_mask+top_p=0.9'
    """
    return Rule(tuple(_parse_part(part.strip()) for part in _PLUS.split(text)))


def _parse_part(text: str) -> OneRule:
    name, equals, value = (piece.strip() for piece in text.partition("="))
    name = name.replace("-", "_")
    if name not in RULES:
        close = difflib.get_close_matches(name, RULES, n=1)
        meant = f" Did you mean '{close[0]}'?" if close else ""
        raise BadInputError(
            f"there is no decoding rule '{name}'.{meant} There are {', '.join(RULES)}."
        )
    kind = RULES[name]
    settings = fields(kind)
    if bool(settings) != bool(equals):
        raise BadInputError(
            f"decoding rule '{name}' needs a value: {name}=..."
            if settings
            else f"decoding rule '{name}' takes no value."
        )
    make: Callable[..., OneRule] = kind
    return make(*(_number(name, value, whole=str(field.type) == "int") for field in settings))


def _number(name: str, text: str, *, whole: bool) -> float:
    try:
        return int(text) if whole else float(text)
    except ValueError:
        raise BadInputError(
            f"decoding rule '{name}' needs a {'whole ' if whole else ''}number, "
            f"which '{text}' is not."
        ) from None


def _shortest(value: float) -> str:
    """The shortest text that reads back as the same number."""
    return repr(value).removesuffix(".0").replace("e+", "e")


def _values(part: OneRule) -> dict[str, Any]:
    return {field.name: getattr(part, field.name) for field in fields(part)}
