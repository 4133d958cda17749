"""The board: producers by criteria, ranks within each, and every number as a small drawing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from edsim.report.criteria import (
    CRITERIA,
    Criterion,
    figure,
    loss_interval,
    loss_of,
    shown_interval,
    target_of,
    with_unit,
)
from edsim.report.entries import Entry
from edsim.tables.scores import ScoreRow

WIDTH = 100.0
"""Of a small drawing, in its own units."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One number of the board; places are on the drawing's width."""

    text: str
    rank: int | None = None
    """1 is best; None where it is not ranked."""
    level: bool = False
    """Whether its interval overlaps that of the first."""
    at: float | None = None
    low: float | None = None
    high: float | None = None
    zone: tuple[float, float] | None = None
    """Where the floor's loss is."""
    reference: float | None = None
    target: float | None = None
    says: str = ""
    """The same in words."""


@dataclass(frozen=True, slots=True)
class Line:
    """One producer."""

    entry: Entry
    cells: dict[str, Cell]


@dataclass(frozen=True, slots=True)
class Board:
    """Producers in the order of the first criterion; those not ranked come last."""

    criteria: tuple[Criterion, ...]
    lines: list[Line]
    missing: list[str] = field(default_factory=list)
    """Criteria without a number, each with the reason."""

    def leaders(self, metric: str) -> list[Entry]:
        """Who is first by a criterion."""
        return [line.entry for line in self.lines if line.cells[metric].rank == 1]

    @property
    def first(self) -> str:
        """The criterion that orders the board at first: the event mix, if there is one."""
        metrics = [one.metric for one in self.criteria]
        closed = [one.metric for one in self.criteria if not one.open_loop]
        return "jsd" if "jsd" in metrics else (closed or metrics)[0]


def board_of(entries: Sequence[Entry]) -> Board:
    """Every criterion that any producer has a number for."""
    shown = tuple(one for one in CRITERIA if any(entry.find(one.metric) for entry in entries))
    cells = {one.metric: _column(one, entries) for one in shown}
    lines = [Line(entry, {m: cells[m][i] for m in cells}) for i, entry in enumerate(entries)]
    board = Board(shown, lines, _missing(entries))
    if shown:
        lines.sort(key=lambda line: (line.cells[board.first].rank or math.inf, line.entry.number))
    return board


def _missing(entries: Sequence[Entry]) -> list[str]:
    """Criteria without a number, with the reason that the sheets give."""
    said = []
    for criterion in CRITERIA:
        if any(entry.find(criterion.metric) for entry in entries):
            continue
        rows = [entry.sheet.find(criterion.metric) for entry in entries]
        notes = dict.fromkeys(row.note for row in rows if row is not None and row.note)
        said.append(f"{criterion.title}: {next(iter(notes), 'not among the scores')}")
    return said


def _column(criterion: Criterion, entries: Sequence[Entry]) -> list[Cell]:
    rows = [entry.find(criterion.metric) for entry in entries]
    place = _places(criterion, [row for row in rows if row is not None])
    ranks = ranks_by(criterion, entries)
    first = next((rows[i] for i, rank in enumerate(ranks) if rank == 1), None)
    best = None if first is None else loss_interval(criterion, first)
    return [
        Cell(text="–", says="no number")
        if row is None or row.value is None
        else _cell(criterion, row, row.value, rank, place, best)
        for row, rank in zip(rows, ranks, strict=True)
    ]


def ranks_by(criterion: Criterion, entries: Sequence[Entry]) -> list[int | None]:
    """The rank of each by how far off it is; equal losses share a rank, the oracle has none."""
    losses: list[float | None] = []
    for entry in entries:
        row = entry.find(criterion.metric)
        ranked = row is not None and not entry.privileged
        losses.append(loss_of(criterion, row) if ranked and row is not None else None)
    there = sorted(loss for loss in losses if loss is not None)
    return [None if loss is None else there.index(loss) + 1 for loss in losses]


def _cell(
    criterion: Criterion,
    row: ScoreRow,
    value: float,
    rank: int | None,
    place: _Places,
    best: tuple[float, float] | None,
) -> Cell:
    interval, target = shown_interval(row), target_of(criterion, row)
    ours = loss_interval(criterion, row)
    level = bool(rank and rank > 1 and ours and best and ours[0] <= best[1])
    return Cell(
        text=figure(criterion, value),
        rank=rank,
        level=level,
        at=place(value),
        low=None if interval is None else place(interval[0]),
        high=None if interval is None else place(interval[1]),
        zone=_zone(criterion, row, target, place),
        reference=None if row.reference is None else place(row.reference),
        target=None if target is None else place(target),
        says=_in_words(criterion, row, value, interval, target),
    )


def _in_words(
    criterion: Criterion,
    row: ScoreRow,
    value: float,
    interval: tuple[float, float] | None,
    target: float | None,
) -> str:
    parts = [with_unit(criterion, value)]
    if interval is not None:
        parts.append(f"95 % interval {' to '.join(figure(criterion, end) for end in interval)}")
    if target is not None:
        parts.append(f"right is {figure(criterion, target)}")
    if row.reference is not None:
        parts.append(f"order-3 model {figure(criterion, row.reference)}")
    if row.floor is not None:
        parts.append(f"floor {_loss_text(criterion, row.floor)} ({row.floor_kind})")
    return "; ".join(parts)


def _loss_text(criterion: Criterion, floor: float) -> str:
    return f"{100 * floor:.2g} pp" if criterion.form == "share" else f"{floor:.2g}"


def _zone(
    criterion: Criterion, row: ScoreRow, target: float | None, place: _Places
) -> tuple[float, float] | None:
    """What is as near to the truth as the floor."""
    if row.floor is None:
        return None
    if criterion.loss == "value":
        return 0.0, place(row.floor)
    if target is None:
        return None
    if criterion.loss == "log_ratio":
        return place(target * math.exp(-row.floor)), place(target * math.exp(row.floor))
    return place(target - row.floor), place(target + row.floor)


@dataclass(frozen=True, slots=True)
class _Places:
    """Values to places on a small drawing, the same scale for a whole column."""

    low: float
    high: float
    log: bool

    def __call__(self, value: float) -> float:
        low, high, at = self.low, self.high, value
        if self.log:
            low, high, at = math.log(low), math.log(high), math.log(max(value, self.low))
        return round(WIDTH * min(max((at - low) / (high - low), 0.0), 1.0), 1)


def _places(criterion: Criterion, rows: Sequence[ScoreRow]) -> _Places:
    values = [row.value for row in rows] + [row.reference for row in rows]
    ends = [end for row in rows for end in shown_interval(row) or ()]
    targets = [target_of(criterion, row) for row in rows]
    floors = [row.floor for row in rows if criterion.loss == "value"]
    known = [value for value in (*values, *ends, *targets, *floors) if value is not None]
    if criterion.scale == "log":
        positive = [value for value in known if value > 0] or [1.0]
        low, high = min(positive) / 1.3, max(positive) * 1.15
        return _Places(low, high, True)
    low = 0.0 if criterion.loss == "value" else min(known, default=0.0)
    high = max(known, default=1.0)
    margin = 0.06 * (high - low) or 0.01
    return _Places(low if criterion.loss == "value" else low - margin, high + margin, False)
