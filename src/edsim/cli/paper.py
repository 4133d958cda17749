"""`edsim paper`: every table and figure of the paper from one command."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from edsim.cli.console import console
from edsim.cli.progress import shown_progress

if TYPE_CHECKING:
    from rich.table import Table

    from edsim.progress import Progress
    from edsim.studies.engine import Force
    from edsim.studies.paper.entry import Entry
    from edsim.studies.paper.scales import Scale
    from edsim.studies.paper.writing_out import Written
    from edsim.studies.results import Results

Cohorts = tuple[Path, Path | None, Path | None]
"""Of the main cohort, the temporal and the external one."""


def paper(
    *labels: str,
    cohort: Path | None = None,
    temporal: Path | None = None,
    external: Path | None = None,
    scale: str = "smoke",
    out: Path = Path("paper"),
    device: Literal["cpu", "cuda"] = "cpu",
    workers: int | None = None,
    memory: float | None = None,
    ray: str | None = None,
    dry_run: bool = False,
    list_: bool = False,
) -> None:
    """Make tables and figures of the paper again, ours beside theirs with a verdict.

    Models are trained, rolled out and scored where that has not been done yet; what is there is
    used. A table whose data cannot be had says what is missing and the command that makes it.

    Parameters
    ----------
    labels
        Labels of the paper such as tab:app-occupancy, in short occupancy, or fig:ladder; core is
        both panels of its first table. All where none is named.
    cohort
        A cohort made by `edsim cohort build`.
    temporal
        The same source with --split temporal; of a synthetic cohort it is made.
    external
        The second hospital's cohort (mcmed); beside a synthetic cohort a synthetic one is made.
    scale
        smoke: every table in minutes on two cores, small networks; laptop: a night; full: the
        paper's launches, seeds and networks.
    out
        Folder for the tables (Markdown, LaTeX, CSV), figures (SVG, PDF, PNG) and an index page.
    device
        Where networks are trained and run.
    workers
        Processes on this machine that train, roll out and score before tables are made; as many
        as the scale suggests and there are processors where it is left out.
    memory
        Most memory of these processes together, in GiB.
    ray
        Address of a Ray cluster that does this instead: see docs/cluster.md.
    dry_run
        Show how much of the work is left, and what it will cost by what like work took.
    list_
        Only show which tables there are.
    """
    from edsim.errors import BadInputError
    from edsim.lab.models import has_cuda
    from edsim.studies.engine import Force
    from edsim.studies.paper.contents import find_entries
    from edsim.studies.paper.scales import find_scale

    entries = find_entries(labels)
    chosen = find_scale(scale)
    if workers is None:
        workers = 1 if ray else min(chosen.workers, os.cpu_count() or 1)
    force = Force(workers=workers, memory_gib=memory, ray=ray)
    if device == "cuda" and ray is None and not has_cuda():
        raise BadInputError(
            "--device cuda: this machine has no CUDA device that torch can use. Leave --device "
            "out, or name a cluster that has one with --ray."
        )
    if list_:
        _show_list(entries)
        return
    if cohort is None:
        raise BadInputError("name the cohort with --cohort; `edsim cohort build` makes one.")
    cohorts = (cohort, temporal, external)
    if dry_run:
        _show_cost(entries, chosen, cohorts, workers, device)
        return
    written, index = _make(entries, chosen, cohorts, out, force, device)
    _show_summary(written)
    console.print(f"Written to {index}", markup=False, soft_wrap=True)


def _make(
    entries: Sequence[Entry],
    scale: Scale,
    cohorts: Cohorts,
    out: Path,
    force: Force,
    device: str,
) -> tuple[list[Written], Path]:
    """Every table in turn; what one has computed the next finds."""
    from edsim.lab.cohort import open_cohort
    from edsim.studies.paper.beforehand import make_beforehand
    from edsim.studies.paper.book import Book
    from edsim.studies.paper.making import make_table, what_it_is
    from edsim.studies.paper.writing_out import write_index, write_table

    restricted = any(open_cohort(path).manifest.restricted for path in cohorts if path is not None)
    n, said = len(entries), what_it_is(open_cohort(cohorts[0]), "main", scale)
    console.print(f"Tables and figures of the paper: {n}. {said}", markup=False, soft_wrap=True)
    written = []
    with shown_progress() as progress:
        results = _results(cohorts, progress)
        failed = make_beforehand(entries, results, scale, force, device=device, progress=progress)
        book = Book(results, scale, failed, device=device)
        for k, entry in enumerate(entries, start=1):
            begin = time.perf_counter()
            table = make_table(entry, book)
            written.append(write_table(table, entry, out, restricted=restricted))
            took = time.perf_counter() - begin
            progress.notice(f"{k} of {n}: {entry.label}, {entry.title} ({took:.0f} s)")
    return written, write_index(written, said, out, restricted=restricted)


def _results(cohorts: Cohorts, progress: Progress) -> Results:
    from edsim.lab.cohort import open_cohort
    from edsim.lab.related import refuse_unrelated
    from edsim.studies.results import Results

    main = open_cohort(cohorts[0])
    later, elsewhere = (None if path is None else open_cohort(path) for path in cohorts[1:])
    refuse_unrelated(main, later, elsewhere)
    return Results(main, temporal=later, external=elsewhere, progress=progress)


def _show_cost(
    entries: Sequence[Entry], scale: Scale, cohorts: Cohorts, workers: int, device: str
) -> None:
    """By kind of work; cohorts that stand beside a synthetic one are made for that."""
    from edsim.cli.show_study import show_cost
    from edsim.studies.cost import cost_of_graph
    from edsim.studies.paper.beforehand import pieces_of

    with shown_progress() as progress:
        pieces = pieces_of(entries, _results(cohorts, progress), scale, device)
    title = f"The paper, scale {scale.name}"
    show_cost(console, cost_of_graph(title, pieces.n_runs, pieces.graph, by_name=False), workers)


def _show_list(entries: Sequence[Entry]) -> None:
    from edsim.studies.paper.contents import short

    table = _table("Tables and figures of the paper", "label", "in short", "what it is")
    for entry in entries:
        table.add_row(entry.label, short(entry.label), entry.title)
    console.print(table)


def _table(title: str, *columns: str) -> Table:
    from rich.table import Table

    table = Table(title=f"\n[bold]{title}[/]", title_justify="left", title_style="", box=None)
    for name in columns:
        table.add_column(name, no_wrap=name == "label", header_style="dim")
    return table


def _show_summary(written: Sequence[Written]) -> None:
    from rich.markup import escape

    from edsim.tables.paper_agreement import AGREEMENTS

    table = _table("Ours beside the paper", "label", "title", *AGREEMENTS, "missing")
    for one in written:
        counts = [str(one.agreements[name] or "") for name in AGREEMENTS]
        table.add_row(escape(one.label), escape(one.title), *counts, str(len(one.missing) or ""))
    console.print(table)
    reasons = dict.fromkeys(reason for one in written for reason in one.missing)
    for reason in list(reasons)[:8]:
        console.print(f"[dim]missing: {escape(reason)}[/]", soft_wrap=True)
