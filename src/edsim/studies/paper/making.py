"""A table of the paper from its entry: panels, verdicts, and whether the data are the paper's."""

from __future__ import annotations

from edsim.lab.cohort import Cohort
from edsim.studies.paper.book import Book
from edsim.studies.paper.entry import Entry
from edsim.studies.paper.scales import Scale
from edsim.studies.paper.values import printed
from edsim.studies.runs import Role
from edsim.tables.paper import Panel, PaperTable
from edsim.tables.paper_agreement import with_agreement

WITHIN = 0.02
"""How far the number of stays may be from the paper's: releases and readings move it by less."""
OF_THE_PAPER: dict[Role, tuple[str, str, str]] = {
    "main": ("mimic", "MIMIC", "Stays"),
    "temporal": ("mimic", "MIMIC", "Stays"),
    "external": ("mcmed", "MC-MED", "Stays kept"),
    "extended": ("mimic", "MIMIC", "Stays"),
}
"""The source of the paper's cohort, and where sec:data prints its size."""


def make_table(entry: Entry, book: Book) -> PaperTable:
    """The table; a cohort that is not there leaves it with the command that makes it."""
    cohort, why = book.tried(lambda: book.cohort(entry.cohort))
    if cohort is None:
        return PaperTable(
            label=entry.label,
            title=entry.title,
            panels=(Panel(missing=why),),
            comparable=False,
            data=f"No {entry.cohort} cohort.",
            notes=entry.notes,
        )
    comparable = _comparable(cohort, entry.cohort, book.scale)
    return PaperTable(
        label=entry.label,
        title=entry.title,
        panels=tuple(with_agreement(panel, comparable=comparable) for panel in entry.panels(book)),
        comparable=comparable,
        data=what_it_is(cohort, entry.cohort, book.scale),
        notes=entry.notes,
    )


def is_the_papers(cohort: Cohort, role: Role) -> bool:
    """Whether source and number of stays are those of the paper."""
    source, row, column = OF_THE_PAPER[role]
    wanted = printed("sec:data")[row, column].spread().middle
    manifest = cohort.manifest
    subject_split = role == "temporal" or abs(manifest.n_stays / wanted - 1) <= WITHIN
    return manifest.source == source and manifest.restricted and subject_split


def _comparable(cohort: Cohort, role: Role, scale: Scale) -> bool:
    return scale.name == "full" and is_the_papers(cohort, role)


def what_it_is(cohort: Cohort, role: Role, scale: Scale) -> str:
    """Of what our numbers are, and what of them can be compared with the paper's."""
    manifest = cohort.manifest
    about = f" ({manifest.open_data})" if manifest.open_data else ""
    said = (
        f"Ours: {manifest.n_stays:,} stays of the source '{manifest.source}'{about}, scale "
        f"'{scale.name}' ({scale.sentence(role)})."
    )
    if _comparable(cohort, role, scale):
        return f"{said} The paper's cohort: numbers are held against its numbers."
    why = f"not the paper's {'sizes' if is_the_papers(cohort, role) else 'data'}"
    return (
        f"{said} These are {why}, so only the pattern can be compared: which row lies above which."
    )
