"""The layouts in which synthetic visits can be written as raw files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from edsim.progress import Progress

if TYPE_CHECKING:
    from edsim.sources.synthetic import SyntheticOptions

Layout = Callable[[Path, "SyntheticOptions", Progress], None]


def mimic(directory: Path, options: SyntheticOptions, progress: Progress) -> None:
    """MIMIC-IV-ED 2.2 in `ed/`, the patients of MIMIC-IV in `hosp/`, MIMICEL in mimicel.csv."""
    from edsim.sources.synthetic.mimic_files import write_mimic

    write_mimic(directory, options, progress)


def mcmed(directory: Path, options: SyntheticOptions, progress: Progress) -> None:
    """MC-MED 1.0.1, from a second process: the visits are others than those of `mimic`."""
    from edsim.sources.synthetic.mcmed_files import write_mcmed

    write_mcmed(directory, options, progress)


LAYOUTS: dict[str, Layout] = {"mimic": mimic, "mcmed": mcmed}
