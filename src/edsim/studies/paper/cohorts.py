"""sec:data: stays, patients, events and prefixes of the cohorts, and the split."""

from __future__ import annotations

from edsim.studies.paper.book import Book
from edsim.studies.paper.cells import plain
from edsim.studies.paper.entry import Entry
from edsim.studies.paper.facts import launch_counts, split_shares, stays_before_eligibility
from edsim.tables.paper import Panel

LABEL = "sec:data"


def panels(book: Book) -> list[Panel]:
    main = book.cohort("main").manifest
    test = launch_counts(book)
    cells = [
        plain(LABEL, "MIMIC", "Stays", main.n_stays),
        plain(LABEL, "MIMIC", "Patients", main.n_subjects),
        plain(LABEL, "MIMIC", "Events in millions", (main.n_events + main.n_stays) / 1e6),
        plain(LABEL, "MIMIC", "Test stays", test.stays, test.note),
        plain(LABEL, "MIMIC", "Test prefixes", test.launches, test.note),
    ]
    names = {"Train": "train", "Validation": "val", "Test": "test"}
    shares, why = split_shares(book)
    split = [
        plain(LABEL, "Split", column, shares[part], why if shares[part] is None else "")
        for column, part in names.items()
    ]
    return [
        Panel(title="Main cohort", cells=tuple(cells)),
        Panel(title="Split, percent of subjects", cells=tuple(split)),
        _external(book),
    ]


def _external(book: Book) -> Panel:
    title = "External cohort"
    found, why = book.tried(lambda: book.cohort("external"))
    if found is None:
        return Panel(title=title, missing=why)
    manifest = found.manifest
    first, unsaid = stays_before_eligibility(found)
    cells = (
        plain(LABEL, "MC-MED", "Stays kept", manifest.n_stays),
        plain(LABEL, "MC-MED", "Stays before eligibility", first, unsaid),
        plain(LABEL, "MC-MED", "Patients", manifest.n_subjects),
    )
    return Panel(title=title, cells=cells)


ENTRY = Entry(
    label=LABEL,
    title="Data: the cohorts",
    panels=panels,
    beside=("external",),
    notes=(
        "Events are counted with the END of each stay, as the paper counts them.",
        "The split is by keyed hash and not the paper's own: test stays and prefixes differ by "
        "about one percent.",
    ),
)
