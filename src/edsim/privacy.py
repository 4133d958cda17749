"""What may be shown of data under a use agreement, and who may open their files.

Everything follows from one flag of the cohort, `restricted`. Files are for their owner alone, and
no table shows a cell of fewer than ten subjects, nor one that its neighbours would give away.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from edsim.tables.extract import Step

SMALLEST_CELL = 10
"""Cells of fewer subjects than this are not shown."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A line of a table that is to be shown: how many rows it counts, of how many subjects."""

    name: str
    n_rows: int
    n_subjects: int


def small(n: int) -> bool:
    """Whether a count is too small to be shown; nothing at all is not small."""
    return 0 < n < SMALLEST_CELL


def without_small_cells(cells: Sequence[Cell]) -> tuple[list[Cell], list[Cell]]:
    """The cells that may be shown beside their total, and those that may not.

    A single hidden cell could be computed from the total, so a second one, the next smallest that
    counts anybody, is hidden with it.
    """
    hidden = [cell for cell in cells if small(cell.n_subjects)]
    shown = [cell for cell in cells if not small(cell.n_subjects)]
    of_somebody = [cell for cell in shown if cell.n_subjects]
    if len(hidden) == 1 and of_somebody:
        second = min(of_somebody, key=lambda cell: cell.n_subjects)
        shown.remove(second)
        hidden.append(second)
    return shown, hidden


def hidden_parts(parts: Mapping[str, Mapping[str, int]], *, restricted: bool) -> set[str]:
    """The parts of a split whose counts may not be shown, by their `events` and `subjects`."""
    if not restricted:
        return set()
    cells = [Cell(part, counts["events"], counts["subjects"]) for part, counts in parts.items()]
    return {cell.name for cell in without_small_cells(cells)[1]}


_SMALL_COUNT = re.compile(
    r"(?<![\d.,])[1-9](?= (?:of [\d,]+ )?(?:charted )?"
    r"(?:stays?|visits?|subjects?|patients?|cases?|events?|rows?|orders?|activities|launches|launch"
    r"|rollouts?|draws|gaps|(?:acuity |vital-sign )?values?|checks)\b)"
)
_NUMBER = re.compile(r"(?<![\w.,=])\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?(?![\w]*=)")


def without_small_counts(sentence: str) -> str:
    """A sentence about the data whose small counts are said roughly.

    >>> without_small_counts("3 of 812 stays have no triage row.")
    'fewer than 10 of 812 stays have no triage row.'
    >>> without_small_counts("acuity outside 1 to 5")
    'acuity outside 1 to 5'
    """
    return _SMALL_COUNT.sub(f"fewer than {SMALLEST_CELL}", sentence)


def without_numbers(sentence: str) -> str:
    """A sentence about few subjects, which must not say how many or how long.

    >>> without_numbers("12 of 45 rows hold more than 128 events under top_k=3")
    '# of # rows hold more than # events under top_k=3'
    """
    return _NUMBER.sub("#", sentence)


def without_small_steps(steps: Sequence[Step]) -> list[Step]:
    """The attrition table with every small loss merged into a neighbour, so no line tells it."""
    merged = list(steps[:1])
    waiting: list[str] = []
    for step in steps[1:]:
        waiting.append(step.rule)
        if not _tells_small_loss(merged[-1], step):
            merged.append(_renamed(step, waiting))
            waiting = []
    while waiting:  # the last losses are small: their line swallows the lines before it
        waiting.insert(0, merged.pop().rule)
        if not merged or not _tells_small_loss(merged[-1], steps[-1]):
            merged.append(_renamed(steps[-1], waiting))
            waiting = []
    return merged


def _tells_small_loss(before: Step, after: Step) -> bool:
    return (
        small(before.n_stays - after.n_stays)
        or small(before.n_subjects - after.n_subjects)
        or small(before.n_events - after.n_events)
    )


def _renamed(step: Step, rules: Sequence[str]) -> Step:
    return Step(
        rule="; ".join(rules),
        n_stays=step.n_stays,
        n_subjects=step.n_subjects,
        n_events=step.n_events,
        note=step.note if len(rules) == 1 else "",
    )


def set_permissions(directory: Path, *, restricted: bool) -> None:
    """Owner-only for restricted data, what the umask allows otherwise, for all below too."""
    mask = os.umask(0)
    os.umask(mask)
    folder_mode = 0o700 if restricted else 0o777 & ~mask
    file_mode = 0o600 if restricted else 0o666 & ~mask
    for path in [directory, *directory.rglob("*")]:
        path.chmod(folder_mode if path.is_dir() else file_mode)


def open_to_others(directory: Path) -> list[Path]:
    """Files and folders that others than the owner may read."""
    return [
        path
        for path in [directory, *directory.rglob("*")]
        if path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO)
    ]
