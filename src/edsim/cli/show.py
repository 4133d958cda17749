"""What `edsim cohort show`, `build`, `check` and `launches` print."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from edsim.bench.measure import Measurement
from edsim.cohort.manifest import Manifest
from edsim.encoding.caught import read_caught
from edsim.lab.check import Finding
from edsim.lab.cohort import Cohort
from edsim.privacy import (
    SMALLEST_CELL,
    Cell,
    hidden_parts,
    without_small_cells,
    without_small_counts,
    without_small_steps,
)
from edsim.sources import SOURCES
from edsim.tables.extract import Step
from edsim.tables.published import PublishedRow

if TYPE_CHECKING:
    import polars as pl

_COUNTS = ("events", "stays", "subjects")
_MOST_OTHERS = 40


def show_manifest(console: Console, manifest: Manifest) -> None:
    """The cohort in short: what it is, who was left out, how it is divided."""
    console.print(
        f"[bold]{escape(manifest.cohort_id)}[/]  {manifest.n_stays:,} stays, "
        f"{manifest.n_subjects:,} subjects, {manifest.n_events:,} events "
        f"({manifest.n_events / manifest.n_stays:.2f} a stay), cap {manifest.cap}"
    )
    console.print(f"source        {escape(manifest.source)}: {escape(manifest.source_version)}")
    console.print(f"content hash  {manifest.content_hash}")
    console.print(f"use           {_use(manifest)}")
    for notice in manifest.notices:
        said = without_small_counts(notice) if manifest.restricted else notice
        console.print(f"[yellow]note[/]          {escape(said)}")
    console.print(_attrition(manifest))
    console.print(_split(manifest))


def show_cohort(console: Console, cohort: Cohort, vocabulary: str | None = None) -> None:
    """All of a cohort that may be shown."""
    manifest = cohort.manifest
    show_manifest(console, manifest)
    show_launches(console, manifest)
    console.print(_vocabularies(cohort))
    if vocabulary is None:
        first = cohort.vocabulary_name()
        console.print(f"[dim]What each rule caught: add --vocabulary {escape(first)}[/]")
    else:
        name = cohort.vocabulary_name(vocabulary)
        console.print(_rules(cohort, name))
        caught = read_caught(cohort.encoded(name)).other
        for title, kinds in (
            ("What no written rule fits", caught.filter(~caught["written"])),
            (
                'What written rules file under a token named "other"',
                caught.filter(caught["written"]),
            ),
        ):
            if len(kinds):
                console.print(_others(title, kinds, manifest))
    published = SOURCES[manifest.source].published if manifest.source in SOURCES else None
    if published is not None:
        rows = published(cohort.stays().lazy(), cohort.scan_events())
        console.print(_published(rows, restricted=manifest.restricted))


def show_launches(console: Console, manifest: Manifest) -> None:
    """The launch sets and how many launches each has."""
    table = table_of("Launch sets (points from which a model continues)", "launch set", "launches")
    table.add_column("")
    hidden = hidden_parts(manifest.split["parts"], restricted=manifest.restricted)
    for name, said in manifest.launches.items():
        n = said.get("n")
        if n is None:
            table.add_row(escape(name), "-", escape(f"absent: {said['absent']}"))
        elif ("val" if name.startswith("val-") else "test") in hidden:
            table.add_row(escape(name), "[dim]few[/]", "")
        else:
            wanted = said.get("wanted", n)
            short = f"all there are; {wanted:,} were wanted" if n < wanted else ""
            table.add_row(escape(name), f"{n:,}", short)
    console.print(table)


def show_checks(console: Console, findings: Sequence[Finding]) -> None:
    """One line a check; what is wrong stands beside it."""
    table = Table(box=None, title_justify="left", pad_edge=False)
    table.add_column("check")
    table.add_column("")
    table.add_column("", overflow="fold")
    for finding in findings:
        verdict = "[green]pass[/]" if finding.passed else "[bold red]FAIL[/]"
        table.add_row(escape(finding.name), verdict, escape(finding.detail))
    console.print(table)
    failed = sum(not finding.passed for finding in findings)
    console.print(
        f"{failed} of {len(findings)} checks failed: build the cohort again."
        if failed
        else f"All {len(findings)} checks passed."
    )


def _use(manifest: Manifest) -> str:
    if manifest.restricted:
        return (
            "restricted: files for their owner alone, no cell under ten subjects shown "
            "(--open-data lifts this for open data)"
        )
    if manifest.open_data is not None:
        return f"open data, said the builder: {escape(manifest.open_data)}"
    return "open: no row comes from a patient"


def _attrition(manifest: Manifest) -> Table:
    steps: Sequence[Step] = manifest.attrition
    if manifest.restricted:
        steps = without_small_steps(steps)
    table = table_of("Who is in", "rule", "stays", "left out", "subjects", "events", "left out")
    before: Step | None = None
    for step in steps:
        out_stays = before.n_stays - step.n_stays if before else 0
        out_events = before.n_events - step.n_events if before else 0
        rule = escape(step.rule) + (f" [dim]({escape(step.note)})[/]" if step.note else "")
        rule = without_small_counts(rule) if manifest.restricted else rule
        table.add_row(
            rule,
            f"{step.n_stays:,}",
            f"{out_stays:,}" if out_stays else "",
            f"{step.n_subjects:,}",
            f"{step.n_events:,}",
            f"{out_events:,}" if out_events else "",
        )
        before = step
    return table


def _split(manifest: Manifest) -> Table:
    table = table_of(
        f"Split: {manifest.split['rule']}", "part", "stays", "share", "subjects", "events"
    )
    hidden = hidden_parts(manifest.split["parts"], restricted=manifest.restricted)
    for part, counts in manifest.split["parts"].items():
        if part in hidden:
            table.add_row(part, *["[dim]few[/]"] * 4)
            continue
        table.add_row(
            part,
            f"{counts['stays']:,}",
            f"{counts['stays'] / manifest.n_stays:.1%}",
            f"{counts['subjects']:,}",
            f"{counts['events']:,}",
        )
    return table


def _vocabularies(cohort: Cohort) -> Table:
    table = table_of("Vocabularies", "name", "tokens", "discharges", "events of no written rule")
    for name, said in cohort.manifest.vocabularies.items():
        table.add_row(
            escape(name),
            f"{said['n_tokens']}",
            f"{len(said['discharges'])}",
            _share_other(cohort, name),
        )
    return table


def _share_other(cohort: Cohort, name: str) -> str:
    """How much no written rule fits; of restricted data only where ten subjects are behind it."""
    share = cohort.manifest.vocabularies[name]["share_other"]
    rules = read_caught(cohort.encoded(name)).rules
    n_subjects = rules.filter(~rules["written"])["n_subjects"].to_numpy().max(initial=0)
    if cohort.manifest.restricted and share > 0 and n_subjects < SMALLEST_CELL:
        return "[dim]few[/]"
    return f"{share:.2%}"


def _rules(cohort: Cohort, vocabulary: str) -> Table:
    """What each rule caught; of restricted data no small cell."""
    caught = read_caught(cohort.encoded(vocabulary))
    table = table_of(f"What each rule of {vocabulary} caught", "token", "rule", *_COUNTS)
    rows = caught.rules.filter(caught.rules["n_rows"] > 0).rows(named=True)
    cells = [Cell(str(i), row["n_rows"], row["n_subjects"]) for i, row in enumerate(rows)]
    shown, hidden = _visible(cells, cohort.manifest)
    for cell in sorted(shown, key=lambda cell: int(cell.name)):
        row = rows[int(cell.name)]
        kind = "" if row["written"] else "catch-all"
        table.add_row(escape(row["token"]), f"{row['rule']} {kind}".strip(), *_counts(row))
    if hidden:
        table.add_row(f"[dim]{len(hidden)} rules of few subjects[/]", "", "", "", "")
    return table


def _others(title: str, kinds: pl.DataFrame, manifest: Manifest) -> Table:
    """The names of what was filed under "other", by count."""
    table = table_of(title, "activity", "detail", "flag", "token", *_COUNTS)
    for column in table.columns[1:4]:
        column.justify, column.no_wrap, column.overflow = "left", False, "fold"
    rows = kinds.rows(named=True)
    cells = [Cell(str(i), row["n_rows"], row["n_subjects"]) for i, row in enumerate(rows)]
    shown, hidden = _visible(cells, manifest)
    shown.sort(key=lambda cell: -cell.n_rows)
    for cell in shown[:_MOST_OTHERS]:
        row = rows[int(cell.name)]
        texts = [escape(row[name] or "-") for name in ("activity", "detail", "flag", "token")]
        table.add_row(*texts, *_counts(row))
    rest = shown[_MOST_OTHERS:]
    if rest:
        n_rows = sum(cell.n_rows for cell in rest)
        table.add_row(f"[dim]{len(rest):,} further kinds[/]", "", "", "", f"{n_rows:,}", "", "")
    if hidden:
        table.add_row(f"[dim]{len(hidden):,} kinds of few subjects[/]", *[""] * 6)
    return table


def _visible(cells: list[Cell], manifest: Manifest) -> tuple[list[Cell], list[Cell]]:
    return without_small_cells(cells) if manifest.restricted else (cells, [])


def _counts(row: Mapping[str, int]) -> list[str]:
    return [f"{row[name]:,}" for name in ("n_rows", "n_stays", "n_subjects")]


def show_measurements(
    console: Console, rows: Sequence[Measurement], counted: str = "stays"
) -> None:
    """The lines of a benchmark, with the ratio of the plain line to ours per event."""
    table = table_of(
        "Speed and memory",
        "work",
        counted,
        "events",
        "seconds",
        "cpu s",
        "s per M events",
        "peak GiB",
        "file MB",
    )
    for row in rows:
        table.add_row(
            escape(row.work),
            f"{row.n_stays:,}",
            f"{row.n_events:,}",
            _seconds(row.seconds),
            _seconds(row.cpu_seconds),
            f"{row.seconds_a_million_events:.2f}",
            f"{row.peak_gib:.2f}",
            "" if row.file_mb is None else f"{row.file_mb:.2f}",
        )
    console.print(table)
    for plain in (row for row in rows if row.beside is not None):
        ours = next(row for row in rows if row.work == plain.beside)
        ratio = plain.seconds_a_million_events / ours.seconds_a_million_events
        own = _processor_ratio(plain, ours)
        console.print(f"{plain.work}: {ratio:.1f} times the time per event of '{ours.work}'{own}.")


def _processor_ratio(plain: Measurement, ours: Measurement) -> str:
    """What two lines can be compared by on a machine that others use too."""
    if not plain.cpu_seconds or not ours.cpu_seconds:
        return ""
    ratio = plain.cpu_seconds * ours.n_events / (ours.cpu_seconds * plain.n_events)
    return f", {ratio:.1f} times the processor time"


def _seconds(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.1f}" if value >= 1 else f"{value:.4f}"


def _published(rows: Sequence[PublishedRow], *, restricted: bool) -> Table:
    table = table_of("Published figures beside ours", "quantity", "published", "ours", "tolerance")
    table.add_column("")
    for row in rows:
        if restricted and row.n_behind < SMALLEST_CELL:
            table.add_row(escape(row.quantity), _figure(row.published), "[dim]few[/]", "", "")
            continue
        within = row.within
        mark = "" if within is None else "ok" if within else "[bold yellow]outside[/]"
        if row.known_miss:
            mark = "ok (was a known miss)" if within else "[yellow]known miss[/]"
        tolerance = "" if row.tolerance is None else f"±{_figure(row.tolerance)}"
        table.add_row(
            escape(row.quantity), _figure(row.published), _figure(row.ours), tolerance, mark
        )
    return table


def _figure(value: float) -> str:
    return f"{value:.4g}" if abs(value) < 1000 else f"{value:,.0f}"


def table_of(title: str, first: str, *numbers: str) -> Table:
    """An empty table in the style of all: a title, a first column of words, columns of numbers."""
    table = Table(
        title=f"\n[bold]{escape(title)}[/]",
        title_justify="left",
        title_style="",
        min_width=len(title),
        box=None,
        pad_edge=False,
        header_style="dim",
    )
    table.add_column(first, overflow="fold")
    for name in numbers:
        table.add_column(name, justify="right", no_wrap=True)
    return table
