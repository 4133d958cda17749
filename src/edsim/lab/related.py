"""Cohorts that stand beside a main one: its own visits split by time or in a finer vocabulary, and
another hospital's.

Of a synthetic cohort all are made and kept in its store: the same visits with a temporal split,
the same encoded with 182 tokens, and the second synthetic department, written as MC-MED files and
read back as those are. Of real data only their owner can make them; the command that does is named.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from edsim.cohort.splits import SplitRule
from edsim.lab.build import CohortSettings, build_cohort
from edsim.lab.cohort import Cohort, open_cohort
from edsim.lab.store import Asked, store_of
from edsim.progress import Progress, silent
from edsim.sources import SOURCES, synthetic
from edsim.sources.mcmed.options import McmedOptions

Related = Literal["temporal", "external", "extended"]
SYNTHETIC = "synthetic"
FINEST = "ed182"
"""The vocabulary of the extended cohort."""


def related_cohort(cohort: Cohort, role: Related, progress: Progress = silent) -> Cohort | None:
    """The cohort of that role, found or made; None where the main cohort is of real data.

    A cohort that is encoded with the finest vocabulary is its own extended one.
    """
    if role == "extended" and FINEST in cohort.manifest.vocabularies:
        return cohort
    if cohort.manifest.source != SYNTHETIC:
        return None
    build = _MAKERS[role]

    def make(path: Path) -> None:
        build(cohort, path, progress)

    asked = related_asked(cohort, role)
    return open_cohort(store_of(cohort).get(asked, make, progress))


def related_asked(cohort: Cohort, role: Related) -> Asked:
    """A related cohort by what decides it: the process and its options."""
    manifest = cohort.manifest
    return Asked(
        kind="cohorts",
        name=role,
        inputs={
            "role": role,
            "source_version": manifest.source_version,
            "options": dict(manifest.source_options),
            "vocabularies": sorted(manifest.vocabularies) if role == "temporal" else [],
        },
    )


def how_to_make(cohort: Cohort, role: Related) -> str:
    """The command that makes such a cohort of real data."""
    if role == "external":
        return "edsim cohort build mcmed --data MC-MED --out EXTERNAL"
    source = cohort.manifest.source
    if role == "extended":
        names = " ".join(f"--vocabulary {name}" for name in (*cohort.manifest.vocabularies, FINEST))
        return f"edsim cohort build {source} ... {names} --out COHORT"
    given = "--ed DIR --hosp HOSP " if source == "mimic" else "... "
    return f"edsim cohort build {source} {given}--split temporal --out TEMPORAL"


def _temporal(cohort: Cohort, path: Path, progress: Progress) -> None:
    settings = CohortSettings(
        split=SplitRule(kind="temporal"), vocabularies=tuple(cohort.manifest.vocabularies)
    )
    build_cohort(SOURCES[SYNTHETIC], _options(cohort), path, settings=settings, progress=progress)


def _extended(cohort: Cohort, path: Path, progress: Progress) -> None:
    settings = CohortSettings(vocabularies=(FINEST,))
    build_cohort(SOURCES[SYNTHETIC], _options(cohort), path, settings=settings, progress=progress)


def _external(cohort: Cohort, path: Path, progress: Progress) -> None:
    settings = CohortSettings(open_data="synthetic visits, no patient behind them")
    with TemporaryDirectory(prefix="edsim-") as folder:
        synthetic.LAYOUTS["mcmed"](Path(folder), _options(cohort), progress)
        options = McmedOptions(data=Path(folder))
        build_cohort(SOURCES["mcmed"], options, path, settings=settings, progress=progress)


_MAKERS: dict[Related, Callable[[Cohort, Path, Progress], None]] = {
    "temporal": _temporal,
    "external": _external,
    "extended": _extended,
}


def _options(cohort: Cohort) -> Any:
    return SOURCES[SYNTHETIC].options(**cohort.manifest.source_options)
