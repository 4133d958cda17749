"""The finding in a sentence, picked from the scores by rule, and a verdict on each producer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from edsim.metrics.seen import FEWEST_STAYS
from edsim.report.board import Board
from edsim.report.clearly_off import clearly_off
from edsim.report.criteria import CRITERIA, Criterion, figure, small_number
from edsim.report.entries import Entry
from edsim.report.gap import length, simulation_gap
from edsim.tables.verdicts import Verdict

_BY_METRIC = {one.metric: one for one in CRITERIA}


@dataclass(frozen=True, slots=True)
class Mark:
    """One part of a verdict; the sign goes with the words, so that colour is never alone."""

    sign: str
    fault: str
    sentence: str


def finding(board: Board) -> str:
    """The sentence that a report opens with."""
    entries = [line.entry for line in board.lines if not line.entry.privileged]
    if not entries:
        return "Only the oracle was scored: it marks the floor, and nothing is compared with it."
    if len(entries) == 1:
        return _alone(entries[0])
    gap = simulation_gap(entries)
    return _leaders(board, len(entries)) if gap is None else gap.sentence


def support(board: Board) -> list[str]:
    """What is said below the finding: who leads, and which leads stand clear of chance."""
    entries = [line.entry for line in board.lines if not line.entry.privileged]
    if len(entries) < 2:
        return []
    leaders = _leaders(board, len(entries)) if simulation_gap(entries) else ""
    return [sentence for sentence in (leaders, firmness(board)) if sentence]


def firmness(board: Board) -> str:
    """Which leads stand clear of everybody else's interval; where none does, who has them."""
    firsts, firm = _firsts(board), _firm(board)
    soft = [title for led in firsts.values() for title in led if title not in firm]
    if not firm:
        others = list(firsts.items())[1:4]
        parts = [
            f"{label}{' comes first' * (i == 0)} on {_listed(of)}"
            for i, (label, of) in enumerate(others)
        ]
        return f"{_listed(parts)}." if parts else ""
    if not soft:
        return "Each lead stands clear of the next one's interval."
    verb = "leads in {} stand" if len(firm) > 1 else "lead in {} stands"
    return (
        f"The {verb.format(_listed(firm))} clear of the next one's interval; what is first in "
        f"{_listed(soft)} may be so by chance."
    )


def _firsts(board: Board) -> dict[str, list[str]]:
    """In what each producer is first, the one with most first; shared first places say nothing."""
    firsts: dict[str, list[str]] = {}
    for criterion in board.criteria:
        leaders = board.leaders(criterion.metric)
        if len(leaders) == 1 and not criterion.open_loop:
            firsts.setdefault(leaders[0].label, []).append(criterion.title.lower())
    return dict(sorted(firsts.items(), key=lambda item: -len(item[1])))


def _firm(board: Board) -> list[str]:
    """Criteria whose first stands clear of every other interval."""
    first = {title for led in _firsts(board).values() for title in led}
    return [
        one.title.lower()
        for one in board.criteria
        if one.title.lower() in first
        and not any(line.cells[one.metric].level for line in board.lines)
    ]


def _leaders(board: Board, n: int) -> str:
    """Who is first in how much."""
    firsts = _firsts(board)
    if not firsts:
        return f"Nothing tells the {n} simulators apart on these launches."
    n_questions = sum(len(led) for led in firsts.values())
    counted = f"the {n_questions} questions that tell the simulators apart"
    (best, led), *others = firsts.items()
    if not _firm(board):
        return (
            f"No simulator is clearly best: {best} comes first on {len(led)} of {counted}, each "
            "time within chance of another."
        )
    if not others:
        return f"{best} is closest to the record in all that tells them apart: {_listed(led)}."
    if len(led) < 3:
        parts = [f"{label} on {_listed(of)}" for label, of in [(best, led), *others[:2]]]
        return f"No simulator is best at everything: closest to the record is {_listed(parts)}."
    parts = [
        f"{label}{' leads' * (i == 0)} on {_listed(of)}" for i, (label, of) in enumerate(others[:2])
    ]
    return f"{best} is closest to the record on {len(led)} of {counted}; {_listed(parts)}."


def _alone(entry: Entry) -> str:
    parts = in_numbers(entry)
    return (
        f"{entry.label}: {parts[0].lower()}{parts[1:]}" if parts else f"{entry.label} was scored."
    )


def _listed(words: Sequence[str]) -> str:
    if len(words) == 1:
        return words[0]
    return f"{', '.join(words[:-1])} and {words[-1]}"


def verdict(entry: Entry) -> list[Mark]:
    """What `diagnose` found, or what the numbers say where nobody diagnosed.

    A tick stands only where no fault was found and no measure of the board is clearly off.
    """
    if entry.sheet.verdicts:
        return [
            Mark("✕", one.fault, one.sentence) if one.fault else _no_fault(entry, one)
            for one in entry.sheet.verdicts
        ]
    if entry.privileged:
        return [
            Mark("◦", "the floor", "It continues the process itself, knowing what is not observed.")
        ]
    return [Mark("◦", "not diagnosed", in_numbers(entry))]


def _no_fault(entry: Entry, found: Verdict) -> Mark:
    launched = entry.find("termination")
    if launched is not None and 0 < launched.n_stays < FEWEST_STAYS:
        return Mark("◦", "not diagnosed", found.sentence)
    off = clearly_off(entry)
    if not off:
        return Mark("✓", "no fault", found.sentence)
    return Mark("◦", "no known fault", f"{found.sentence} Yet clearly off: {'; '.join(off)}.")


def in_numbers(entry: Entry) -> str:
    """A producer in one sentence of numbers."""
    parts = []
    ends, mix, ratio = (entry.find(m) for m in ("termination", "jsd", "duration_ratio"))
    if ends is not None and ends.value is not None:
        parts.append(f"{figure(_BY_METRIC['termination'], ends.value)} of its visits end")
    if mix is not None and mix.value is not None:
        multiple = entry.find("xf")
        times = None if multiple is None or multiple.value == 1 else multiple.value
        parts.append(
            f"its event mix is {small_number(mix.value)} nats from the record"
            + ("" if times is None else f", {times:.2g} times the order-3 model's distance")
        )
    if ratio is not None and ratio.value is not None:
        parts.append(f"its visits are {length(ratio.value)}")
    return f"{'; '.join(parts)}." if parts else ""


def ranks_flip(board: Board) -> list[tuple[Criterion, str]]:
    """Who leads by each criterion, in words."""
    said = []
    for criterion in board.criteria:
        leaders = board.leaders(criterion.metric)
        if leaders:
            names = _listed([entry.label for entry in leaders[:3]])
            said.append((criterion, names + (" and others" if len(leaders) > 3 else "")))
    return said
