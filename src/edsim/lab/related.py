"""Cohorts that stand beside a main one: its own visits split by time or in a finer vocabulary, and
another hospital's.

Of a synthetic cohort all are made and kept in its store: the same visits with a temporal split,
the same encoded with 182 tokens, and the second synthetic department, written as MC-MED files and
read back as those are. Of real data only their owner can make them; the command that does is named.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from edsim.cohort.splits import SplitRule
from edsim.errors import BadCohortError
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
PAPERS_SPLIT = SplitRule(kind="temporal")
"""The paper's periods: trained to 2013, tested from 2017."""
_YEARS = re.compile(r"(?:up to|from) (\d+)")


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


def is_temporal(cohort: Cohort) -> bool:
    """Whether it was split by calendar period, whatever the years."""
    return _shape(str(cohort.manifest.split["rule"])) == _shape(PAPERS_SPLIT.sentence())


def is_of_the_papers_years(cohort: Cohort) -> bool:
    """Whether it was split by the paper's periods."""
    said = str(cohort.manifest.split["rule"])
    return is_temporal(cohort) and _YEARS.findall(said) == _YEARS.findall(PAPERS_SPLIT.sentence())


def stays_before_split(cohort: Cohort) -> int:
    """Stays that were divided: a temporal split leaves those between its periods out."""
    steps = cohort.manifest.attrition
    if is_temporal(cohort) and len(steps) > 1:
        return steps[-2].n_stays
    return cohort.manifest.n_stays


def _shape(sentence: str) -> str:
    return re.sub(r"\d+", "#", sentence)


def refuse_unrelated(main: Cohort, temporal: Cohort | None, external: Cohort | None) -> None:
    """Refuse cohorts that cannot stand beside the main one under these names."""
    if temporal is not None and not is_temporal(temporal):
        raise BadCohortError(
            "the cohort of --temporal was not split by time "
            f"({temporal.manifest.split['rule']}). {_make_it(main, 'temporal')}"
        )
    if temporal is not None and temporal.manifest.source != main.manifest.source:
        raise BadCohortError(
            f"the cohort of --temporal is of the source '{temporal.manifest.source}' and that of "
            f"--cohort of '{main.manifest.source}': a shift in time is seen within one source. "
            f"{_make_it(main, 'temporal')}"
        )
    if external is not None and external.manifest.content_hash == main.manifest.content_hash:
        raise BadCohortError(
            "the cohort of --external is that of --cohort: another hospital's is needed. "
            f"{_make_it(main, 'external')}"
        )


def _make_it(main: Cohort, role: Related) -> str:
    if main.manifest.source == SYNTHETIC:
        return f"Leave --{role} out: beside a synthetic cohort one is made."
    return f"Make one with `{how_to_make(main, role)}`."


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
