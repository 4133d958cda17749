"""Tables of the paper as they travel: what it prints, ours beside it, and how the two agree."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

_NUMBER = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?(?:x10\^-?\d+)?")
_TIMES = {"GB": 1000.0}
"""Units that are read in another one: gigabytes in megabytes, so that a column has one unit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperValue:
    """One number that the paper prints, or a range of two."""

    label: str
    """The table's label, or the section's for a number of the text."""
    row: str
    column: str
    value: str
    """As printed: `0.0023`, `7,945`, `4.2-137`, `4.5x10^-6`, `+1.4`."""
    population: str
    """Of what it is the number."""
    unit: str
    note: str = ""

    def numbers(self) -> tuple[float, ...]:
        """The number; both ends where a range is printed."""
        parts = re.split(r"(?<=\d)-(?=\d)", re.sub(r"10\^-", "10^~", self.value))
        return tuple(_number(part.replace("~", "-")) for part in parts)

    @property
    def measured_in(self) -> str:
        """The unit of its column: megabytes of gigabytes too."""
        return "MB" if self.unit in _TIMES else self.unit

    def half_step(self) -> float:
        """Half a unit of the last printed place: how far rounding may have moved the number."""
        last = re.split(r"(?<=\d)-(?=\d)", self.value.replace("10^-", "10^~"))[-1]
        power = last.replace("~", "-").partition("x10^")[2]
        return float(0.5 * 10.0 ** (-self.places() + int(power or 0)))

    def places(self) -> int:
        """How many digits stand after the point."""
        last = re.split(r"(?<=\d)-(?=\d)", self.value.replace("10^-", "10^~"))[-1]
        return len(last.partition("x10^")[0].partition(".")[2])

    def spread(self) -> Spread:
        """From the lowest to the highest number that is printed so, in the unit of its column."""
        found, times = self.numbers(), _TIMES.get(self.unit, 1.0)
        return Spread(
            times * (min(found) - self.half_step()), times * (max(found) + self.half_step())
        )


def _number(text: str) -> float:
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"'{text}' is no number")
    digits, _, power = text.replace(",", "").partition("x10^")
    return float(digits) * 10.0 ** int(power or 0)


@dataclass(frozen=True, slots=True)
class Spread:
    """Where a number lies, as far as one can tell."""

    low: float
    high: float

    @property
    def middle(self) -> float:
        return (self.low + self.high) / 2

    def meets(self, other: Spread) -> bool:
        """Whether they have a number in common."""
        return self.low <= other.high and other.low <= self.high

    @staticmethod
    def over(parts: Iterable[Spread]) -> Spread:
        """The narrowest spread that holds all of them."""
        every = list(parts)
        return Spread(min(one.low for one in every), max(one.high for one in every))


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperCell:
    """One number of ours, and the paper's where it prints one."""

    row: str
    column: str
    ours: tuple[float, ...] = ()
    """One number, or the two ends of a range; nothing where it cannot be had."""
    low: float | None = None
    high: float | None = None
    """The interval of ours, where there is one."""
    alike: str = ""
    """Rows of one recipe that differ in the training seed alone share this; they have no order."""
    theirs: PaperValue | None = None
    agreement: str = ""
    """A key of AGREEMENTS; empty where there is nothing to compare."""
    note: str = ""
    """Why ours is missing, or what to know of it."""

    @property
    def spread(self) -> Spread | None:
        """Of ours: its interval, or its range; None where it is missing."""
        ends = [*self.ours, *(end for end in (self.low, self.high) if end is not None)]
        return Spread(min(ends), max(ends)) if self.ours else None

    @property
    def difference(self) -> float | None:
        """Ours less theirs; None where one is missing or a range."""
        if self.theirs is None or len(self.ours) != 1 or len(self.theirs.numbers()) != 1:
            return None
        return self.ours[0] - self.theirs.spread().middle


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """Part of a table: cells by row and column, in the order in which they come."""

    title: str = ""
    cells: tuple[PaperCell, ...] = ()
    missing: str = ""
    """Why there is nothing, and the command that would change it."""
    along_rows: bool = False
    """Whether the paper's contrast is between the columns of a row, as before and after, and not
    between the rows of a column."""

    @property
    def rows(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(cell.row for cell in self.cells))

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(cell.column for cell in self.cells))

    def cell(self, row: str, column: str) -> PaperCell | None:
        """The cell at a place, or None where the panel has a gap."""
        return next((c for c in self.cells if (c.row, c.column) == (row, column)), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperTable:
    """A table or figure of the paper, made again."""

    label: str
    title: str
    panels: tuple[Panel, ...]
    comparable: bool
    """Whether the data are the paper's, so that numbers can be held against its numbers."""
    data: str
    """What ours is of, in words."""
    notes: tuple[str, ...] = ()

    @property
    def cells(self) -> tuple[PaperCell, ...]:
        return tuple(cell for panel in self.panels for cell in panel.cells)

    @property
    def missing(self) -> tuple[str, ...]:
        """What is not there and why, each reason once."""
        reasons = [panel.missing for panel in self.panels]
        reasons += [cell.note for cell in self.cells if not cell.ours]
        return tuple(dict.fromkeys(reason for reason in reasons if reason))
