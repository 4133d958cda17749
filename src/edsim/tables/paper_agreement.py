"""How our numbers agree with the paper's: within their spread, in their order, or not.

Numbers are held against each other only where the data are the paper's. Elsewhere, such as on the
synthetic department, only the pattern can agree: which row of a column lies above which, or which
column of a row where that is the paper's contrast. Only numbers of one unit have an order.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from edsim.tables.paper import Panel, PaperCell, PaperValue, Spread

AGREEMENTS: dict[str, str] = {
    "same": "our number and the paper's meet within their spread (interval, range over seeds, "
    "rounding)",
    "same order": "our number is another, or of other data, but lies on the paper's side of every "
    "row (or column, where columns are compared) that both set apart from it, and of one at least",
    "undecided": "our spread is too wide to set the row apart from any that the paper sets apart",
    "differs": "a row that the paper has above lies below in ours, or the number is another and "
    "the column has no order to share",
}
"""Every verdict, and what it says."""
SETTING = "setting"
"""The unit of what was chosen and not found, such as a number of seeds: it has no verdict."""
DEFINED = "by definition"
"""Note of a number that can be no other, as the multiple of the reference itself: it has no
verdict, and stands beside others in their order."""


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
    judged = [replace(cell, agreement=_agreement(cell, panel, comparable)) for cell in panel.cells]
    return replace(panel, cells=tuple(judged))


def order_of(cell: PaperCell, panel: Panel) -> Order:
    """The cell beside every other of its line that the paper sets apart from it, in its unit."""
    here = _both(cell, panel)
    if here is None:
        return Order()
    counts = {1: 0, -1: 0, 0: 0}
    seen = {_kind(cell, panel)}
    for other in panel.cells:
        in_line = _line(other, panel) == _line(cell, panel) and _kind(other, panel) not in seen
        there = _both(other, panel) if in_line else None
        if there is None or there.unit != here.unit or here.theirs.meets(there.theirs):
            continue
        seen.add(_kind(other, panel))
        above = here.theirs.middle > there.theirs.middle
        same_side = (here.ours.middle > there.ours.middle) == above
        counts[0 if here.ours.meets(there.ours) else 1 if same_side else -1] += 1
    return Order(kept=counts[1], turned=counts[-1], open=counts[0])


def line_orders(panel: Panel) -> dict[str, Order]:
    """By column, all pairs of its rows, each once; by row where columns are compared."""
    names = panel.rows if panel.along_rows else panel.columns
    return {name: _order_in(panel, name) for name in names}


def _order_in(panel: Panel, line: str) -> Order:
    of_kind = {_kind(cell, panel): cell for cell in panel.cells if _line(cell, panel) == line}
    every = [order_of(cell, panel) for cell in of_kind.values()]
    return Order(
        kept=sum(one.kept for one in every) // 2,
        turned=sum(one.turned for one in every) // 2,
        open=sum(one.open for one in every) // 2,
    )


def _agreement(cell: PaperCell, panel: Panel, comparable: bool) -> str:
    ours, order = cell.spread, order_of(cell, panel)
    if ours is None or cell.theirs is None or _was_given(cell.theirs):
        return ""
    if comparable and ours.meets(_theirs(cell, panel)):
        return "same"
    if order.turned:
        return "differs"
    if order.kept:
        return "same order"
    if order.open:
        return "undecided"
    return "differs" if comparable else ""


def _was_given(theirs: PaperValue) -> bool:
    return theirs.unit == SETTING or DEFINED in theirs.note


def _line(cell: PaperCell, panel: Panel) -> str:
    """Cells of one line are compared with each other."""
    return cell.row if panel.along_rows else cell.column


def _kind(cell: PaperCell, panel: Panel) -> str:
    return cell.column if panel.along_rows else cell.alike or cell.row


def _alike(cell: PaperCell, panel: Panel) -> list[PaperCell]:
    """The cells of its line that differ from it in the training seed alone, itself among them."""
    line, kind = _line(cell, panel), _kind(cell, panel)
    return [c for c in panel.cells if (_line(c, panel), _kind(c, panel)) == (line, kind)]


def _theirs(cell: PaperCell, panel: Panel) -> Spread:
    """The paper's, over its seeds: our first seed is not its first."""
    alike = _alike(cell, panel)
    return Spread.over(one.theirs.spread() for one in alike if one.theirs is not None)


@dataclass(frozen=True, slots=True)
class _Both:
    """Our spread and the paper's, over all cells that differ in the seed alone."""

    ours: Spread
    theirs: Spread
    unit: str


def _both(cell: PaperCell, panel: Panel) -> _Both | None:
    """None where one of the two is missing, or the paper's is no result."""
    alike = _alike(cell, panel)
    ours = [one.spread for one in alike if one.spread is not None]
    units = [c.theirs.measured_in for c in alike if c.theirs and c.theirs.unit != SETTING]
    if not ours or not units:
        return None
    return _Both(Spread.over(ours), _theirs(cell, panel), units[0])
