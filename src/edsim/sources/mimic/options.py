"""The flags of `edsim cohort build mimic`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from edsim.errors import BadInputError

Period = Literal["subject", "visit"]
Ties = Literal["activity", "file"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MimicOptions:
    """MIMIC-IV-ED visits, as the MIMICEL log has them."""

    ed: Path | None = None
    """Folder of the MIMIC-IV-ED tables (edstays, triage, vitalsign, medrecon, pyxis, diagnosis;
    .csv or .csv.gz). Without --mimicel the log is built from them by the rules of MIMICEL."""
    mimicel: Path | None = None
    """The log mimicel.csv or mimicel.csv.gz of MIMICEL 2.1.0; with --ed as well, its stays are
    compared with edstays."""
    hosp: Path | None = None
    """Folder with patients.csv or patients.csv.gz of MIMIC-IV: gives age and calendar period."""
    period: Period = "subject"
    """Calendar period of a stay: the label of the subject's anchor-year group, or the range of
    years the visit itself can have fallen in."""
    ties: Ties = "activity"
    """Order of rows at one time: by activity (Enter, vital sign, triage, reconciliation,
    dispensation, discharge), or as the rows stand in mimicel.csv."""
    deduplicate: bool = False
    """Keep only the first of the rows that share stay, time and activity."""
    limits: Path | None = None
    """Own vital-sign limits, a copy of vital_limits.toml with other numbers."""

    def __post_init__(self) -> None:
        if self.ed is None and self.mimicel is None:
            raise BadInputError(
                "nothing to read: give --ed with the folder of the MIMIC-IV-ED tables, or "
                "--mimicel with the file mimicel.csv, or both."
            )
