"""The named checks and what they find. A sentence holds numbers and never an identifier."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Outcome = Literal["pass", "fail", "not applicable", "warning"]

MOST_SAID = 3
"""Sentences of a verdict; the same defect shows under every rule."""

_WORST_FIRST: tuple[Outcome, ...] = ("fail", "warning", "pass", "not applicable")

NEEDS_THE_SIMULATOR = "needs the simulator"

RULE_NAMES = (
    "greedy",
    "temperature",
    "top_k",
    "top_p",
    "repetition_penalty",
    "self_loop_cap",
    "process_mask",
)
"""The decoding rules that `conformance.rules` states a second time."""

CHECKS: dict[str, str] = {
    "calls": "every call returns",
    "shapes": "answers have the promised shapes and types",
    "proposals": "proposals are numbers and leave an event possible",
    "gaps": "gaps are finite and not negative",
    "chance": "the producer draws no event and keeps no generator of its own",
    "rows independent": "other rows of the batch change nothing",
    "order of rows": "a state stays with its row when rows are dropped or reordered",
    "history": "generated events are read like observed ones",
    "no look at the future": "what comes after the launch changes nothing",
    "launches": "every launch is there once with every draw",
    "prefix boundary": "rows hold the suffix only, and begin where the prefix ends",
    "END last": "END ends a row and stands nowhere else",
    "cap": "a row stops at END or at the cap, and for no other reason",
    "events as drawn": "the table holds the events drawn and the minutes answered",
    "clock units": "times are minutes",
    "nothing by default": "vanilla decoding draws from the proposals as they are",
    **{f"rule {name}": f"{name} is applied as it says" for name in RULE_NAMES},
    "rules at every step": "a rule is applied after the first step, too",
    "common chance": "events are drawn with the shared, addressed chance",
    "chance of times": "each row and step has a chance of its own for the time",
    "seed": "the same seed gives the same rollouts and another seed gives others",
    "draws": "draws differ, and their number changes none of them",
    "batches": "batch size, order and slots change nothing",
}
"""Every check in the order it is reported, and what it makes sure of."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """One check of one producer: the reason is a sentence with numbers."""

    name: str
    outcome: Outcome
    sentence: str


@dataclass(frozen=True, slots=True)
class Finding:
    """What one look found; `who` is empty for the producer itself, as it is by default."""

    outcome: Outcome
    who: str
    sentence: str

    def __str__(self) -> str:
        return f"{self.who}: {self.sentence}" if self.who else self.sentence


class Findings:
    """Collects what different looks at a producer found; a check's worst finding is its verdict."""

    def __init__(self) -> None:
        self._found: dict[str, list[Finding]] = {}
        self._who = ""

    def about(self, who: str) -> Findings:
        """The same findings; what is added here says of whom, or under which rule."""
        view = Findings()
        view._found, view._who = self._found, who
        return view

    def add(self, name: str, outcome: Outcome, sentence: str) -> None:
        """One finding of a check."""
        assert name in CHECKS, name
        self._found.setdefault(name, []).append(Finding(outcome, self._who, sentence))

    def judge(self, name: str, n_bad: int, bad: str, good: str) -> None:
        """Fail with the sentence `bad` where anything is bad, pass with `good` otherwise."""
        self.add(name, *(("fail", bad) if n_bad else ("pass", good)))

    def skip(self, name: str, reason: str) -> None:
        """Say why a check was not made; anything found counts more."""
        self.add(name, "not applicable", reason)

    def verdicts(self) -> list[Verdict]:
        """One verdict a check, in the order of CHECKS; what was never looked at says so."""
        return [self._verdict(name) for name in CHECKS]

    def _verdict(self, name: str) -> Verdict:
        found = self._found.get(name, [Finding("not applicable", "", "an earlier check failed")])
        for outcome in _WORST_FIRST:
            findings = [finding for finding in found if finding.outcome == outcome]
            if findings:
                return Verdict(name, outcome, _said(outcome, findings))
        raise AssertionError(name)


def _said(outcome: Outcome, findings: list[Finding]) -> str:
    """What is wrong comes from the producer first; what is right from it alone, where it can."""
    own = [finding for finding in findings if not finding.who]
    others = [finding for finding in findings if finding.who]
    wrong = outcome in ("fail", "warning")
    shown = own + others if wrong else own or others[-1:]
    sentences = list(dict.fromkeys(map(str, shown)))
    if outcome == "not applicable":
        return sentences[0]
    n_more = len(sentences) - MOST_SAID
    return "; ".join(sentences[:MOST_SAID] + ([f"and {n_more} more"] if n_more > 0 else []))
