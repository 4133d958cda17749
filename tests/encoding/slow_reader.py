"""Rules read the obvious way, one text at a time: what the fast path is held against."""

from __future__ import annotations

import re

from edsim.encoding.vocabulary.rules import NO_RULE, Condition, Rule


def slow_fit(condition: Condition, text: str | None) -> bool:
    """One text and one condition, the obvious way."""
    if text is None:
        return condition.missing
    plain = " ".join(text.split()).lower()
    words = [w.lower() for w in re.split(r"[\W_]+", text) if w]
    for value in condition.exact:
        if plain == " ".join(value.split()).lower():
            return True
    for value in condition.prefix:
        if plain.startswith(re.sub(r"\s+", " ", value).lstrip().lower()):
            return True
    for value in condition.keyword:
        wanted = [w.lower() for w in re.split(r"[\W_]+", value.rstrip("*")) if w]
        for begin in range(len(words) - len(wanted) + 1):
            run = words[begin : begin + len(wanted)]
            last = run[-1].startswith(wanted[-1]) if value.endswith("*") else run[-1] == wanted[-1]
            if run[:-1] == wanted[:-1] and last:
                return True
    return False


def slow_match(rules: tuple[Rule, ...], row: tuple[str | None, ...]) -> int:
    """The number of the first rule that fits (activity, detail, flag)."""
    texts = dict(zip(("activity", "detail", "flag"), row, strict=True))
    for number, rule in enumerate(rules):
        if all(slow_fit(c, texts[name]) for name, c in rule.conditions.items()):
            return number
    return NO_RULE
