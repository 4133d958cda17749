"""How numbers of ours and of the paper are written: as many places as the paper prints, no fewer
than two figures that mean something.
"""

from __future__ import annotations

import math

from edsim.tables.paper import PaperCell, PaperValue

MISSING = "-"
MOST_PLACES = 7


def number(value: float, like: PaperValue | None = None) -> str:
    """A number as text; `like` says how the paper writes its own.

    >>> number(0.00149), number(123456.0), number(0.0000099999), number(0.5), number(7.0)
    ('0.0015', '123,456', '1.0x10^-5', '0.50', '7')
    """
    if value == 0:
        return f"{0:.{like.places()}f}" if like is not None else "0"
    if like is None and value == round(value):
        return f"{value:,.0f}"
    size = math.floor(math.log10(abs(value)))
    if size < -4 or (like is not None and "x10^" in like.value and size < -2):
        digits, _, power = f"{value:.1e}".partition("e")
        return f"{digits}x10^{int(power)}"
    two_figures = min(max(1 - size, 0), MOST_PLACES)
    whole = like is not None and like.places() == 0 and value == round(value)
    places = 0 if whole else max(like.places() if like is not None else 0, two_figures)
    sign = "+" if like is not None and like.value[0] in "+-" else ""
    return f"{value:{sign},.{places}f}"


def ours(cell: PaperCell) -> str:
    """Our number or range; a dash where it is missing."""
    if not cell.ours:
        return MISSING
    return " to ".join(number(value, cell.theirs) for value in cell.ours)


def interval(cell: PaperCell) -> str:
    """Our interval in brackets, or nothing."""
    if cell.low is None or cell.high is None or not cell.ours:
        return ""
    return f"[{number(cell.low, cell.theirs)}, {number(cell.high, cell.theirs)}]"


def theirs(cell: PaperCell) -> str:
    """The paper's number as it prints it, or nothing."""
    if cell.theirs is None:
        return ""
    unit = f" {cell.theirs.unit}" if cell.theirs.unit in ("GB", "MB") else ""
    ends = len(cell.theirs.numbers()) > 1
    return (_split_range(cell.theirs.value) if ends else cell.theirs.value) + unit


def difference(cell: PaperCell) -> str:
    """Ours less theirs with its sign, or nothing."""
    if cell.difference is None:
        return ""
    text = number(cell.difference, cell.theirs)
    return text if text[0] in "+-" else f"+{text}"


def _split_range(value: str) -> str:
    """
    >>> _split_range("0.43-0.96"), _split_range("-0.1-0.2")
    ('0.43 to 0.96', '-0.1 to 0.2')
    """
    first = value.index("-", 1)
    return f"{value[:first]} to {value[first + 1 :]}"
