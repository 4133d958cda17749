"""Numbers as people read them, in tables on a terminal and in sentences."""

from __future__ import annotations

import math


def figure(value: float | None) -> str:
    """Three or four figures, as many as one reads.

    >>> figure(0.94251), figure(-12.345), figure(0.00004), figure(1234.5), figure(None)
    ('0.9425', '-12.35', '4.0e-05', '1,234', '-')
    """
    if value is None or math.isnan(value):
        return "-"
    if value and abs(value) < 0.001:
        return f"{value:.1e}"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    digits = 4 if abs(value) < 1 else 2
    return f"{value:.{digits}f}".rstrip("0").rstrip(".")


def chance_of(p: float | None) -> str:
    """A p-value.

    >>> chance_of(0.0004), chance_of(0.0213), chance_of(0.4)
    ('< 0.001', '0.021', '0.40')
    """
    if p is None or math.isnan(p):
        return "-"
    if p < 0.001:
        return "< 0.001"
    return f"{p:.3f}" if p < 0.1 else f"{p:.2f}"
