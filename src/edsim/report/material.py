"""What a report is made of: the score sheets of one setting, comparisons and visits of a folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from edsim.errors import BadInputError
from edsim.tables import census, comparisons, scores, shown_visits
from edsim.tables.census import Census, read_census
from edsim.tables.comparisons import Comparisons, read_comparisons
from edsim.tables.scores import ScoreSheet, read_sheet
from edsim.tables.shown_visits import ShownVisits, read_visits

Setting = tuple[str, str, int]
"""Vocabulary, launch set and cap: only numbers of one setting stand beside each other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """Everything the page says; all of one cohort and one setting."""

    sheets: tuple[ScoreSheet, ...]
    open_loop: tuple[ScoreSheet, ...] = ()
    """Scores of predictions: the same producers, asked and not let go."""
    comparisons: tuple[Comparisons, ...] = ()
    censuses: tuple[Census, ...] = ()
    visits: tuple[ShownVisits, ...] = ()
    left_out: tuple[str, ...] = ()
    """What lay in the folder too and is not shown, in sentences."""

    @property
    def restricted(self) -> bool:
        """Whether the cohort is under a data use agreement; unsaid counts as yes."""
        return any(bool(sheet.cohort.get("restricted", True)) for sheet in self.sheets)


def read_material(folder: Path, *, vocabulary: str = "", launches: str = "") -> Material:
    """All there is in a folder and below it; of several settings the one with most producers."""
    if not folder.is_dir():
        raise BadInputError(f"there is no folder '{folder}'. {_HOW}")
    paths = sorted(folder.rglob(f"*{scores.SUFFIX}"))
    if not paths:
        raise BadInputError(f"'{folder}' holds no *{scores.SUFFIX} file. {_HOW}")
    read = [read_sheet(path) for path in paths]
    _refuse_several_cohorts(read)
    open_loop = [sheet for sheet in read if is_open_loop(sheet)]
    sheets = [sheet for sheet in read if not is_open_loop(sheet)]
    if not sheets:
        raise BadInputError(
            f"'{folder}' holds scores of predictions only, none of rollouts. {_HOW}"
        )
    chosen, left_out = _of_one_setting(sheets, vocabulary, launches)
    visits = [read_visits(path) for path in sorted(folder.rglob(f"*{shown_visits.SUFFIX}"))]
    counted = [read_census(path) for path in sorted(folder.rglob(f"*{census.SUFFIX}"))]
    found = [read_comparisons(path) for path in sorted(folder.rglob(comparisons.FILE))]
    return Material(
        sheets=tuple(chosen),
        open_loop=tuple(
            one for one in open_loop if one.vocabulary_sha256 == chosen[0].vocabulary_sha256
        ),
        comparisons=tuple(one for one in found if _belongs(one, chosen[0])),
        censuses=tuple(one for one in counted if _same_cohort(one.cohort, chosen[0])),
        visits=tuple(one for one in visits if _shows(one, chosen[0])),
        left_out=tuple(left_out),
    )


_HOW = "Make one with: edsim score PRODUCERS --cohort C --out DIR"


def setting_of(sheet: ScoreSheet) -> Setting:
    """What decides whether two sheets may stand beside each other."""
    return (sheet.vocabulary, sheet.launches, sheet.cap)


def is_open_loop(sheet: ScoreSheet) -> bool:
    """Whether a sheet is of predictions and not of rollouts."""
    return sheet.find("accuracy") is not None and sheet.find("termination") is None


def _refuse_several_cohorts(sheets: Sequence[ScoreSheet]) -> None:
    counts = Counter(str(sheet.cohort.get("content_hash", "")) for sheet in sheets)
    if len(counts) > 1:
        raise BadInputError(
            f"the folder holds scores of {len(counts)} cohorts ({len(sheets)} files), and a report "
            "is of one: numbers of different cohorts do not stand beside each other. Give each its "
            "own folder."
        )


def _of_one_setting(
    sheets: Sequence[ScoreSheet], vocabulary: str, launches: str
) -> tuple[list[ScoreSheet], list[str]]:
    """The sheets to show, and what is said of the others."""
    counts = Counter(setting_of(sheet) for sheet in sheets)
    wanted = [
        setting
        for setting in counts
        if vocabulary in ("", setting[0]) and launches in ("", setting[1])
    ]
    if not wanted:
        there = "; ".join(_said(setting) for setting in counts)
        raise BadInputError(f"the folder has no scores of what was asked for. It has: {there}.")
    best = max(wanted, key=lambda setting: counts[setting])
    others = [
        f"{n} {'file' if n == 1 else 'files'} of another setting ({_said(setting)})"
        for setting, n in counts.items()
        if setting != best
    ]
    return [sheet for sheet in sheets if setting_of(sheet) == best], others


def _said(setting: Setting) -> str:
    return f"vocabulary {setting[0]}, launches {setting[1]}, cap {setting[2]}"


def _belongs(found: Comparisons, sheet: ScoreSheet) -> bool:
    same = _same_cohort(found.cohort, sheet)
    return same and (found.launches, found.cap) == (sheet.launches, sheet.cap)


def _same_cohort(cohort: Mapping[str, Any], sheet: ScoreSheet) -> bool:
    return bool(cohort.get("content_hash") == sheet.cohort.get("content_hash"))


def _shows(visits: ShownVisits, sheet: ScoreSheet) -> bool:
    return (visits.content_hash, visits.vocabulary_sha256, visits.cap) == (
        sheet.cohort.get("content_hash"),
        sheet.vocabulary_sha256,
        sheet.cap,
    )
