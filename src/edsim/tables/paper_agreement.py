"""How our numbers agree with the paper's: within their spread, in their order, or not.

Numbers are held against each other only where the data are the paper's. Elsewhere, such as on the
synthetic department, only the pattern can agree: which row of a column lies above which.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from edsim.tables.paper import Panel, PaperCell, Spread

AGREEMENTS: dict[str, str] = {
    "same": "our number and the paper's meet within their spread (interval, range over seeds, "
    "rounding)",
    "same order": "our number is another, or of other data, but lies on the paper's side of every "
    "row that both set apart from it, and of one at least",
    "undecided": "our spread is too wide to set the row apart from any that the paper sets apart",
    "differs": "a row that the paper has above lies below in ours, or the number is another and "
    "the column has no order to share",
}
"""Every verdict, and what it says."""
SETTING = "setting"
"""The unit of what was chosen and not found, such as a number of seeds: it has no verdict."""


@dataclass(frozen=True, slots=True)
class Order:
    """How many pairs of rows that the paper sets apart stand in its order, against it, or open."""

    kept: int = 0
    turned: int = 0
    open: int = 0

    @property
    def n_pairs(self) -> int:
        return self.kept + self.turned + self.open


def with_agreement(panel: Panel, *, comparable: bool) -> Panel:
    """The panel with a verdict in every cell that has a number of ours and one of theirs."""
    judged = [
        replace(cell, agreement=_agreement(cell, panel.cells, comparable)) for cell in panel.cells
    ]
    return replace(panel, cells=tuple(judged))


def order_of(cell: PaperCell, cells: Sequence[PaperCell]) -> Order:
    """The cell beside every other of its column that the paper sets apart from it."""
    here = _both(cell, cells)
    if here is None:
        return Order()
    counts = {1: 0, -1: 0, 0: 0}
    seen = {_kind(cell)}
    for other in cells:
        there = _both(other, cells) if other.column == cell.column else None
        if there is None or _kind(other) in seen or here[1].meets(there[1]):
            continue
        seen.add(_kind(other))
        same_side = (here[0].middle > there[0].middle) == (here[1].middle > there[1].middle)
        counts[0 if here[0].meets(there[0]) else 1 if same_side else -1] += 1
    return Order(kept=counts[1], turned=counts[-1], open=counts[0])


def column_order(panel: Panel, column: str) -> Order:
    """All pairs of rows of a column, each once."""
    of_kind = {_kind(cell): cell for cell in panel.cells if cell.column == column}
    every = [order_of(cell, panel.cells) for cell in of_kind.values()]
    return Order(
        kept=sum(one.kept for one in every) // 2,
        turned=sum(one.turned for one in every) // 2,
        open=sum(one.open for one in every) // 2,
    )


def _agreement(cell: PaperCell, cells: Sequence[PaperCell], comparable: bool) -> str:
    ours, order = cell.spread, order_of(cell, cells)
    if ours is None or cell.theirs is None or cell.theirs.unit == SETTING:
        return ""
    if comparable and ours.meets(_theirs(cell, cells)):
        return "same"
    if order.turned:
        return "differs"
    if order.kept:
        return "same order"
    if order.open:
        return "undecided"
    return "differs" if comparable else ""


def _kind(cell: PaperCell) -> str:
    return cell.alike or cell.row


def _alike(cell: PaperCell, cells: Sequence[PaperCell]) -> list[PaperCell]:
    """The cells of its column that differ from it in the training seed alone, itself among them."""
    return [one for one in cells if one.column == cell.column and _kind(one) == _kind(cell)]


def _theirs(cell: PaperCell, cells: Sequence[PaperCell]) -> Spread:
    """The paper's, over its seeds: our first seed is not its first."""
    return Spread.over(one.theirs.spread() for one in _alike(cell, cells) if one.theirs is not None)


def _both(cell: PaperCell, cells: Sequence[PaperCell]) -> tuple[Spread, Spread] | None:
    """Our spread and the paper's, over all rows that differ in the seed alone; None without one."""
    alike = _alike(cell, cells)
    ours = [one.spread for one in alike if one.spread is not None]
    if not ours or not any(one.theirs and one.theirs.unit != SETTING for one in alike):
        return None
    return Spread.over(ours), _theirs(cell, cells)
