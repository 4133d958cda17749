"""The flags of `edsim cohort build mcmed`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class McmedOptions:
    """MC-MED visits as one stream of orders, results, medicines, charted vital signs."""

    data: Path
    """Folder of the MC-MED tables visits, orders, labs, rads, numerics (.csv or .csv.gz)."""
    splits: Literal["random", "chrono"] | None = None
    """Read MC-MED's own division from its split files, by chance or by date; --split given
    then takes it over."""
    labs: Literal["component", "panel"] = "component"
    """One event a component of a laboratory result, or one a panel (abnormal if any component
    is). Visits have the published length only with components."""
    drop_unknown: bool = False
    """Leave out rows of visits that visits.csv does not hold, instead of stopping."""
    limits: Path | None = None
    """Own vital-sign limits, a copy of vital_limits.toml with other numbers."""
