"""A table of the paper from its entry: panels, verdicts, and whether the data are the paper's."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from edsim.lab.cohort import Cohort
from edsim.lab.related import is_of_the_papers_years, is_temporal, stays_before_split
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
    foreign = _not_the_papers(entry, book)
    comparable = book.scale.name == "full" and not foreign
    return PaperTable(
        label=entry.label,
        title=entry.title,
        panels=tuple(with_agreement(panel, comparable=comparable) for panel in entry.panels(book)),
        comparable=comparable,
        data=what_it_is(cohort, entry.cohort, book.scale, foreign),
        notes=entry.notes,
    )


def is_the_papers(cohort: Cohort, role: Role) -> bool:
    """Whether source, number of stays and kind of split are those of the paper."""
    source, row, column = OF_THE_PAPER[role]
    wanted = printed("sec:data")[row, column].spread().middle
    manifest = cohort.manifest
    split = is_of_the_papers_years(cohort) if role == "temporal" else not is_temporal(cohort)
    size = abs(stays_before_split(cohort) / wanted - 1) <= WITHIN
    return manifest.source == source and manifest.restricted and split and size


def _not_the_papers(entry: Entry, book: Book) -> tuple[Role, ...]:
    """Cohorts that are there, that numbers of the table are of, and that are not the paper's."""
    found = {
        role: book.tried(partial(book.cohort, role))[0] for role in (entry.cohort, *entry.beside)
    }
    return tuple(r for r, cohort in found.items() if cohort and not is_the_papers(cohort, r))


def what_it_is(
    cohort: Cohort, role: Role, scale: Scale, foreign: Sequence[Role] | None = None
) -> str:
    """Of what our numbers are, and what of them can be compared with the paper's.

    `foreign` are the cohorts of the table that are not the paper's; this one alone is looked at
    where nothing is said of others.
    """
    if foreign is None:
        foreign = () if is_the_papers(cohort, role) else (role,)
    manifest = cohort.manifest
    about = f" ({manifest.open_data})" if manifest.open_data else ""
    said = (
        f"Ours: {manifest.n_stays:,} stays of the source '{manifest.source}'{about}, scale "
        f"'{scale.name}' ({scale.sentence(role)})."
    )
    if scale.name == "full" and not foreign:
        return f"{said} The paper's cohort: numbers are held against its numbers."
    why = "These are not the paper's sizes"
    if foreign:
        why = "These are not the paper's data"
        if role not in foreign:
            why = f"Beside them stands another {foreign[0]} cohort than the paper's"
    return f"{said} {why}, so only the pattern can be compared: which row lies above which."
